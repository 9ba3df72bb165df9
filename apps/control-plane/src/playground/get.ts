import { HelmError, PlaygroundAnswer, PlaygroundState } from "@helm/contracts";
import { z } from "zod";
import { actorId } from "../access/actor";
import type { Call, Context } from "../context";
import { databaseNow, later } from "../database-clock";
import { PlaygroundAsk, type PlaygroundRunOut, RUN_KEPT_MS } from "./schema";

export const RunInput = z.object({ id: z.uuid() });

/** A question is its person's own: nobody else reads what was written and answered. */
export async function findOwnRun(ctx: Context, id: string) {
  const personId = actorId(ctx.actor) ?? "";
  const run = await ctx.db.playgroundRun.findFirst({ where: { id, personId }, include: { node: true } });
  if (!run)
    throw new HelmError("NOT_FOUND", "There is no such question of yours. Questions are kept for an hour.");
  return run;
}

export async function readRun({ ctx, input }: Call<z.infer<typeof RunInput>>): Promise<PlaygroundRunOut> {
  const run = await findOwnRun(ctx, input.id);
  const state = PlaygroundState.parse(run.state);
  // Who asked for it may have gone down with it.
  const left = state === "RUNNING" && (await databaseNow(ctx.db)) > later(run.deadlineAt, 30_000);
  return {
    id: run.id,
    node: { id: run.node.id, name: run.node.name, url: run.node.url },
    state: left ? "FAILED" : state,
    ask: PlaygroundAsk.parse(run.ask),
    answers: z.array(PlaygroundAnswer).parse(run.answers),
    error: left ? "The server that asked is gone. Ask again." : run.error,
    createdAt: run.createdAt,
    endedAt: run.endedAt,
    expiresAt: later(run.createdAt, RUN_KEPT_MS),
  };
}
