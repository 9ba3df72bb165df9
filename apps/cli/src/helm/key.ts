import type { Context } from "../context";
import { usage } from "../failure";
import { requireServer } from "../server/client";
import { table } from "../terminal/style";
import { findTenant } from "./tenant";

export async function listKeys({ config, screen }: Context, tenant: string): Promise<void> {
  const server = await requireServer(config);
  const { id } = await findTenant(server, tenant);
  const keys = await server.key.list.query({ tenantId: id });
  screen.answer({ type: "keys", keys }, () => {
    if (keys.length === 0)
      return [`${tenant} has no key. Create one with lifeboat helm key create ${tenant} NAME.`];
    const day = (date: Date | null) => (date ? date.toISOString().slice(0, 16).replace("T", " ") : "-");
    const rows = keys.map((key) => [
      `${key.prefix}...`,
      key.name,
      key.revokedAt ? "revoked" : "live",
      day(key.expiresAt),
      day(key.lastUsedAt),
      key.id,
    ]);
    return table(["key", "name", "state", "expires (UTC)", "last use (UTC)", "id"], rows);
  });
}

export async function createKey(
  { config, screen }: Context,
  tenant: string,
  name: string,
  expires: string | undefined,
): Promise<void> {
  const expiresAt = expires === undefined ? null : new Date(expires);
  if (expiresAt && Number.isNaN(expiresAt.getTime()))
    throw usage(`--expires ${expires} is no date such as 2027-01-31.`);
  const server = await requireServer(config);
  const { id } = await findTenant(server, tenant);
  const created = await server.key.create.mutate({ tenantId: id, name, expiresAt });
  screen.answer({ type: "key", ...created }, () => [
    created.key,
    "This key is shown once. Keep it where you keep secrets.",
  ]);
}

export async function revokeKey({ config, screen }: Context, id: string): Promise<void> {
  const revoked = await (await requireServer(config)).key.revoke.mutate({ id });
  screen.answer({ type: "key", ...revoked }, () => [`Revoked at ${revoked.revokedAt.toISOString()}.`]);
}
