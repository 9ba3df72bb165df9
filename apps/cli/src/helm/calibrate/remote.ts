import { ExitCode } from "@helm/contracts";
import type { Context } from "../../context";
import { Failure, usage } from "../../failure";
import type { Server } from "../../server/client";
import { registerAndWait } from "../pair";
import { followCalibration } from "./follow";
import { noteDrain } from "./note-drain";
import type { CalibrateOptions } from "./options";

/** Starts the run on the server and follows it to its end. Returns the exit code. */
export async function calibrateOnServer(
  context: Context,
  server: Server,
  options: CalibrateOptions,
): Promise<number> {
  if (options.gate !== undefined) {
    throw usage(
      "--gate holds for a local run; with a server the pair's own gate does. Leave it out, or add --local.",
    );
  }
  for (const [name, given] of [
    ["--out", options.out],
    ["--threads", options.threads],
  ]) {
    if (given !== undefined) throw usage(`${name} holds for a local run. Leave it out, or add --local.`);
  }
  const pair = await findOrRegister(context, server, options);
  if (typeof pair.layers === "number" && options.k > pair.layers) {
    throw usage(
      `--k ${options.k} is more than the ${pair.layers} layers of ${options.sourceModel}. Give at most ${pair.layers}.`,
    );
  }
  await noteDrain(context, server, options, pair.id);
  const { corpus, k, device, method, room, acceptNoServing } = options;
  const { id } = await server.calibration.start.mutate({
    pairId: pair.id,
    corpus,
    k,
    device,
    method,
    room,
    acceptNoServing,
    options: options.options,
  });
  if (!options.wait) {
    context.screen.answer({ type: "queued", id }, () => [
      `Queued as ${id}. Follow it with lifeboat helm calibration show ${id} --wait.`,
    ]);
    return ExitCode.cleared;
  }
  context.screen.note(`run ${id}`);
  return followCalibration(context, server, id);
}

async function findOrRegister(
  context: Context,
  server: Server,
  options: CalibrateOptions,
): Promise<{ id: string; layers: number | null | undefined }> {
  const { sourceModel, targetModel } = options;
  const find = async () =>
    (await server.pair.list.query()).find(
      (pair) => pair.source.id === sourceModel && pair.target.id === targetModel,
    );
  const known = await find();
  if (!known) await registerAndWait(context, server, sourceModel, targetModel);
  const pair = known ?? (await find());
  if (!pair)
    throw new Failure(
      1,
      "NOT_FOUND",
      `The pair ${sourceModel} -> ${targetModel} was registered and is not listed. Try again.`,
    );
  return { id: pair.id, layers: pair.source.num_hidden_layers };
}
