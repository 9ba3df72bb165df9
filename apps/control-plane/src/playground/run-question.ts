import { type PlaygroundAnswer, PlaygroundReply, type PlaygroundSide } from "@helm/contracts";
import type { Services } from "../context";
import { hostRoom } from "../hub";
import type { PlaygroundAsk } from "./schema";

interface Question {
  id: string;
  nodeId: string;
  ask: PlaygroundAsk;
  deadlineMs: number;
}

/** The network's part, beside what the node itself is given. */
const GRACE_MS = 5_000;

/** The route first: a target that was just asked by its name holds the prompt, and nothing were left to carry across. */
const IN_ORDER: readonly PlaygroundSide[] = ["routed", "pilot", "target"];

/**
 * Asks the node side by side: one after the other, so that no side's time is the other's load. Its socket may be another
 * control plane's. What is cancelled meanwhile stays cancelled.
 */
export async function runQuestion(services: Services, question: Question): Promise<void> {
  const { db, log } = services;
  const until = performance.now() + question.deadlineMs;
  const answers: PlaygroundAnswer[] = [];
  const running = { id: question.id, state: "RUNNING" };
  const end = (state: "DONE" | "FAILED", error: string | null) =>
    db.playgroundRun.updateMany({ where: running, data: { state, error, endedAt: new Date() } });
  try {
    for (const side of IN_ORDER) {
      const reply = await askNode(services, question, side, until - performance.now());
      if (!reply.ok) {
        await end("FAILED", reply.message);
        return;
      }
      answers.push(reply.answer);
      const { count } = await db.playgroundRun.updateMany({ where: running, data: { answers } });
      if (count === 0) return;
    }
    await end("DONE", null);
  } catch (error) {
    log.warn({ err: error, run: question.id }, "a playground question could not be brought to its end");
    await end("FAILED", "The server could not bring the question to its end. Ask again.").catch(() => {});
  }
}

async function askNode(
  { hub }: Services,
  { id, nodeId, ask }: Question,
  side: PlaygroundSide,
  leftMs: number,
): Promise<PlaygroundReply> {
  const order = {
    id,
    side,
    route: ask.route,
    system: ask.system,
    prompt: ask.prompt,
    max_tokens: ask.maxTokens,
    deadline_ms: Math.max(1_000, Math.round(leftMs)),
  };
  const said: unknown[] = await hub.io
    .of("/nodes")
    .to(hostRoom(nodeId))
    .timeout(order.deadline_ms + GRACE_MS)
    .emitWithAck("playground", order)
    .catch(() => []);
  const reply = PlaygroundReply.safeParse(said[0]);
  if (reply.success) return reply.data;
  const message = said.length > 0 ? "The node's answer cannot be read." : "The node did not answer.";
  return {
    ok: false,
    code: "NO_ANSWER",
    message: `${message} Look at it on the Nodes page, then ask again.`,
  };
}
