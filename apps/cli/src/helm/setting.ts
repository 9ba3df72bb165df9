import type { Context } from "../context";
import { usage } from "../failure";
import { requireServer, type Server } from "../server/client";
import { table } from "../terminal/style";
import { flag, numberOf, pick, revisionOf, wholeOf } from "./given";

/** Keys as a person writes them, with what the server calls them. */
const SETTINGS = {
  gate: { field: "gate", read: numberOf },
  "gate-on": { field: "gateOn", read: (text: string) => pick(text, ["lower", "point"] as const) },
  "require-beats-pilot": { field: "requireBeatsPilot", read: flag },
  "helm-off-after": { field: "helmOffAfterS", read: numberOf },
  "refuse-keys-after": { field: "refuseKeysAfterS", read: numberOf },
  "trace-rate": { field: "traceRate", read: numberOf },
  "trace-days": { field: "traceDays", read: wholeOf },
  "trace-text-hours": { field: "traceTextHours", read: wholeOf },
} as const;

export const SETTING_KEYS = Object.keys(SETTINGS);

export async function showSetting({ config, screen }: Context): Promise<void> {
  const server = await requireServer(config);
  const [setting, overview] = await Promise.all([server.setting.get.query(), server.overview.helm.query()]);
  screen.answer({ type: "setting", setting, overview }, () => [
    ...table(
      ["setting", "value"],
      [
        ["Helm", setting.helmEnabled ? "on" : "off"],
        ["kill switch", setting.killSwitch ? "ON: everything prefills natively" : "off"],
        ["gate", `${setting.gate} on the ${setting.gateOn === "lower" ? "lower bound" : "point value"}`],
        ["require-beats-pilot", setting.requireBeatsPilot ? "yes" : "no"],
        ["helm-off-after", `${setting.helmOffAfterS} s without a word from here`],
        ["refuse-keys-after", `${setting.refuseKeysAfterS} s without a word from here`],
        ["trace-rate", `${setting.traceRate * 100} % of ordinary requests`],
        ["trace-days", `${setting.traceDays} days that traces are kept`],
        ["trace-text-hours", `${setting.traceTextHours} hours that their texts are`],
        ["pairs", `${overview.pairs.eligible} of ${overview.pairs.total} ELIGIBLE`],
        ["tenants", `${overview.tenants.enabled} of ${overview.tenants.total} enabled`],
        ["hardware", overview.hardware.sentence],
        ["revision", String(setting.revision)],
      ],
    ).slice(1),
    ...(setting.helmEnabled ? [] : [overview.turningOnWouldChange]),
  ]);
}

/** Says what it changed; without `dryRun` it is stored. */
export async function setSetting(
  { config, screen }: Context,
  key: string,
  value: string,
  options: { revision?: number; dryRun: boolean },
): Promise<void> {
  const known = SETTINGS[key as keyof typeof SETTINGS];
  if (!known) throw usage(`There is no setting ${key}. There are: ${SETTING_KEYS.join(", ")}.`);
  const change = { [known.field]: known.read(value) };
  const server = await requireServer(config);
  const preview = await server.setting.preview.query(change);
  if (options.dryRun) {
    screen.answer({ type: "preview", ...preview }, () => [
      ...preview.sentences,
      ...preview.pairs.map(({ name, sentence }) => `${name}: ${sentence}`),
    ]);
    return;
  }
  const revision = options.revision ?? (await server.setting.get.query()).revision;
  const setting = await server.setting.update.mutate({ ...change, revision });
  screen.answer({ type: "setting", setting, preview }, () => [
    `${key} is ${value} (revision ${setting.revision}).`,
    ...preview.sentences,
  ]);
}

export async function setHelm({ config, screen }: Context, enabled: boolean, given?: number): Promise<void> {
  const server = await requireServer(config);
  const revision = await revisionOf(given, () => server.setting.get.query());
  const setting = await server.setting.setHelmEnabled.mutate({ enabled, revision });
  const overview = await server.overview.helm.query();
  screen.answer({ type: "setting", setting }, () => [
    `Helm is ${setting.helmEnabled ? "on" : "off"} (revision ${setting.revision}).`,
    ...(setting.helmEnabled ? nextSteps(overview) : []),
  ]);
}

type Overview = Awaited<ReturnType<Server["overview"]["helm"]["query"]>>;

/** What still keeps requests from being routed, each with the command that ends it. */
export function nextSteps({ killSwitch, pairs, tenants, route }: Overview): string[] {
  const steps = [
    ...(killSwitch ? ["The kill switch is pulled: lifeboat helm setting unkill."] : []),
    ...(pairs.total === 0 ? ["No pair is registered: lifeboat helm pair register SOURCE TARGET."] : []),
    ...(pairs.total > 0 && pairs.eligible === 0
      ? ["No pair is ELIGIBLE: lifeboat helm calibration start SOURCE TARGET --wait."]
      : []),
    ...(tenants.total === 0 ? ["There is no tenant: lifeboat helm tenant create NAME."] : []),
    ...(tenants.total > 0 && tenants.enabled === 0
      ? ["Every tenant is excluded: lifeboat helm tenant enable NAME."]
      : []),
  ];
  if (steps.length > 0) return ["Nothing is routed yet.", ...steps];
  return [`Requests of ${tenants.names.join(", ")} that ask for ${route?.name ?? "a route"} are routed now.`];
}

const POLL_MS = 100;
const PATIENCE_MS = 5_000;

/** Pulled at once and without a revision; then tells which nodes took it and in what time. */
export async function setKillSwitch(
  { config, screen }: Context,
  on: boolean,
  given?: number,
): Promise<number> {
  const server = await requireServer(config);
  const revision = on ? undefined : await revisionOf(given, () => server.setting.get.query());
  const setting = await server.setting.setKillSwitch.mutate({ on, revision });
  let reach = await server.setting.killSwitchReach.query();
  for (let waited = 0; waited < PATIENCE_MS && missing(reach).length > 0; waited += POLL_MS) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    reach = await server.setting.killSwitchReach.query();
  }
  screen.answer({ type: "kill_switch", setting, reach }, () => {
    const took = reach.nodes.filter((node) => node.took);
    const slowest = Math.max(0, ...took.map(({ ms }) => ms ?? 0));
    return [
      `The kill switch is ${setting.killSwitch ? "pulled" : "released"} (revision ${setting.revision}).`,
      `${took.length} of ${reach.nodes.length} nodes took it${slowest > 0 ? `, the slowest after ${slowest} ms` : ""}.`,
      ...reach.nodes
        .filter((node) => !node.took)
        .map(({ name, connected }) => `${name} has not${connected ? "" : ": it is not connected"}.`),
    ];
  });
  return missing(reach).length > 0 ? 1 : 0;
}

function missing(reach: { nodes: { connected: boolean; took: boolean }[] }) {
  return reach.nodes.filter(({ connected, took }) => connected && !took);
}
