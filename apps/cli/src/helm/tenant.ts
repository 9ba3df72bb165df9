import { nearestName, TENANT_NAME_RULE, TenantName } from "@helm/contracts";
import type { Context } from "../context";
import { Failure, usage } from "../failure";
import { requireServer, type Server } from "../server/client";
import { table } from "../terminal/style";
import { flag, numberOf, pick, revisionOf, wholeOf } from "./given";

/** What a tenant may have of its own, as a person writes it; "route" gives it back to the route. */
const OVERRIDES = {
  streaming: {
    field: "streaming",
    read: (text: string) => pick(text, ["buffer", "window", "stream"] as const),
  },
  window: { field: "window", read: wholeOf },
  "mean-logprob": { field: "meanLogprob", read: numberOf },
  "min-logprob": { field: "minLogprob", read: numberOf },
  "transfer-off": { field: "transferOff", read: flag },
  "max-concurrent": { field: "maxConcurrent", read: wholeOf },
} as const;

export const OVERRIDE_KEYS = Object.keys(OVERRIDES);

export async function listTenants(
  { config, screen }: Context,
  filter: { archived?: boolean; search?: string } = {},
): Promise<void> {
  const server = await requireServer(config);
  const tenants = await server.tenant.list.query({
    archived: filter.archived ?? false,
    search: filter.search,
  });
  screen.answer({ type: "tenants", tenants }, () => {
    if (tenants.length === 0)
      return [
        filter.search || filter.archived
          ? "No tenant matches."
          : "No tenant yet. Create one with lifeboat helm tenant create NAME.",
      ];
    const rows = tenants.map((tenant) => [
      tenant.name,
      tenant.archivedAt ? "archived" : tenant.enabled ? "enabled" : "excluded",
      `${tenant.keys.live} of ${tenant.keys.total}`,
      String(tenant.revision),
      tenant.id,
    ]);
    return table(["tenant", "Helm", "live keys", "revision", "id"], rows);
  });
}

/** What holds for it and whose word each value is. */
export async function showTenant({ config, screen }: Context, name: string): Promise<void> {
  const server = await requireServer(config);
  const tenant = await findTenant(server, name);
  const effective = await server.tenant.effective.query({ id: tenant.id });
  screen.answer({ type: "tenant", tenant, effective }, () => [
    `${tenant.name}: ${effective.helm.sentence} (revision ${tenant.revision})`,
    ...effective.routes.flatMap((route) => [
      "",
      `${route.name}, ${route.pairName}${route.refusal ? `, not used: ${route.refusal}` : ""}`,
      ...table(
        ["setting", "value", "comes from"],
        route.settings.map(({ name: setting, value, from }) => [setting, value, from]),
      ),
    ]),
  ]);
}

export async function createTenant({ config, screen }: Context, name: string): Promise<void> {
  requireTenantName(name);
  const tenant = await (await requireServer(config)).tenant.create.mutate({ name });
  screen.answer({ type: "tenant", tenant }, () => [
    `Created ${tenant.name}. It is excluded until lifeboat helm tenant enable ${tenant.name}.`,
  ]);
}

/** Errors: usage, with a name that would do. */
function requireTenantName(name: string): void {
  if (TenantName.safeParse(name).success) return;
  const nearest = nearestName(name);
  const instead = nearest ? ` ${nearest} would do.` : "";
  throw usage(`"${name}" is no name of a tenant. ${TENANT_NAME_RULE}${instead}`);
}

export async function setTenant(
  { config, screen }: Context,
  name: string,
  enabled: boolean,
  given?: number,
): Promise<void> {
  const server = await requireServer(config);
  const found = await findTenant(server, name);
  const revision = await revisionOf(given, async () => found);
  const tenant = await server.tenant.setEnabled.mutate({ id: found.id, enabled, revision });
  screen.answer({ type: "tenant", tenant }, () => [
    `${tenant.name} is ${tenant.enabled ? "enabled" : "excluded"} (revision ${tenant.revision}).`,
  ]);
}

