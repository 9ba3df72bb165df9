"use client";

import { CalibrationUpdate } from "@helm/contracts";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useLive } from "../../api/live";
import { type Outputs, useTRPC, useTRPCClient } from "../../api/trpc";
import { storedLine } from "./event-line";
import { type Feed, type FeedUpdate, mergeFeed, mergeRow } from "./feed";
import { isFinal, isOpen } from "./run-states";
import { addSample, type Sample } from "./time-left";

export type Run = Outputs["calibration"]["get"];
const PAGE = 1_000;

/**
 * One run, live: the row first, the backlog since the last known line, then the socket. The same again after every
 * reconnection, so a reload, a gap and a late visit all end in the same picture. Without a socket rows and backlog are
 * asked for by the clock.
 */
export function useRunFeed(id: string, { log }: { log: boolean }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const { socket, connection } = useLive();
  const [feed, setFeed] = useState<Feed | null>(null);
  const [heardAt, setHeardAt] = useState<number | null>(null);
  /** The attempt whose backlog was read to its end: before that an empty log says nothing. */
  const [readAttempt, setReadAttempt] = useState<number | null>(null);
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
    // What the row says of its last update is older than what the socket brought meanwhile, or newer: the later holds.
    setHeardAt((before) => later(before, row.lastUpdateAt?.getTime() ?? null));
  }, [run.data]);

  const live = connection === "live";
  useEffect(() => {
    if (!socket || !live) return;
    const onUpdate = (payload: unknown) => {
      const update = CalibrationUpdate.safeParse(payload);
      if (!update.success || update.data.calibration !== id) return;
      setHeardAt(Date.now());
      setFeed((before) => mergeFeed(before, update.data));
    };
    socket.on("calibration:update", onUpdate);
    socket.emit("follow", { calibration: id });
    return () => void socket.off("calibration:update", onUpdate);
  }, [socket, live, id]);

  // After following began, and while nothing can be followed with every new answer: what arrives twice is dropped.
  const attempt = feed?.attempt ?? 0;
  const asked = live ? 0 : run.dataUpdatedAt;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new answer, or another connection, asks for what came since
  useEffect(() => {
    if (!log || attempt === 0) return;
    let stopped = false;
    const readBacklog = async () => {
      let after = known.current?.attempt === attempt ? (known.current.lines.at(-1)?.seq ?? 0) : 0;
      while (!stopped) {
        const page = await client.calibration.events.query({ id, attempt, afterSeq: after, limit: PAGE });
        if (stopped) return;
        const lines = page.events.map(storedLine).filter((line) => line !== null);
        setFeed((before) =>
          before && attempt === before.attempt ? mergeFeed(before, { ...asUpdate(before), lines }) : before,
        );
        after = page.events.at(-1)?.seq ?? after;
        if (page.events.length < PAGE) return setReadAttempt(attempt);
      }
    };
    void readBacklog().catch(() => undefined);
    return () => {
      stopped = true;
    };
  }, [id, log, attempt, client, live, asked]);

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

  return { run, feed, connection, heardAt, samples, logRead: attempt === 0 || readAttempt === attempt };
}

function later(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

function updateOf(row: Run): FeedUpdate {
  const { attempt, lastSeq, state, stage, percent, rate, unit } = row;
  return { attempt, last_seq: lastSeq, state, stage, percent, rate, unit, lines: [] };
}

function asUpdate({ attempt, lastSeq, state, stage, percent, rate, unit }: Feed): FeedUpdate {
  return { attempt, last_seq: lastSeq, state, stage, percent, rate, unit, lines: [] };
}
