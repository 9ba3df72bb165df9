import type { EngineClient, JsonBody } from "../engine/engine-client";

/** Every body that a gateway sends to its engine for an answer, as it goes by; the engine itself is untouched. */
export function recordBodies(client: EngineClient): JsonBody[] {
  const bodies: JsonBody[] = [];
  for (const name of ["stream", "complete"] as const) {
    const real = client[name].bind(client) as (...args: unknown[]) => never;
    Object.assign(client, {
      [name]: (...args: unknown[]) => {
        bodies.push(structuredClone(args[1]) as JsonBody);
        return real(...args);
      },
    });
  }
  return bodies;
}
