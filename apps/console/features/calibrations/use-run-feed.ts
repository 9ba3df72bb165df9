"use client";

import { CalibrationUpdate } from "@helm/contracts";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useLive } from "../../api/live";
import { type Outputs, useTRPC, useTRPCClient } from "../../api/trpc";
import { eventLine } from "./event-line";
import { type Feed, type FeedUpdate, mergeFeed, mergeRow } from "./feed";
import { isFinal, isOpen } from "./run-states";
import { addSample, type Sample } from "./time-left";

export type Run = Outputs["calibration"]["get"];
const PAGE = 1_000;

/**
 * One run, live: the row first, the backlog since the last known line, then the socket. The same again after every
 * reconnection, so a reload, a gap and a late visit all end in the same picture.
 */
export function useRunFeed(id: string, { log }: { log: boolean }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const { socket, connection } = useLive();
  const [feed, setFeed] = useState<Feed | null>(null);
  const [heardAt, setHeardAt] = useState<number | null>(null);
  const samples = useRef<Sample[]>([]);
  const known = useRef<Feed | null>(null);
  known.current = feed;

  const open = feed === null || !isFinal(feed.state);
  const run = useQuery(
    trpc.calibration.get.queryOptions(
      { id },
      { refetchInterval: open ? (connection === "live" ? 15_000 : 3_000) : false },
    ),
  );

  useEffect(() => {
    const row = run.data;
    if (!row) return;
    setFeed((before) => mergeRow(before, updateOf(row)));
    setHeardAt((before) => before ?? row.lastUpdateAt?.getTime() ?? null);
  }, [run.data]);

  const attempt = feed?.attempt ?? 0;
  useEffect(() => {
    if (!socket || connection !== "live") return;
    let stopped = false;
    const onUpdate = (payload: unknown) => {
      const update = CalibrationUpdate.safeParse(payload);
      if (!update.success || update.data.calibration !== id) return;
      setHeardAt(Date.now());
      const before = known.current;
      const gap = before?.attempt === update.data.attempt && (update.data.after_seq ?? 0) > before.lastSeq;
      setFeed((feed) => mergeFeed(feed, update.data));
      if (gap && log) void readBacklog().catch(() => undefined);
    };
    const readBacklog = async () => {
      let after = known.current?.attempt === attempt ? (known.current.lines.at(-1)?.seq ?? 0) : 0;
      while (!stopped) {
        const page = await client.calibration.events.query({ id, afterSeq: after, limit: PAGE });
        const lines = page.events.map(eventLine).filter((line) => line !== null);
        if (stopped) return;
        setFeed((before) =>
          before && page.attempt === before.attempt
            ? mergeFeed(before, { ...asUpdate(before), lines })
            : before,
        );
        after = page.events.at(-1)?.seq ?? after;
        if (page.events.length < PAGE) return;
      }
    };
    socket.on("calibration:update", onUpdate);
    // Follow first and read afterwards: what arrives twice is dropped, what fell between would be lost.
    socket.emit("follow", { calibration: id }, () => {
      if (log && !stopped) void readBacklog().catch(() => undefined);
    });
    return () => {
      stopped = true;
      socket.off("calibration:update", onUpdate);
    };
  }, [socket, connection, id, log, attempt, client]);

  const percent = feed?.percent;
  const running = feed?.state === "RUNNING";
  useEffect(() => {
    if (running && percent !== undefined)
      samples.current = addSample(samples.current, { at: Date.now(), percent });
  }, [running, percent]);

  // The verdict and the score stand in the row only: ask for it when the socket said that the run has ended.
  const state = feed?.state;
  const rowState = run.data?.state;
  useEffect(() => {
    if (!state || !rowState || state === rowState || isOpen(state)) return;
    void queries.invalidateQueries({ queryKey: trpc.calibration.pathKey() });
    void queries.invalidateQueries({ queryKey: trpc.pair.pathKey() });
  }, [state, rowState, queries, trpc]);

  return { run, feed, connection, heardAt, samples };
}

function updateOf(row: Run): FeedUpdate {
  const { attempt, lastSeq, state, stage, percent, rate, unit } = row;
  return { attempt, last_seq: lastSeq, state, stage, percent, rate, unit, lines: [] };
}

function asUpdate({ attempt, lastSeq, state, stage, percent, rate, unit }: Feed): FeedUpdate {
  return { attempt, last_seq: lastSeq, state, stage, percent, rate, unit, lines: [] };
}
