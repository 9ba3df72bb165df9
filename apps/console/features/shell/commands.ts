import { type CalibrationOptions, type Ladder, optionFlags } from "@helm/contracts";

/** The command line's form of what a page shows and does; one place, so that pages and program stay in step. */
const helm = (...words: string[]) => `npx lifeboat helm ${words.join(" ")}`;

export const command = {
  login: (url: string) => `npx lifeboat login ${url}`,
  pairs: helm("pair list"),
  pairStorage: helm("pair storage"),
  registerPair: (source: string, target: string) => helm("pair register", source, target),
  calibrate: (
    source: string,
    target: string,
    {
      options = {},
      ...asked
    }: {
      corpus?: string;
      k?: number;
      method?: string;
      device?: string;
      room?: string;
      options?: CalibrationOptions;
    } = {},
  ) =>
    helm(
      "calibrate --source-model",
      source,
      "--target-model",
      target,
      `--corpus ${asked.corpus ?? "bundled"} --k ${asked.k ?? 4}`,
      ...(asked.method && asked.method !== "default" ? [`--method ${asked.method}`] : []),
      ...(asked.device ? [`--device ${asked.device}`] : []),
      ...(asked.room === "drain" ? ["--drain"] : []),
      ...optionFlags(options),
    ),
  compare: (first: string, ...others: string[]) => helm("calibration compare", first, ...others),
  pair: (source: string, target: string) => helm("pair show", source, target),
  mappers: (source: string, target: string) => helm(`mapper list --pair ${source}:${target}`),
  drift: (source: string, target: string, sha256: string, reverseSha256: string) =>
    helm(
      "drift --source-model",
      source,
      "--target-model",
      target,
      "--mapper",
      sha256,
      "--reverse-mapper",
      reverseSha256,
      "--record",
    ),
  judge: (sha256: string) => helm("judge show", sha256.slice(0, 12), "--escalation-rate 0.2"),
  fitJudge: (source: string, target: string, development: boolean) =>
    helm(
      "judge fit --source-model",
      source,
      "--target-model",
      target,
      ...(development ? ["--device cpu"] : []),
      "--record",
    ),
  /** Without a mapper there is nothing to evaluate, and no command. */
  evaluate: (source: string, target: string, sha256: string, development: boolean) =>
    helm(
      "evaluate --source-model",
      source,
      "--target-model",
      target,
      "--mapper",
      sha256,
      ...(development ? ["--device cpu"] : []),
      "--record",
    ),
  calibrations: helm("calibration list"),
  calibration: (id: string) => helm("calibration show", id, "--wait"),
  calibrationLogs: (id: string) => helm("calibration logs", id, "--follow"),
  tenants: helm("tenant list"),
  createTenant: (name: string) => helm("tenant create", name),
  switchTenant: (name: string, enable: boolean) => helm("tenant", enable ? "enable" : "disable", name),
  createKey: (tenant: string) => helm("key create", tenant, "NAME"),
  ladder: (targets?: string) =>
    helm("ladder --from 1 --to 64", ...(targets ? ["--targets", targets] : []), "--record"),
  /** What asks the same again. A file of prompts is known by its digest alone, so it stays with who ran it. */
  ladderAgain: ({ gateway, model, load, rungs }: Ladder, targets: string) =>
    helm(
      "ladder --gateway",
      gateway,
      "--model",
      model,
      "--from",
      String(rungs.at(0)?.clients ?? 1),
      "--to",
      String(rungs.at(-1)?.clients ?? 1),
      "--max-tokens",
      String(load.max_tokens),
      ...(targets ? ["--targets", targets] : []),
      "--record",
    ),
  people: helm("person list"),
  createPerson: (email: string, name: string, role: string) =>
    helm("person create", email, "--name", name, "--role", role),
  setRole: (email: string, role: string) => helm("person set-role", email, role),
  whoami: "npx lifeboat whoami",
  createToken: (name: string) => helm("token create", name),
  nodes: helm("node list"),
  node: (name: string) => helm("node show", name),
  drain: (name: string) => helm("node drain", name, "--wait"),
  undrain: (name: string) => helm("node undrain", name, "--wait"),
  canary: (name: string) => helm("node canary", name, "--wait"),
  revokeNode: (name: string) => helm("node revoke", name),
  workers: helm("worker list"),
  place: (source: string, target: string, nodes = "NODE") =>
    helm("pair place", source, target, "--node", nodes),
  unplace: (source: string, target: string) => helm("pair unplace", source, target),
  snapshots: helm("snapshot list"),
  snapshot: helm("snapshot show"),
  diffSnapshots: (from: number, to: number | null) =>
    helm("snapshot diff", String(from), ...(to === null ? [] : [String(to)])),
  rollback: (generation: number) => helm("snapshot rollback", String(generation), "--wait"),
  release: helm("snapshot release --wait"),
  doctor: helm("doctor"),
  audit: (flags = "") => `${helm("audit list")}${flags}`,
  traffic: (hours: number) => helm(`traffic summary --hours ${hours}`),
  trafficRequests: (hours: number) => helm(`traffic requests --hours ${hours}`),
  traceText: (tenant: string) => helm("tenant trace-text", tenant, "24"),
  trace: (id: string) => helm("traffic trace", id),
  ask: (route: string, node: string) => helm("playground ask", "PROMPT", "--route", route, "--node", node),
  settings: helm("setting get"),
  kill: helm("setting kill"),
  routes: helm("route list"),
  createRoute: (name: string) => helm("route create", name, "--pair SOURCE:TARGET"),
  setTenant: (name: string) => helm("tenant set", name, "streaming buffer"),
  keys: (tenant: string) => helm("key list", tenant),
  rotateKey: (prefix: string) => helm("key rotate", prefix),
  showTenant: (name: string) => helm("tenant show", name),
  switchHelm: (on: boolean) => helm("setting", on ? "enable" : "disable"),
};
