import { Client } from "undici";
import type { RealEngine } from "./real-engine";

/** What an engine has in hand, over all its models. */
export interface EngineLoad {
  running: number;
  waiting: number;
  kvUsedBytes: number;
  stagedBytes: number;
}

/** Read from the engine's own metrics and memory report. */
export async function readEngineLoad(real: Pick<RealEngine, "socketPath" | "engine">): Promise<EngineLoad> {
  const client = new Client("http://engine", { socketPath: real.socketPath });
  try {
    const answer = await client.request({ method: "GET", path: "/metrics" });
    const text = await answer.body.text();
    const sum = (name: string) =>
      [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, "gm"))].reduce(
        (all, [, value]) => all + Number(value),
        0,
      );
    const memory = await real.engine.client.memory();
    return {
      running: sum("vllm:num_requests_running"),
      waiting: sum("vllm:num_requests_waiting"),
      kvUsedBytes: Object.values(memory.models).reduce((all, model) => all + (model.kv_used_bytes ?? 0), 0),
      stagedBytes: memory.staging?.used_bytes ?? 0,
    };
  } finally {
    await client.close();
  }
}
