import type { Context } from "../../context";
import { connect, findServer } from "../../server/client";
import { calibrateLocally } from "./local";
import { type RawOptions, readOptions } from "./options";
import { calibrateOnServer } from "./remote";

/** Here where no server is configured or `--local` says so, else through the server. Returns the exit code. */
export async function calibrate(context: Context, raw: RawOptions): Promise<number> {
  const options = readOptions(raw);
  const server = options.local ? null : await findServer(context.config);
  return server ? calibrateOnServer(context, connect(server), options) : calibrateLocally(context, options);
}
