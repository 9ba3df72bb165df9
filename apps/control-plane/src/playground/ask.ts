import { HelmError } from "@helm/contracts";
import { z } from "zod";
import { actorId } from "../access/actor";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";
import { databaseNow, later } from "../database-clock";
import { isConnected } from "../host/list";
import { runQuestion } from "./run-question";
import { PlaygroundAsk } from "./schema";

/** For the three answers together. */
const DEADLINE_MS = 120_000;
/** Of one person at a time. */
const AT_A_TIME = 2;

export const AskInput = PlaygroundAsk.extend({
  nodeId: z.uuid(),
  system: PlaygroundAsk.shape.system.default(null),
  maxTokens: PlaygroundAsk.shape.maxTokens.default(64),
});
export const AskOutput = z.object({ id: z.uuid() });

/** Writes the question down and has the node asked; the answers are read from the row as they come. */
export async function askPlayground({
  ctx,
  input: { nodeId, ...ask },
}: Call<z.infer<typeof AskInput>>): Promise<z.infer<typeof AskOutput>> {
  const now = await databaseNow(ctx.db);
  const node = await ctx.db.host.findFirst({ where: { id: nodeId, kind: "node", revokedAt: null } });
  if (!node) throw new HelmError("NOT_FOUND", "There is no such node. Choose one that is on the Nodes page.");
  if (!isConnected(node, now))
    throw new HelmError("UNAVAILABLE", `${node.name} is not connected. Start it, or choose another node.`);
  const personId = actorId(ctx.actor) ?? "";
  // One after another of one person: each counts the ones before.
  await ctx.db.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${`playground:${personId}`}, 0))`;
  const running = await ctx.db.playgroundRun.count({
    where: { personId, state: "RUNNING", deadlineAt: { gt: now } },
  });
  if (running >= AT_A_TIME)
    throw new HelmError(
      "RATE_LIMITED",
      `You have ${running} questions under way. Wait for one, or cancel it.`,
    );
  const { id } = await ctx.db.playgroundRun.create({
    data: { nodeId, personId, state: "RUNNING", ask, deadlineAt: later(now, DEADLINE_MS) },
  });
  await writeAudit(ctx, {
    verb: "playground.ask",
    entity: "playground",
    entityId: id,
    after: { node: node.name, route: ask.route, characters: ask.prompt.length, maxTokens: ask.maxTokens },
  });
  // Not waited for: an answer takes as long as its models.
  ctx.afterCommit(() => void runQuestion(ctx.services, { id, nodeId, ask, deadlineMs: DEADLINE_MS }));
  return { id };
}
