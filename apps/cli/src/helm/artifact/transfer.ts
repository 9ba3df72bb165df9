import { setTimeout as pause } from "node:timers/promises";
import { HostRequestError } from "@helm/host";
import type { Context } from "../../context";
import { findServer } from "../../server/client";

const TRIES = 6;

export async function requireAddress({
  config,
}: Context): Promise<{ controlUrl: string; credential: string }> {
  const found = await findServer(config);
  if (!found) throw new Error("no server");
  return { controlUrl: found.url, credential: found.token };
}

/** A cut line and a busy server are tried again, each try from where the last one was cut. */
export async function persevere(context: Context, work: () => Promise<unknown>): Promise<void> {
  for (let tries = 1, wait = 500; ; tries += 1, wait *= 2) {
    try {
      await work();
      return;
    } catch (error) {
      if (!(error instanceof HostRequestError) || !error.retriable || tries === TRIES) throw error;
      context.screen.note(`${error.message} Trying again from there.`);
      await pause(wait);
    }
  }
}
