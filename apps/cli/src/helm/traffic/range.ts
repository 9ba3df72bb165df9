import { usage } from "../../failure";
import type { Server } from "../../server/client";
import { wholeOf } from "../given";
import { findTenant } from "../tenant";

type Options = Record<string, string | boolean | undefined>;

const MOST_HOURS = 720;

/** --hours, --tenant by name or id, --pair as SOURCE:TARGET or id. Errors: usage, Failure. */
export async function readRange(
  server: Server,
  options: Options,
): Promise<{ hours: number; tenant?: string; pair?: string }> {
  const hours = typeof options.hours === "string" ? wholeOf(options.hours) : 24;
  if (hours < 1 || hours > MOST_HOURS) throw usage(`--hours takes 1 to ${MOST_HOURS}; ${hours} is not.`);
  const { tenant, pair } = options;
  return {
    hours,
    ...(typeof tenant === "string" && {
      tenant: tenant === "playground" ? tenant : (await findTenant(server, tenant)).id,
    }),
    ...(typeof pair === "string" && { pair: await pairId(server, pair) }),
  };
}

async function pairId(server: Server, wanted: string): Promise<string> {
  const pairs = await server.pair.list.query();
  const found = pairs.find(
    ({ id, source, target }) => id === wanted || `${source.id}:${target.id}` === wanted,
  );
  if (!found)
    throw usage(`There is no pair ${wanted}. Write SOURCE:TARGET, as lifeboat helm pair list has them.`);
  return found.id;
}
