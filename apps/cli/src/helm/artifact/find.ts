import { ExitCode } from "@helm/contracts";
import { Failure } from "../../failure";
import type { Server } from "../../server/client";
import { allMappers } from "../mapper-pages";

/** A mapper by id, digest or the beginning of either; the newest where several share a digest. Errors: Failure 2. */
export async function findMapper(server: Server, given: string) {
  const mappers = await allMappers(server);
  const found = mappers.filter(({ id, sha256 }) => id === given || sha256 === given);
  const like = mappers.filter(({ id, sha256 }) => id.startsWith(given) || sha256.startsWith(given));
  const digests = new Set(like.map(({ sha256 }) => sha256));
  const [one] = found.length > 0 ? found : digests.size === 1 ? like : [];
  if (one) return one;
  const why =
    digests.size > 1 ? `${digests.size} mappers begin with ${given}` : `There is no mapper ${given}`;
  throw new Failure(ExitCode.usage, "MAPPER_UNKNOWN", `${why}. lifeboat helm mapper list names them.`);
}
