import type { Host } from "@helm/db";
import { hashSecret, randomSecret } from "../access/secret";
import type { Context } from "../context";

/** A host that holds recorded runs: it was made here, revoked, and is none that ever joined, whatever name those took. */
export async function recorderHost(
  ctx: Context,
  { name, version, device }: Pick<Host, "name" | "version" | "device">,
): Promise<Host> {
  // Who joins is seen, used a token, and is revoked later if at all.
  const known = await ctx.db.host.findFirst({
    where: {
      kind: "worker",
      name,
      version,
      revokedAt: { not: null },
      lastSeenAt: null,
      connectedAt: null,
      usedTokens: { none: {} },
    },
  });
  if (known) return known;
  return ctx.db.host.create({
    data: {
      kind: "worker",
      name,
      version,
      device,
      hardware: device === "cpu" ? "none" : "allowed",
      devices: [],
      credentialHash: hashSecret(randomSecret()),
      revokedAt: new Date(),
    },
  });
}
