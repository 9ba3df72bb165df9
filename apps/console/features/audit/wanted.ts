/** Whose kind a change may be of, as the address and the command line name it. */
export const ACTOR_KINDS = [
  { value: "person", name: "people" },
  { value: "host", name: "workers and nodes" },
  { value: "system", name: "Helm itself" },
  { value: "anonymous", name: "nobody signed in" },
] as const;

/** What the address asks for, as the server is asked: days are whole days in UTC, the last one included. */
export function wantedOf(values: Record<string, string>) {
  return {
    actorKind: ACTOR_KINDS.find(({ value }) => value === values.by)?.value,
    actor: values.actor || undefined,
    verb: values.verb || undefined,
    entity: values.entity || undefined,
    entityId: values.thing || undefined,
    requestId: values.request || undefined,
    since: dayOf(values.since),
    until: dayOf(values.until, 1),
  };
}

const DAY_MS = 86_400_000;

function dayOf(text: string | undefined, later = 0): Date | undefined {
  if (!text || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const at = Date.parse(`${text}T00:00:00Z`);
  return Number.isNaN(at) ? undefined : new Date(at + later * DAY_MS);
}

/** The same question on the command line. */
export function auditFlags(values: Record<string, string>): string {
  const flags: [string, string | undefined][] = [
    ["--by", values.by],
    ["--actor", values.actor],
    ["--verb", values.verb],
    ["--entity", values.entity],
    ["--id", values.thing],
    ["--request", values.request],
    ["--since", values.since],
    ["--until", values.until],
  ];
  return flags.map(([flag, value]) => (value ? ` ${flag} ${quoted(value)}` : "")).join("");
}

function quoted(value: string): string {
  return /^[\w@.:+-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`;
}
