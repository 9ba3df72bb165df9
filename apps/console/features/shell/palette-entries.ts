"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../../api/trpc";
import { pairTitle } from "../pairs/pair-words";
import { usePreferences } from "../preferences/provider";
import { absoluteTime } from "../preferences/time-words";
import { signOut } from "../session/sign-out";
import { useBlocked } from "../session/use-session";
import { HELM_PAGE, NAVIGATION } from "./navigation";

export type Entry = {
  id: string;
  name: string;
  /** Beside the name: a state, a group. It is searched too. */
  hint?: string;
  /** Where it leads; otherwise what it does. */
  href?: string;
  run?: () => void;
  /** Why this person may not, said when it is chosen all the same. */
  blockedBecause?: string | null;
};
export type EntryGroup = { name: string; entries: Entry[] };

/** How many runs back the palette knows by name; older ones are found on the list's own page. */
const RECENT_RUNS = 50;

/** Everything the palette can lead to or do, as it is while it stands open. */
export function usePaletteEntries(open: boolean, onHelp: () => void): EntryGroup[] {
  const trpc = useTRPC();
  const asked = { enabled: open };
  const overview = useQuery(trpc.overview.helm.queryOptions(undefined, asked)).data;
  const pairs = useQuery(trpc.pair.list.queryOptions(undefined, asked)).data ?? [];
  const runs = useQuery(trpc.calibration.list.queryOptions({ limit: RECENT_RUNS }, asked)).data?.rows ?? [];
  const tenants = useQuery(trpc.tenant.list.queryOptions(undefined, asked)).data ?? [];
  const nodes = useQuery(trpc.node.list.queryOptions(undefined, asked)).data ?? [];
  const workers = useQuery(trpc.worker.list.queryOptions(undefined, asked)).data ?? [];
  const admin = useBlocked("admin");
  const operator = useBlocked("operator");
  const { theme, setTheme, zone, setZone } = usePreferences();

  return [
    {
      name: "Pages",
      entries: NAVIGATION.flatMap((group) =>
        group.items.map(({ href, name }) => ({ id: `page:${href}`, name, hint: group.name, href })),
      ),
    },
    {
      name: "Pairs",
      entries: pairs.map((pair) => ({
        id: `pair:${pair.id}`,
        name: pairTitle(pair),
        hint: pair.status,
        href: `/pairs/${pair.id}`,
      })),
    },
    {
      name: "Calibrations",
      entries: runs.map((run) => ({
        id: `run:${run.id}`,
        name: `Run of ${run.sourceModel} to ${run.targetModel}`,
        hint: `${run.state}${run.verdict ? `, ${run.verdict}` : ""}, ${absoluteTime(run.createdAt, zone)}`,
        href: `/calibrations/${run.id}`,
      })),
    },
    {
      name: "Tenants",
      entries: tenants.map((tenant) => ({
        id: `tenant:${tenant.id}`,
        name: tenant.name,
        hint: tenant.enabled ? "enabled" : "excluded",
        href: `/tenants/${tenant.id}`,
      })),
    },
    {
      name: "Nodes and workers",
      entries: hostEntries(nodes, workers),
    },
    {
      name: "Actions",
      entries: [
        ...pairs
          .filter((pair) => !pair.calibrating)
          .map((pair) => ({
            id: `calibrate:${pair.id}`,
            name: `Calibrate ${pairTitle(pair)}`,
            href: `/pairs/${pair.id}?do=calibrate`,
            blockedBecause: operator,
          })),
        { id: "register", name: "Register a pair", href: "/pairs?do=register", blockedBecause: admin },
        ...(overview
          ? [
              {
                id: "switch",
                name: overview.enabled ? "Turn Helm off" : "Turn Helm on",
                hint: "asks first",
                href: `${HELM_PAGE}?do=switch`,
                blockedBecause: admin,
              },
            ]
          : []),
        { id: "tenant", name: "Create a tenant", href: "/tenants?do=create", blockedBecause: admin },
        { id: "person", name: "Add a person", href: "/access?do=person", blockedBecause: admin },
        { id: "worker", name: "Add a worker", href: "/nodes?do=worker", blockedBecause: admin },
        { id: "node", name: "Add a node", href: "/nodes?do=node", blockedBecause: admin },
      ],
    },
    {
      name: "This console",
      entries: [
        {
          id: "theme",
          name: theme === "dark" ? "Light theme" : "Dark theme",
          run: () => setTheme(theme === "dark" ? "light" : "dark"),
        },
        {
          id: "zone",
          name: zone === "utc" ? "Times in this browser's zone" : "Times in UTC",
          run: () => setZone(zone === "utc" ? "local" : "utc"),
        },
        { id: "account", name: "Your account", hint: "password, sessions, tokens", href: "/account" },
        { id: "help", name: "Keyboard help", hint: "Ctrl /", run: onHelp },
        { id: "sign-out", name: "Sign out", run: () => void signOut() },
      ],
    },
  ];
}

type Named = { id: string; name: string };

/** A node has a page of its own; a worker stands on the page of all. */
export function hostEntries(nodes: Named[], workers: Named[]): Entry[] {
  return [
    ...nodes.map(({ id, name }) => ({ id: `node:${id}`, name, hint: "node", href: `/nodes/${id}` })),
    ...workers.map(({ id, name }) => ({ id: `worker:${id}`, name, hint: "worker", href: "/nodes" })),
  ];
}

/** Every word asked for, in any order, somewhere in an entry's words; as they were written first. 0 is no match. */
export function scoreWords(words: string, search: string): number {
  const text = words.toLowerCase();
  const asked = search.trim().toLowerCase();
  if (!asked.split(/\s+/).every((word) => text.includes(word))) return 0;
  return text.startsWith(asked) ? 1 : text.includes(asked) ? 0.8 : 0.5;
}
