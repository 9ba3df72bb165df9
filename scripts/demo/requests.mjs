/** The mix: each request, what it is to show, and what must have happened for the demo to have kept its word. */
export function theMix({ pilot, target, easy, hard, long, session }) {
  const greedy = { temperature: 0, max_tokens: 24 };
  const force = { helm: { transfer: "force" } };
  const from = (task) => ({ ...greedy, messages: task.prompt });
  const auto = { model: "helm-auto" };
  return [
    {
      what: "explicit model: pilot",
      body: { ...from(easy[0]), model: pilot, stream: true },
      expect: { servedBy: pilot, decision: "explicit" },
    },
    {
      what: "explicit model: target",
      body: { ...from(easy[0]), model: target, stream: true },
      expect: { servedBy: target, decision: "explicit" },
    },
    { what: "easy, the judge decides", body: { ...from(easy[0]), ...auto }, expect: kept(pilot) },
    { what: "easy, streamed", body: { ...from(easy[1]), ...auto, stream: true }, expect: kept(pilot) },
    {
      what: "hard, short, not forced",
      body: { ...from(hard[2]), ...auto },
      expect: { servedBy: target, decision: "escalated" },
      mayBe: "BLOCK_TOO_SMALL",
    },
    {
      what: "hard, forced",
      body: { ...from(hard[0]), ...auto, ...force },
      expect: moved(target),
      compare: true,
    },
    {
      what: "hard, forced, streamed",
      body: { ...from(hard[1]), ...auto, ...force, stream: true },
      expect: moved(target),
      compare: true,
    },
    {
      what: "an agent's first turn, by name",
      body: { ...greedy, model: pilot, messages: long[0] },
      session,
      expect: { servedBy: pilot, decision: "explicit" },
    },
    {
      what: "its second turn escalates",
      body: { ...greedy, ...force },
      after: (before) => [...long[0], { role: "assistant", content: before.text }, goOn],
      path: "/helm/escalate",
      session,
      expect: moved(target),
      compare: true,
    },
    {
      what: "same session, next turn",
      body: { ...from(easy[0]), ...auto },
      session,
      expect: { servedBy: target, decision: "direct", reason: "SESSION_HELD" },
    },
    {
      what: "an agent escalates at once",
      body: { ...greedy, messages: long[1], ...force },
      path: "/helm/escalate",
      expect: moved(target),
      compare: true,
    },
    {
      what: "kill switch on",
      body: { ...from(easy[0]), ...auto },
      killSwitch: true,
      expect: { servedBy: target, decision: "direct", reason: "HELM_OFF" },
    },
  ];
}

const goOn = { role: "user", content: "Go on." };
const kept = (pilot) => ({ servedBy: pilot, decision: "kept", transfer: "none" });
const moved = (target) => ({ servedBy: target, decision: "escalated", transfer: "transferred" });

/** Sends one request with the official client and returns a row of the table. */
export async function send(client, request) {
  const { path = "/chat/completions", body, session } = request;
  const options = session ? { headers: { "x-helm-session": session } } : {};
  const asked = performance.now();
  const { data, response } = await client
    .post(path, { body, stream: body.stream ?? false, ...options })
    .withResponse();
  const { helm, text, firstMs } = body.stream
    ? await readStream(data, asked)
    : { helm: data.helm, text: textOf(data) };
  const header = (name) => response.headers.get(`x-helm-${name}`);
  const row = {
    what: request.what,
    servedBy: header("served-by"),
    decision: header("decision"),
    reason: helm?.reason ?? header("reason"),
    transfer: helm?.transfer ?? header("transfer"),
    tokensMoved: helm?.tokens_moved ?? null,
    firstMs: helm?.timing.first_token_ms ?? firstMs ?? null,
    mode: header("mode"),
    text,
  };
  return { ...row, good: keptWord(row, request) };
}

function keptWord(row, { expect, mayBe }) {
  const same = Object.entries(expect).every(([key, value]) => row[key] === value);
  // Whether a short prompt pays is the node's canary to say; if it does not, the reason must be this one.
  return same && (mayBe === undefined || row.transfer === "transferred" || row.reason === mayBe);
}

async function readStream(stream, asked) {
  let text = "";
  let firstMs = null;
  let helm = null;
  for await (const chunk of stream) {
    const piece = chunk.choices[0]?.delta?.content ?? "";
    if (piece && firstMs === null) firstMs = performance.now() - asked;
    text += piece;
    helm = chunk.helm ?? helm;
  }
  return { text, firstMs, helm };
}

function textOf(answer) {
  return answer.choices[0].message.content;
}

/** The same prompt once more without a transfer: what the first token costs when the target prefills. */
export async function firstTokenWithout(client, request) {
  const { stream: _, ...body } = request.body;
  const answer = await client.post("/helm/escalate", {
    body: { ...body, model: "helm-auto", helm: { transfer: "off" } },
  });
  return answer.helm.timing.first_token_ms;
}
