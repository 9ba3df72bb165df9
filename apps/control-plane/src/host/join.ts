import { HelmError, type JoinRequest, type JoinResponse } from "@helm/contracts";
import { hostVerdict } from "@helm/pairing";
import { hashSecret, randomSecret, secretsEqual } from "../access/secret";
import { writeAudit } from "../audit/write-audit";
import type { Call } from "../context";

/** Spends a one-use token and gives the host its credential, once. */
export async function joinHost({ ctx, input }: Call<JoinRequest>): Promise<JoinResponse> {
  const hash = hashSecret(input.join_token);
  const token = await ctx.db.joinToken.findUnique({ where: { hash } });
  const valid =
    token &&
    secretsEqual(token.hash, hash) &&
    token.kind === input.kind &&
    !token.usedAt &&
    !token.cancelledAt &&
    token.expiresAt > new Date();
  if (!valid)
    throw new HelmError(
      "TOKEN_INVALID",
      "This join token is unknown, used, cancelled or expired. Ask for a new one.",
    );
  const credential = randomSecret();
  const host = await ctx.db.host.create({
    data: {
      kind: input.kind,
      name: input.name,
      credentialHash: hashSecret(credential),
      version: input.version,
      device: input.device,
      hardware: hostVerdict(input.devices).verdict,
      devices: input.devices,
      engine: input.engine,
      url: input.url,
      machine: input.machine,
      lastSeenAt: new Date(),
      ...(input.kind === "node" ? { nodeState: { create: {} } } : {}),
    },
  });
  // Only one of two that race finds the token unused.
  const spent = await ctx.db.joinToken.updateMany({
    where: { id: token.id, usedAt: null, cancelledAt: null },
    data: { usedAt: new Date(), usedById: host.id },
  });
  if (spent.count !== 1)
    throw new HelmError("TOKEN_INVALID", "This join token is used already. Ask for a new one.");
  // Who came with the token is the host from now on; whose word let it in stands beside it.
  const actor = { kind: "host", hostKind: input.kind, id: host.id, name: host.name } as const;
  await writeAudit(
    { ...ctx, actor },
    {
      verb: "host.join",
      entity: input.kind,
      entityId: host.id,
      after: {
        name: host.name,
        device: host.device,
        hardware: host.hardware,
        version: host.version,
        joinToken: token.id,
        joinTokenBy: token.createdBy,
      },
    },
  );
  return { id: host.id, credential, signing_key: ctx.services.signer.publicKeyPem };
}
