import { ChangedHint } from "@helm/contracts";
import type { QueryClient } from "@tanstack/react-query";
import { io, type Socket } from "socket.io-client";

export type { Connection } from "./quiet";

type Topic = ChangedHint["topic"];

/** Which tRPC routers a hint makes stale. */
const STALE: Record<Topic, string[]> = {
  pairs: ["pair", "overview", "mapper"],
  calibrations: ["calibration", "pair", "overview", "mapper"],
  nodes: ["node", "overview", "snapshot"],
  workers: ["worker", "overview", "model"],
  tenants: ["tenant", "key", "overview"],
  settings: ["setting", "overview", "tenant", "pair"],
  snapshots: ["snapshot", "overview", "node"],
  routes: ["route", "overview", "tenant"],
  ladders: ["ladder"],
  people: ["person", "invitation", "token", "account", "session"],
  audit: ["audit"],
};

export function connectConsole(): Socket {
  return io("/console", {
    path: "/socket.io",
    addTrailingSlash: false,
    withCredentials: true,
    autoConnect: false,
    reconnectionDelay: 500,
    reconnectionDelayMax: 5_000,
  });
}

/** The rows are the truth: a hint only makes what is on screen be asked for again. */
export function invalidateOnHints(socket: Socket, client: QueryClient): () => void {
  const onChanged = (payload: unknown) => {
    const hint = ChangedHint.safeParse(payload);
    if (!hint.success) return;
    const routers = new Set(STALE[hint.data.topic]);
    void client.invalidateQueries({ predicate: ({ queryKey }) => routers.has(routerOf(queryKey)) });
  };
  socket.on("changed", onChanged);
  return () => void socket.off("changed", onChanged);
}

/** tRPC's keys begin with the path as a list: [["pair", "list"], {...}]. */
function routerOf(queryKey: readonly unknown[]): string {
  const path = queryKey[0];
  return Array.isArray(path) && typeof path[0] === "string" ? path[0] : "";
}
