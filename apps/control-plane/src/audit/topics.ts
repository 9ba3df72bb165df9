import type { ChangedHint } from "@helm/contracts";

type Topic = ChangedHint["topic"];

const TOPICS: Record<string, Topic[]> = {
  user: [],
  setting: ["settings"],
  route: ["routes"],
  pair: ["pairs"],
  registration: ["pairs"],
  inspection: [],
  calibration: ["calibrations", "pairs"],
  mapper: ["pairs", "calibrations"],
  tenant: ["tenants"],
  key: ["tenants"],
  worker: ["workers"],
  node: ["nodes"],
  join_token: [],
  snapshot: ["snapshots"],
};

export type AuditEntity = keyof typeof TOPICS & string;

/** What an open page should read again after these entities changed. */
export function hintTopics(entities: Set<string>): Topic[] {
  if (entities.size === 0) return [];
  return [...new Set<Topic>(["audit", ...[...entities].flatMap((entity) => TOPICS[entity] ?? [])])];
}
