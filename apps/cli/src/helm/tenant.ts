import type { Context } from "../context";
import { Failure } from "../failure";
import { requireServer, type Server } from "../server/client";
import { table } from "../terminal/style";

export async function listTenants({ config, screen }: Context): Promise<void> {
  const tenants = await (await requireServer(config)).tenant.list.query();
  screen.answer({ type: "tenants", tenants }, () => {
    if (tenants.length === 0) return ["No tenant yet. Create one with lifeboat helm tenant create NAME."];
    const rows = tenants.map((tenant) => [
      tenant.name,
      tenant.enabled ? "enabled" : "excluded",
      `${tenant.keys.live} of ${tenant.keys.total}`,
      tenant.id,
    ]);
    return table(["tenant", "Helm", "live keys", "id"], rows);
  });
}

export async function createTenant({ config, screen }: Context, name: string): Promise<void> {
  const tenant = await (await requireServer(config)).tenant.create.mutate({ name });
  screen.answer({ type: "tenant", tenant }, () => [
    `Created ${tenant.name}. It is excluded until lifeboat helm tenant enable ${tenant.name}.`,
  ]);
}

export async function setTenant({ config, screen }: Context, name: string, enabled: boolean): Promise<void> {
  const server = await requireServer(config);
  const { id, revision } = await findTenant(server, name);
  const tenant = await server.tenant.setEnabled.mutate({ id, enabled, revision });
  screen.answer({ type: "tenant", tenant }, () => [
    `${tenant.name} is ${tenant.enabled ? "enabled" : "excluded"} (revision ${tenant.revision}).`,
  ]);
}

/** By name or id. Errors: Failure. */
export async function findTenant(
  server: Server,
  name: string,
): Promise<{ id: string; name: string; revision: number }> {
  const tenants = await server.tenant.list.query();
  const found = tenants.find((tenant) => tenant.name === name || tenant.id === name);
  if (found) return found;
  throw new Failure(1, "NOT_FOUND", `There is no tenant "${name}". Look at lifeboat helm tenant list.`);
}
