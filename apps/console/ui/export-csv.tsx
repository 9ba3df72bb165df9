"use client";

import { csvLine } from "@helm/contracts";
import { Download } from "lucide-react";
import { useRef, useState } from "react";
import { Button } from "./button";
import { download } from "./download";
import { type Column, csvColumns } from "./list-rows";
import { useAnnounce } from "./live-region";
import { count, plural } from "./numbers";

/**
 * The filtered set as a file: what is at hand, or page after page of a long list until its end. A second click stops it;
 * an export that did not reach the end writes no file.
 */
export function ExportCsv<Row>({
  file,
  columns,
  pages,
  onError,
}: {
  /** "helm-audit" becomes helm-audit.csv. */
  file: string;
  columns: Column<Row>[];
  pages: () => Iterable<Row[]> | AsyncIterable<Row[]>;
  onError?: (error: unknown) => void;
}) {
  const announce = useAnnounce();
  const [written, setWritten] = useState<number | null>(null);
  const stopped = useRef(false);
  const run = async () => {
    stopped.current = false;
    const fields = csvColumns(columns);
    const parts = [csvLine(fields.map(({ name }) => name))];
    let rows = 0;
    setWritten(0);
    try {
      for await (const page of pages()) {
        if (stopped.current) return announce("The export was stopped; no file was written.");
        parts.push(page.map((row) => csvLine(fields.map(({ value }) => value(row)))).join(""));
        rows += page.length;
        setWritten(rows);
      }
      download(`${file}.csv`, parts);
      announce(`${plural(rows, "row")} exported to ${file}.csv.`);
    } catch (error) {
      announce("The export did not complete; no file was written.");
      onError?.(error);
    } finally {
      setWritten(null);
    }
  };
  const busy = written !== null;
  return (
    <Button
      aria-busy={busy || undefined}
      onClick={() => {
        if (busy) stopped.current = true;
        else void run();
      }}
    >
      <Download aria-hidden="true" className="size-4" />
      {busy ? `Stop (${count(written)} rows)` : "CSV"}
    </Button>
  );
}
