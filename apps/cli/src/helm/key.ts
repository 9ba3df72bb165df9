import type { Context } from "../context";
import { Failure, usage } from "../failure";
import { requireServer, type Server } from "../server/client";
import { table } from "../terminal/style";
import { secondsOf } from "./given";
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
      key.replacedBy ? `${key.state}, ${key.replacedBy}... takes over` : key.state,
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
  const expiresAt = expires === undefined ? null : dateOf(expires);
  const server = await requireServer(config);
  const { id, enabled } = await findTenant(server, tenant);
  const created = await server.key.create.mutate({ tenantId: id, name, expiresAt });
  const [nodes, { route }] = await Promise.all([server.node.list.query(), server.overview.helm.query()]);
  const gateway = nodes.find(({ connected, url }) => connected && url)?.url ?? null;
  screen.answer({ type: "key", ...created }, () => [
    created.key,
    "This key is shown once. Keep it where you keep secrets.",
    ...useOfKey({ gateway, model: route?.name ?? null, excluded: enabled ? null : tenant }),
  ]);
}

/** How a client uses a key, and what still keeps its tenant from Helm. The key itself is never repeated. */
export function useOfKey(given: {
  gateway: string | null;
  model: string | null;
  excluded: string | null;
}): string[] {
  const { gateway, model, excluded } = given;
  return [
    gateway
      ? `Clients send it to ${gateway}/v1: curl ${gateway}/v1/chat/completions -H "authorization: Bearer KEY" -H "content-type: application/json" -d '{"model": "${model ?? "MODEL"}", "messages": [{"role": "user", "content": "Hello"}]}'`
      : "Clients send it to the gateway of a node; none is connected: lifeboat helm node list.",
    ...(excluded
      ? [
          `${excluded} is excluded, so its requests are served by the target: lifeboat helm tenant enable ${excluded}.`,
        ]
      : []),
  ];
}

/** The new key is shown once; the old one ends after the grace period. */
export async function rotateKey(
  { config, screen }: Context,
  key: string,
  options: { grace: string | undefined; expires: string | undefined },
): Promise<void> {
  const graceS = secondsOf(options.grace ?? "24h");
  const expiresAt = options.expires === undefined ? null : dateOf(options.expires);
  const server = await requireServer(config);
  const made = await server.key.rotate.mutate({ id: await findKey(server, key), graceS, expiresAt });
  screen.answer({ type: "key", ...made }, () => [
    made.key,
    `This key is shown once. ${made.replaces.prefix}... ends at ${made.replaces.endsAt.toISOString()}.`,
  ]);
}

export async function revokeKey({ config, screen }: Context, key: string): Promise<void> {
  const server = await requireServer(config);
  const revoked = await server.key.revoke.mutate({ id: await findKey(server, key) });
  screen.answer({ type: "key", ...revoked }, () => [`Revoked at ${revoked.revokedAt.toISOString()}.`]);
}

function dateOf(text: string): Date {
  const date = new Date(text);
  if (Number.isNaN(date.getTime())) throw usage(`--expires ${text} is no date such as 2027-01-31.`);
  return date;
}

/** A key's id, from the id itself or from its prefix hlm_xxxxxxxx. Errors: Failure. */
async function findKey(server: Server, key: string): Promise<string> {
  if (!key.startsWith("hlm_")) return key;
  if (key.split("_").length > 2)
    throw usage("That is a whole key, a secret. Give its first 12 characters alone.");
  for (const archived of [false, true])
    for (const tenant of await server.tenant.list.query({ archived })) {
      const keys = await server.key.list.query({ tenantId: tenant.id });
      const found = keys.find(({ prefix }) => prefix === key);
      if (found) return found.id;
    }
  throw new Failure(1, "NOT_FOUND", `There is no key ${key}. Look at lifeboat helm key list TENANT.`);
}
