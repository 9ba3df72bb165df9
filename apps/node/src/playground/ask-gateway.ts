import {
  Decision,
  GatewayHeader,
  HelmAnswer,
  MOST_PLAYGROUND_ANSWER,
  mendText,
  type PlaygroundAnswer,
  type PlaygroundOrder,
} from "@helm/contracts";
import { carriesTokens } from "../engine/carries-tokens";
import { readChunks } from "../engine/chunk";

export interface GatewayAsk {
  origin: string;
  secret: string;
  /** A model's name or the route's. */
  model: string;
  signal: AbortSignal;
}

/** One side, asked over HTTP as any caller asks: same door, same admission, same counters. */
export async function askGateway(order: PlaygroundOrder, ask: GatewayAsk): Promise<PlaygroundAnswer> {
  const started = performance.now();
  const since = () => Math.round((performance.now() - started) * 100) / 100;
  const system = order.system ? [{ role: "system", content: order.system }] : [];
  const response = await fetch(`${ask.origin}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${ask.secret}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: ask.model,
      messages: [...system, { role: "user", content: order.prompt }],
      max_tokens: order.max_tokens,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
    }),
    signal: ask.signal,
  });
  const answer = begun(order, response);
  if (!response.ok || !response.body) {
    return { ...answer, error: errorOf(await response.text()), total_ms: since() };
  }
  try {
    for await (const chunk of readChunks(response.body as unknown as AsyncIterable<Uint8Array>)) {
      if (answer.first_token_ms === null && carriesTokens(chunk)) answer.first_token_ms = since();
      const said = chunk.choices[0]?.delta?.content;
      if (typeof said === "string") answer.text += said;
      answer.prompt_tokens = whole(chunk.usage?.prompt_tokens) ?? answer.prompt_tokens;
      answer.completion_tokens = whole(chunk.usage?.completion_tokens) ?? answer.completion_tokens;
      const helm = HelmAnswer.safeParse(chunk.helm).data;
      // The last chunk knows what the headers could not: what became of a transfer.
      if (helm) Object.assign(answer, wordsOf(helm));
    }
  } catch (error) {
    if (ask.signal.aborted) throw error;
    const message = error instanceof Error ? error.message : String(error);
    answer.error = { code: "broken", message: `The answer broke off: ${message}`.slice(0, 2_000) };
  }
  const cut = answer.text.length > MOST_PLAYGROUND_ANSWER;
  // A model may say, and a cut may leave, what no database can hold.
  const text = mendText(answer.text.slice(0, MOST_PLAYGROUND_ANSWER));
  return { ...answer, text, cut, total_ms: since() };
}

function begun(order: PlaygroundOrder, response: Response): PlaygroundAnswer {
  const header = (name: string) => response.headers.get(name);
  return {
    side: order.side,
    status: response.status,
    error: null,
    text: "",
    cut: false,
    model: header(GatewayHeader.servedBy),
    decision: Decision.safeParse(header(GatewayHeader.decision)).data ?? null,
    reason: header(GatewayHeader.reason),
    transfer: header(GatewayHeader.transfer),
    trace_id: header(GatewayHeader.traceId),
    prompt_tokens: null,
    completion_tokens: null,
    tokens_moved: null,
    first_token_ms: null,
    total_ms: 0,
  };
}

function wordsOf(helm: HelmAnswer): Partial<PlaygroundAnswer> {
  return {
    model: helm.served_by,
    reason: helm.reason,
    transfer: helm.transfer,
    tokens_moved: helm.tokens_moved,
  };
}

function errorOf(text: string): NonNullable<PlaygroundAnswer["error"]> {
  try {
    const { error } = JSON.parse(text) as { error: { code?: unknown; message?: unknown } };
    return { code: String(error.code).slice(0, 200), message: String(error.message).slice(0, 2_000) };
  } catch {
    return { code: "unreadable", message: "The gateway's answer could not be read." };
  }
}

function whole(value: unknown): number | null {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : null;
}
