import { createHash } from "node:crypto";
import type { AccessList } from "@helm/contracts";
import type { Context } from "../context";
import { compileAccess } from "./compile-access";

const ACCESS_LOCK = 7_210_116_011;
const VERSIONS_KEPT = 200;

/** As `publishSnapshot`, with a version of its own. A list older than `maxAgeMs` is issued again unchanged: nodes judge
 * the control plane's silence by its age. */
export async function publishAccessList(ctx: Context, maxAgeMs = Number.POSITIVE_INFINITY): Promise<number> {
  await ctx.db.$executeRaw`SELECT pg_advisory_xact_lock(${ACCESS_LOCK}::bigint)`;
  const content = await compileAccess(ctx.db);
  const contentSha256 = createHash("sha256").update(JSON.stringify(content)).digest("hex");
  const newest = await ctx.db.accessListVersion.findFirst({ orderBy: { version: "desc" } });
  const young = newest !== null && Date.now() - newest.createdAt.getTime() <= maxAgeMs;
  if (young && newest.contentSha256 === contentSha256) return newest.version;
  const version = (newest?.version ?? 0) + 1;
  const list: AccessList = {
    kind: "access_list",
    schema: 1,
    version,
    issued_at: new Date().toISOString(),
    ...content,
  };
  const signed = ctx.services.signer.sign(JSON.stringify(list));
  await ctx.db.accessListVersion.create({ data: { version, contentSha256, ...signed } });
  await ctx.db.accessListVersion.deleteMany({ where: { version: { lte: version - VERSIONS_KEPT } } });
  ctx.afterCommit(() => ctx.services.hub.pushDocuments());
  return version;
}
