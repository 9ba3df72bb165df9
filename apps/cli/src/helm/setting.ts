import type { Context } from "../context";
import { requireServer } from "../server/client";
import { table } from "../terminal/style";

export async function showSetting({ config, screen }: Context): Promise<void> {
  const server = await requireServer(config);
  const [setting, overview] = await Promise.all([server.setting.get.query(), server.overview.helm.query()]);
  screen.answer({ type: "setting", setting, overview }, () => [
    ...table(
      ["setting", "value"],
      [
        ["Helm", setting.helmEnabled ? "on" : "off"],
        ["kill switch", setting.killSwitch ? "ON: everything prefills natively" : "off"],
        ["gate", `${setting.gate} on the ${setting.gateOn === "lower" ? "lower bound" : "value"}`],
        ["pairs", `${overview.pairs.eligible} of ${overview.pairs.total} ELIGIBLE`],
        ["tenants", `${overview.tenants.enabled} of ${overview.tenants.total} enabled`],
        ["hardware", overview.hardware.sentence],
        ["revision", String(setting.revision)],
      ],
    ).slice(1),
    ...(setting.helmEnabled ? [] : [overview.turningOnWouldChange]),
  ]);
}

export async function setHelm({ config, screen }: Context, enabled: boolean): Promise<void> {
  const server = await requireServer(config);
  const { revision } = await server.setting.get.query();
  const setting = await server.setting.setHelmEnabled.mutate({ enabled, revision });
  screen.answer({ type: "setting", setting }, () => [
    `Helm is ${setting.helmEnabled ? "on" : "off"} (revision ${setting.revision}).`,
  ]);
}