export async function renameTenant(
  { config, screen }: Context,
  name: string,
  newName: string,
  given?: number,
): Promise<void> {
  requireTenantName(newName);
  const server = await requireServer(config);
  const { id, revision } = await findTenant(server, name);
  const tenant = await server.tenant.update.mutate({ id, name: newName, revision: given ?? revision });
  screen.answer({ type: "tenant", tenant }, () => [
    `${name} is ${tenant.name} now (revision ${tenant.revision}).`,
  ]);
}

export async function overrideTenant(
  { config, screen }: Context,
  name: string,
  key: string,
  value: string,
  given?: number,
): Promise<void> {
  const known = OVERRIDES[key as keyof typeof OVERRIDES];
  if (!known) throw usage(`A tenant has no ${key} of its own. There are: ${OVERRIDE_KEYS.join(", ")}.`);
  const change = { [known.field]: value === "route" ? null : known.read(value) };
  const server = await requireServer(config);
  const { id, revision } = await findTenant(server, name);
  const tenant = await server.tenant.update.mutate({ id, ...change, revision: given ?? revision });
  screen.answer({ type: "tenant", tenant }, () => [
    value === "route"
      ? `${tenant.name} goes by the route's ${key} again (revision ${tenant.revision}).`
      : `${tenant.name} has ${key} ${value} of its own (revision ${tenant.revision}).`,
  ]);
}

/** Whether traces of its requests hold prompt and answer, for so many hours; null withdraws and deletes what is kept. */
export async function setTraceText(
  { config, screen }: Context,
  name: string,
  hours: number | null,
  given?: number,
): Promise<void> {
  const server = await requireServer(config);
  const { id, revision } = await findTenant(server, name);
  const tenant = await server.tenant.setTraceText.mutate({ id, hours, revision: given ?? revision });
  screen.answer({ type: "tenant", tenant }, () => [
    tenant.traceTextUntil
      ? `Traces of ${tenant.name} hold prompt and answer until ${tenant.traceTextUntil.toISOString()} (revision ${tenant.revision}).`
      : `Traces of ${tenant.name} hold no text, and what was kept is deleted (revision ${tenant.revision}).`,
  ]);
}

/** Archived, with its keys revoked and its counts kept; `forGood` removes one that never called. */
export async function removeTenant(
  { config, screen }: Context,
  name: string,
  options: { forGood: boolean; revision?: number },
): Promise<void> {
  const server = await requireServer(config);
  const { id, revision } = await findTenant(server, name);
  const edit = { id, revision: options.revision ?? revision };
  if (options.forGood) {
    const removed = await server.tenant.remove.mutate(edit);
    screen.answer({ type: "removed", ...removed }, () => [`${removed.name} is removed for good.`]);
    return;
  }
  const tenant = await server.tenant.archive.mutate(edit);
  screen.answer({ type: "tenant", tenant }, () => [
    `${tenant.name} is archived: its keys are revoked, its counts stay (revision ${tenant.revision}).`,
  ]);
}

export async function restoreTenant({ config, screen }: Context, name: string): Promise<void> {
  const server = await requireServer(config);
  const { id, revision } = await findTenant(server, name);
  const tenant = await server.tenant.restore.mutate({ id, revision });
  screen.answer({ type: "tenant", tenant }, () => [
    `${tenant.name} is restored, excluded and without a live key (revision ${tenant.revision}).`,
  ]);
}

/** By name or id, archived ones too. Errors: Failure. */
export async function findTenant(
  server: Server,
  name: string,
): Promise<{ id: string; name: string; enabled: boolean; revision: number }> {
  for (const archived of [false, true]) {
    const tenants = await server.tenant.list.query({ archived });
    const found = tenants.find((tenant) => tenant.name === name || tenant.id === name);
    if (found) return found;
  }
  throw new Failure(1, "NOT_FOUND", `There is no tenant "${name}". Look at lifeboat helm tenant list.`);
}
