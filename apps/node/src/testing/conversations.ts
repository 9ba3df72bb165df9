import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import type { JsonBody } from "../engine/engine-client";
import { type RealEngine, startRealEngine } from "./real-engine";
import { recordBodies } from "./recorded-engine";
import { reversePair, startTestGateway, type TestGateway, testKey } from "./test-gateway";

export interface Conversations {
  real: RealEngine;
  gateway: TestGateway;
  /** What the engine was asked since the test began. */
  bodies: JsonBody[];
  sure(pilot: boolean): void;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely in tests
  ask(body: object, options?: { path?: string; session?: string; key?: string }): Promise<any>;
}

/** A real gateway before the real engine with both directions of the pair ready, made anew for each test file. */
export function useConversations(mappers: "random" | "recorded"): Conversations {
  const on = { bodies: [] as JsonBody[], sure, ask } as Conversations;

  beforeAll(async () => {
    on.real = await startRealEngine({ reverse: true, mappers });
    on.gateway = await startTestGateway({ socketPath: on.real.socketPath });
    const client = on.gateway.resources.engine()?.client;
    if (client) on.bodies = recordBodies(client);
  }, 240_000);
  afterAll(async () => {
    await on.gateway?.stop();
    await on.real?.stop();
  });
  beforeEach(() => {
    const { dials } = on.gateway;
    dials.pair.mapper_sha256 = on.real.mapperSha256;
    dials.reverse = reversePair(on.real.reverseSha256);
    dials.readiness = { pair_id: dials.pair.id, state: "READY", min_tokens: 1 };
    dials.route.hold_turns = null;
    dials.route.max_switches = 4;
    dials.route.shares = null;
    sure(true);
    on.bodies.length = 0;
  });

  /** The judge's thresholds decide who answers, whatever the models have learned. */
  function sure(pilot: boolean): void {
    on.gateway.dials.route.judge = pilot
      ? { version: "logprob-1", mean_logprob: -50, min_logprob: -500 }
      : { version: "logprob-1", mean_logprob: 0, min_logprob: 0 };
  }

  async function ask(body: object, options: { path?: string; session?: string; key?: string } = {}) {
    const { path = "/v1/chat/completions", session, key = testKey } = options;
    const response = await fetch(on.gateway.origin + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        ...(session === undefined ? {} : { "x-helm-session": session }),
      },
      body: JSON.stringify({ max_tokens: 8, temperature: 0, return_token_ids: true, ...body }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here
    const json = (await response.json()) as any;
    expect([response.status, json.error]).toEqual([200, undefined]);
    return json;
  }

  return on;
}
