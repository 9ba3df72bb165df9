import { HelmError } from "@helm/contracts";
import { requireStillActing } from "../access/still-acting";
import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";
import type { EndpointCall } from "../http/endpoint";
import { sendJson } from "../http/respond";
import { inTransaction } from "../transaction";
import { recordArtifact } from "./record-artifact";
import { requireSha256, type UploadKey } from "./store";
import { readUploadHeaders, setUploadHeaders } from "./upload-headers";

function keyOf(ctx: Context, sha256 = ""): UploadKey {
  if (ctx.actor.kind !== "person") throw new HelmError("UNAUTHENTICATED", "Sign in first.");
  const owner = `person-${ctx.actor.id}`;
  return { sha256: requireSha256(sha256), owner };
}

/** An administrator brings a mapper of another host. What is here already proves nothing to him: he sends it whole. */
export async function personUploadOffset({ ctx, res, params }: EndpointCall): Promise<void> {
  setUploadHeaders(res, await ctx.services.uploads.offset(keyOf(ctx, params.sha256)), false);
  res.writeHead(204).end();
}

export async function personUpload({ ctx, req, res, params }: EndpointCall): Promise<void> {
  const key = keyOf(ctx, params.sha256);
  const { offset, length } = readUploadHeaders(req);
  const appended = await ctx.services.uploads.append(key, offset, length, req);
  setUploadHeaders(res, appended.offset, appended.whole);
  if (!appended.whole) {
    res.writeHead(204).end();
    return;
  }
  await inTransaction(ctx, { audited: false, publish: false }, async (inner) => {
    await requireStillActing(inner, "admin");
    if (!(await recordArtifact(inner, key.sha256, length))) return;
    await writeAudit(inner, {
      verb: "artifact.upload",
      entity: "artifact",
      entityId: key.sha256,
      after: { sha256: key.sha256, bytes: length },
    });
  });
  sendJson(res, 200, { sha256: key.sha256, bytes: length });
}
