import { AdmissionGate, type PullLimits } from "@helm/admission";
import type { EngineClient } from "./engine-client";
import type { EngineMemory, EngineModel } from "./engine-facts";

/** An engine on the serving path: it passed its canary, and what it measured bounds what it is given. */
export interface ServingEngine {
  client: EngineClient;
  name: string;
  development: boolean;
  models: ReadonlyMap<string, EngineModel>;
  memory: EngineMemory;
  /** Tokens that a chat of one message has at most beside its text; missing where the model has no template. */
  templates: ReadonlyMap<string, number>;
  gates: ReadonlyMap<string, AdmissionGate>;
}

/** Of its batch an engine is handed this multiple: what runs, and enough in line that no place stays empty. */
const BATCHES = 2;
/** For an engine that does not say how large its batch is. */
const ROWS = 256;
/** Prompt tokens for each row, handed over and not read yet. */
const TOKENS_A_ROW = 128;

function pullLimits(batch: number | null | undefined): PullLimits {
  const rows = batch ? BATCHES * batch : ROWS;
  return { rows, tokens: TOKENS_A_ROW * rows };
}

/** Asks an engine what it serves and what it has room for. Throws EngineError. */
export async function describeEngine(client: EngineClient, maxWaiting: number): Promise<ServingEngine> {
  const [models, memory] = await Promise.all([client.models(), client.memory()]);
  const gates = new Map<string, AdmissionGate>();
  for (const [name, measured] of Object.entries(memory.models)) {
    const pull = pullLimits(models.find((model) => model.id === name)?.max_batch);
    gates.set(name, new AdmissionGate(measured.kv_budget_bytes, maxWaiting, undefined, undefined, pull));
  }
  return {
    client,
    name: models.find((model) => model.engine)?.engine ?? "vllm",
    development: models.some((model) => model.development === true),
    models: new Map(models.map((model) => [model.id, model])),
    memory,
    templates: await measureTemplates(client, models),
    gates,
  };
}

/** A conversation of one letter, counted: what is more than the letter is the template's. */
async function measureTemplates(
  client: EngineClient,
  models: readonly EngineModel[],
): Promise<ReadonlyMap<string, number>> {
  const templates = new Map<string, number>();
  for (const { id } of models) {
    const counted = await client
      .tokenize({ model: id, messages: [{ role: "user", content: "a" }] })
      .catch(() => null);
    if (counted) templates.set(id, counted.tokens.length);
  }
  return templates;
}
