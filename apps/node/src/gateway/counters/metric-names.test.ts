import { expect, it } from "vitest";
import { chat, GatewayFixture } from "../../testing/gateway-fixture";

const on = new GatewayFixture();

/** As operators' dashboards know them; one that is renamed or loses a label breaks what they draw. */
const NAMES: Record<string, string[]> = {
  helm_requests_total: ["tenant", "route", "served_by"],
  helm_escalations_total: ["reason", "pair"],
  helm_transfer_total: ["pair", "result"],
  helm_transfer_fallback_total: ["reason"],
  helm_transfer_seconds: [],
  helm_prefill_avoided_tokens_total: [],
  helm_lost_prefix_hit_tokens_total: ["pair"],
  helm_shares_total: ["kind", "result"],
  helm_alarms_total: ["code"],
  helm_judge_score: [],
  helm_judge_mean_logprob: [],
  helm_admission_total: ["outcome"],
  helm_admission_shortfall_bytes: [],
  helm_admission_reserved_bytes: ["model"],
  helm_admission_capacity_bytes: ["model"],
  helm_admission_waiting: ["model"],
  helm_requests_running: [],
  helm_sessions: [],
  helm_request_errors_total: ["status", "code"],
  helm_config_generation: ["kind"],
  process_resident_memory_bytes: [],
};

it("has every name that users are told of, with its labels, and none besides", () => {
  const { registry } = on.gateway.resources.metrics;
  const labels = (name: string) =>
    (registry.getSingleMetric(name) as unknown as { labelNames: string[] }).labelNames;
  const found = registry.getMetricsAsArray().map(({ name }) => name);
  expect(Object.fromEntries(found.map((name) => [name, labels(name)]))).toEqual(NAMES);
});

it("tells what is held while a request runs, and that nothing is once it has ended", async () => {
  const read = async () => {
    const text = await (await fetch(`${on.gateway.origin}/metrics`)).text();
    const of = (line: string) =>
      Number(
        text
          .split("\n")
          .find((one) => one.startsWith(`${line} `))
          ?.split(" ")[1],
      );
    return {
      reserved: of('helm_admission_reserved_bytes{model="pilot"}'),
      running: of("helm_requests_running"),
      waiting: of('helm_admission_waiting{model="pilot"}'),
    };
  };
  on.engine.script = () => ({ tokens: [{ text: "late", logprob: 0 }], pause: 1_500 });
  const asked = on.ask(chat({ model: "pilot" }));
  await expect
    .poll(async () => {
      const { running, reserved, waiting } = await read();
      return [running, reserved > 0, waiting];
    })
    .toEqual([1, true, 0]);
  await asked;
  expect(await read()).toEqual({ reserved: 0, running: 0, waiting: 0 });
});
