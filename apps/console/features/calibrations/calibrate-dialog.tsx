"use client";

import { type CalibrationOptions, type CalibrationRoom, METHODS, MethodChoice } from "@helm/contracts";
import { zodResolver } from "@hookform/resolvers/zod";
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";
import { useForm } from "react-hook-form";
import { problemOf } from "../../api/errors";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { SelectField, TextField } from "../../ui/field";
import { useBlocked } from "../session/use-session";
import { useOpenInAddress } from "../shell/open-in-address";
import { askedOf, CalibrateForm, optionsOf } from "./calibrate-form";
import { corpusHint } from "./corpus-hint";
import { pageWords } from "./failure-words";
import { type Device, devicesOf } from "./offered-devices";
import { RoomChoice } from "./room-choice";
import { unservedRoutes } from "./room-words";
import { useStartCalibration } from "./use-start-calibration";

export type Defaults = {
  method?: string;
  k?: number;
  corpus?: string;
  device?: Device;
  room?: CalibrationRoom;
  options?: CalibrationOptions;
};

/** Calibrate, with what it will do said before it is done. Works while Helm is off. */
export function Calibrate({
  pairId,
  pairName,
  again,
  defaults,
  size,
  label,
  inAddress,
  primary,
}: {
  pairId: string;
  pairName: string;
  again: boolean;
  /** Whether it is the next thing to do; by default where the pair was never measured. */
  primary?: boolean;
  defaults?: Defaults;
  size?: "small" | "normal";
  label?: string;
  /** Its name in the address, where a link may open it. */
  inAddress?: string;
}) {
  const [open, setOpen] = useOpenInAddress(inAddress);
  const blocked = useBlocked("operator");
  const text = label ?? (again ? "Calibrate again" : "Calibrate");
  return (
    <>
      <Button
        kind={(primary ?? !again) ? "primary" : "plain"}
        size={size}
        blockedBecause={blocked}
        aria-label={`${text}: ${pairName}`}
        onClick={() => setOpen(true)}
      >
        {text}
      </Button>
      <Dialog
        open={open && !blocked}
        onOpenChange={setOpen}
        title={`Calibrate ${pairName}`}
        description={
          again
            ? "Fits a new mapper and scores it on the same probes. The active mapper goes on serving meanwhile; a score below the gate does not take it away."
            : "Fits a mapper and scores it on probes it never saw. The score decides whether the pair may be used."
        }
      >
        <Questions pairId={pairId} defaults={defaults} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function Questions({
  pairId,
  defaults,
  onDone,
}: {
  pairId: string;
  defaults?: Defaults;
  onDone: () => void;
}) {
  const trpc = useTRPC();
  const asked = useQuery(trpc.worker.list.queryOptions());
  const workers = asked.data;
  const connected = workers?.filter((worker) => worker.connected) ?? [];
  const devices = devicesOf(connected);
  const corpora = [...new Set(["bundled", ...connected.flatMap((worker) => worker.corpora)])];
  const start = useStartCalibration({ open: true });
  const form = useForm({
    resolver: zodResolver(CalibrateForm),
    defaultValues: {
      method: MethodChoice.catch("default").parse(defaults?.method),
      k: defaults?.k ?? 4,
      corpus: defaults?.corpus ?? "bundled",
      device: defaults?.device ?? devices[0] ?? ("auto" as Device),
      room: defaults?.room ?? ("beside" as CalibrationRoom),
      acceptNoServing: false,
      ...askedOf(defaults?.options),
    },
    // The workers' answer may come after the form is drawn; what the person chose stays.
    values: undefined,
  });
  const offered = (wanted: Device) => (devices.includes(wanted) ? wanted : (devices[0] ?? wanted));
  const room = form.watch("room");
  const device = offered(form.watch("device"));
  const reach = useQuery(
    trpc.calibration.drainReach.queryOptions({ pairId, device }, { enabled: room === "drain" }),
  );
  const unserved = room === "drain" && reach.data ? unservedRoutes(reach.data) : [];
  const submit = form.handleSubmit(
    async ({ method, k, corpus, device: wanted, acceptNoServing, ...rest }) => {
      const device = offered(wanted);
      const options = optionsOf(rest);
      // The run's page follows: closing this dialog first would change the address under the way there.
      await start
        .mutateAsync({ pairId, method, k, corpus, device, room: rest.room, acceptNoServing, options })
        .catch(() => undefined);
    },
  );
  const { errors } = form.formState;
  const { sequences, seq_len: seqLen, seed } = defaults?.options ?? {};
  const more =
    [sequences, seqLen, seed].some((value) => value !== undefined) ||
    Boolean(errors.sequences ?? errors.seqLen ?? errors.seed);
  const method = form.watch("method");
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Method"
          hint={method === "default" ? "The worker takes what measures best." : sentence(METHODS[method])}
          {...form.register("method")}
        >
          <option value="default">default</option>
          {Object.keys(METHODS).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </SelectField>
        <TextField
          label="k"
          type="number"
          inputMode="numeric"
          hint="Source layers read for each target layer."
          error={errors.k?.message}
          {...form.register("k")}
        />
        <div>
          <TextField
            label="Corpus"
            list={`${pairId}-corpora`}
            autoComplete="off"
            spellCheck={false}
            hint={corpusHint(form.watch("corpus"), corpora)}
            error={errors.corpus?.message}
            {...form.register("corpus")}
          />
          <datalist id={`${pairId}-corpora`}>
            {corpora.map((corpus) => (
              <option key={corpus} value={corpus} />
            ))}
          </datalist>
        </div>
        <TextField
          label="Column"
          autoComplete="off"
          spellCheck={false}
          placeholder="text, else messages"
          hint="Which column of a .jsonl or .parquet corpus holds its texts."
          error={errors.column?.message}
          {...form.register("column")}
        />
        <details className="sm:col-span-2 sm:order-first">
          <summary className="min-h-6 cursor-pointer font-medium">What each method is</summary>
          <dl className="mt-2 grid gap-x-4 gap-y-1 text-[0.8125rem] sm:grid-cols-[auto_1fr]">
            {Object.entries(METHODS).map(([name, words]) => (
              <Fragment key={name}>
                <dt className="font-mono">{name}</dt>
                <dd className="text-ink-soft">{sentence(words)}</dd>
              </Fragment>
            ))}
          </dl>
        </details>
        <SelectField
          label="Device"
          hint={
            devices.length === 1 && devices[0] === "cpu"
              ? "The connected workers offer the CPU alone."
              : undefined
          }
          {...form.register("device")}
        >
          {devices.map((device) => (
            <option key={device} value={device}>
              {device === "cpu" ? "cpu (development)" : device}
            </option>
          ))}
        </SelectField>
      </div>
      <details open={more || undefined}>
        <summary className="min-h-6 cursor-pointer font-medium">How much of it, and the seed</summary>
        <div className="mt-3 grid gap-4 sm:grid-cols-3">
          {(
            [
              ["sequences", "Sequences", "Texts fitted."],
              ["seqLen", "Sequence length", "Tokens at most."],
              ["seed", "Seed", "Of the rows drawn."],
            ] as const
          ).map(([name, label, hint]) => (
            <TextField
              key={name}
              label={label}
              inputMode="numeric"
              autoComplete="off"
              placeholder={name === "seed" ? "0" : "the corpus's own"}
              hint={hint}
              error={errors[name]?.message}
              {...form.register(name)}
            />
          ))}
        </div>
      </details>
      <div className="flex items-start gap-2.5">
        <input
          id={`${pairId}-long`}
          type="checkbox"
          className="mt-0.5 size-5 accent-accent"
          aria-describedby={`${pairId}-long-hint`}
          {...form.register("long")}
        />
        <div>
          <label htmlFor={`${pairId}-long`} className="font-medium">
            Score at 32 times the fitted length too
          </label>
          <p id={`${pairId}-long-hint`} className="text-[0.8125rem] text-ink-soft">
            4 times is measured anyway, as far as corpus and context reach. Takes longer; the gate never sees
            these rows.
          </p>
        </div>
      </div>
      <RoomChoice
        id={`${pairId}-room`}
        room={room}
        field={form.register("room")}
        accept={form.register("acceptNoServing")}
        reach={reach.data ?? null}
      />
      {workers && connected.length === 0 ? (
        <p className="rounded-lg bg-warn-wash px-3 py-2 text-warn-ink">
          No worker is connected: the run will wait in the queue until one is.
        </p>
      ) : null}
      {start.error ? (
        <p role="alert" className="rounded-lg bg-bad-wash px-3 py-2 text-bad-ink">
          {pageWords(problemOf(start.error).message)}
        </p>
      ) : null}
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button
          type="submit"
          kind="primary"
          busy={start.isPending || start.isSuccess}
          blockedBecause={
            asked.isPending
              ? "The workers are asked which devices they have."
              : unserved.length > 0 && !form.watch("acceptNoServing")
                ? `Say first that no node is to serve ${unserved.join(" and ")} meanwhile.`
                : null
          }
        >
          Start the calibration
        </Button>
      </div>
    </form>
  );
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
