"use client";

import { type ReactNode, useState } from "react";
import { tellProblem, tellStored } from "../../api/tell";
import { type Conflict, conflictOf, type FieldWords } from "./conflict";
import { ConflictDialog } from "./conflict-dialog";

export interface ToggleOptions<Row extends { revision: number }> {
  /** "the settings", for sentences about it. */
  what: string;
  words: FieldWords;
  isOn: (row: Row) => boolean;
  store: (on: boolean, revision: number) => Promise<Row>;
  /** Shows the new state at once; what it returns puts back what was on screen. */
  show: (on: boolean) => () => void;
  /** The row as the server has it, after whichever way it went. */
  settle: (row: Row | null) => void;
  stored: (row: Row) => { title: string; detail: string };
  failed: string;
}

/**
 * A switch that shows its new state at once, goes back on an error, and says what was stored from the stored row. Where
 * somebody else was faster it asks, or says that they did just that already.
 */
export function useToggle<Row extends { revision: number }>(
  options: ToggleOptions<Row>,
): {
  change: (on: boolean, revision: number) => Promise<void>;
  pending: boolean;
  dialog: ReactNode;
} {
  const [pending, setPending] = useState(false);
  const [clash, setClash] = useState<{ conflict: Conflict<Row>; wanted: boolean } | null>(null);

  const change = async (on: boolean, revision: number): Promise<void> => {
    const back = options.show(on);
    setPending(true);
    try {
      const row = await options.store(on, revision);
      setClash(null);
      options.settle(row);
      const { title, detail } = options.stored(row);
      tellStored(title, detail);
    } catch (error) {
      back();
      const conflict = conflictOf<Row>(error);
      options.settle(conflict?.current ?? null);
      if (!conflict) return tellProblem(options.failed, error);
      if (options.isOn(conflict.current) === on) {
        setClash(null);
        tellStored(
          options.stored(conflict.current).title,
          `${conflict.by} did that already; it stands as revision ${conflict.current.revision}.`,
        );
      } else setClash({ conflict, wanted: on });
    } finally {
      setPending(false);
    }
  };

  const dialog = (
    <ConflictDialog
      conflict={clash?.conflict ?? null}
      what={options.what}
      words={options.words}
      busy={pending}
      onTheirs={() => setClash(null)}
      onMine={() => clash && void change(clash.wanted, clash.conflict.current.revision)}
    />
  );
  return { change, pending, dialog };
}
