import { AdmissionGate } from "@helm/admission";
import type { EngineClient } from "./engine-client";
import type { EngineMemory, EngineModel } from "./engine-facts";

/** An engine on the serving path: it passed its canary, and what it measured bounds what it is given. */
export interface ServingEngine {
  client: EngineClient;
  name: string;
  development: boolean;
  models: ReadonlyMap<string, EngineModel>;
  memory: EngineMemory;
  gates: ReadonlyMap<string, AdmissionGate>;
}

/** Asks an engine what it serves and what it has room for. Throws EngineError. */
export async function describeEngine(client: EngineClient, maxWaiting: number): Promise<ServingEngine> {
  const [models, memory] = await Promise.all([client.models(), client.memory()]);
  const gates = new Map<string, AdmissionGate>();
  for (const [name, measured] of Object.entries(memory.models)) {
    gates.set(name, new AdmissionGate(measured.kv_budget_bytes, maxWaiting));
  }
  return {
    client,
    name: models.find((model) => model.engine)?.engine ?? "vllm",
    development: models.some((model) => model.development === true),
    models: new Map(models.map((model) => [model.id, model])),
    memory,
    gates,
  };
}
