import type { ChangedHint } from "@helm/contracts";

type Topic = ChangedHint["topic"];

const TOPICS: Record<string, Topic[]> = {
  audit: ["audit"],
  user: ["people"],
  person: ["people"],
  invitation: ["people"],
  token: ["people"],
  session: ["people"],
  setting: ["settings"],
  route: ["routes"],
  pair: ["pairs", "nodes"],
  registration: ["pairs"],
  inspection: [],
  calibration: ["calibrations", "pairs"],
  mapper: ["pairs", "calibrations"],
  evaluation: ["pairs"],
  ladder: ["ladders"],
  drift: ["pairs"],
  judge: ["pairs", "routes"],
  tenant: ["tenants"],
  key: ["tenants"],
  worker: ["workers"],
  node: ["nodes"],
  join_token: ["workers", "nodes"],
  snapshot: ["snapshots"],
  trace: [],
  playground: [],
};

/** What an open page should read again after these entities changed. */
export function hintTopics(entities: Set<string>): Topic[] {
  return [...new Set([...entities].flatMap((entity) => TOPICS[entity] ?? []))];
}
