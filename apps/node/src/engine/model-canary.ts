import { randomUUID } from "node:crypto";
import type { EngineClient } from "./engine-client";

/** One token from every model, each under a salt of its own. Throws EngineError. */
export async function runModelCanary(client: EngineClient, models: Iterable<string>): Promise<void> {
  for (const model of models) {
    const body = { model, prompt: "Hello", max_tokens: 1, temperature: 0, cache_salt: randomUUID() };
    await client.complete("/v1/completions", body, { headersMs: 60_000 });
  }
}
