import { ROUTE_NAME_RULE, TENANT_NAME_RULE } from "@helm/contracts";
import type { Command } from "commander";
import type { AddVerb } from "../../verb";
import { optionalRevision, wholeOf } from "../given";
import { createKey, listKeys, revokeKey, rotateKey } from "../key";
import { createRoute, listRoutes, removeRoute, setRoute, showRoute } from "../route";
import { SETTING_KEYS, setHelm, setKillSwitch, setSetting, showSetting } from "../setting";
import {
  createTenant,
  listTenants,
  OVERRIDE_KEYS,
  overrideTenant,
  removeTenant,
  renameTenant,
  restoreTenant,
  setTenant,
  setTraceText,
  showTenant,
} from "../tenant";

type Given = string | boolean | undefined;
const textOf = (value: Given) => (typeof value === "string" ? value : undefined);

const REVISION = "--revision <n>";
const SEEN = "store only over this revision; without it over what stands now, and a conflict is reported";

/** Who calls, by what key, over which route, and under which settings. */
export function addAccess(helm: Command, verb: AddVerb): void {
  addTenants(helm, verb);
  addKeys(helm, verb);
  addRoutes(helm, verb);
  addSettings(helm, verb);
}

function addTenants(helm: Command, verb: AddVerb): void {
  const tenant = helm.command("tenant").description("who calls");
  verb(tenant, "list", "every tenant", (c, _, o) =>
    listTenants(c, { archived: o.archived === true, search: textOf(o.search) }),
  )
    .option("--search <text>", "part of the name")
    .option("--archived", "those that were put away");
  verb(tenant, "show <name>", "what holds for it, and where each value comes from", (c, [n = ""]) =>
    showTenant(c, n),
  );
  verb(
    tenant,
    "create <name>",
    `a new tenant, excluded at first. Its name: ${TENANT_NAME_RULE}`,
    (c, [n = ""]) => createTenant(c, n),
  );
  verb(tenant, "rename <name> <new-name>", "keys and counts stay with it", (c, [n = "", to = ""], o) =>
    renameTenant(c, n, to, optionalRevision(o.revision)),
  ).option(REVISION, SEEN);
  verb(tenant, "enable <name>", "let its requests use Helm", (c, [n = ""], o) =>
    setTenant(c, n, true, optionalRevision(o.revision)),
  ).option(REVISION, SEEN);
  verb(tenant, "disable <name>", "exclude it from Helm", (c, [n = ""], o) =>
    setTenant(c, n, false, optionalRevision(o.revision)),
  ).option(REVISION, SEEN);
  verb(
    tenant,
    "set <name> <key> <value>",
    `one of ${OVERRIDE_KEYS.join(", ")}; "route" gives it back to the route`,
    (c, [n = "", key = "", value = ""], o) => overrideTenant(c, n, key, value, optionalRevision(o.revision)),
  )
    .option(REVISION, SEEN)
    .allowUnknownOption();
  verb(
    tenant,
    "trace-text <name> <hours>",
    'let traces hold prompt and answer for so many hours; "off" withdraws',
    (c, [n = "", h = ""], o) =>
      setTraceText(c, n, h === "off" ? null : wholeOf(h), optionalRevision(o.revision)),
  ).option(REVISION, SEEN);
  verb(tenant, "remove <name>", "archive it: its keys are revoked, its counts stay", (c, [n = ""], o) =>
    removeTenant(c, n, { forGood: o.forGood === true, revision: optionalRevision(o.revision) }),
  )
    .option("--for-good", "one that never called: gone with its keys")
    .option(REVISION, SEEN);
  verb(tenant, "restore <name>", "take it out of the archive, excluded", (c, [n = ""]) =>
    restoreTenant(c, n),
  );
}

function addKeys(helm: Command, verb: AddVerb): void {
  const key = helm.command("key").description("API keys of a tenant");
  verb(key, "list <tenant>", "its keys by prefix", (c, [n = ""]) => listKeys(c, n));
  verb(key, "create <tenant> <name>", "a new key, shown once", (c, [t = "", n = ""], o) =>
    createKey(c, t, n, textOf(o.expires)),
  ).option("--expires <date>", "when it ends by itself");
  verb(
    key,
    "rotate <key>",
    "a new key takes over; the old one, by prefix or id, ends later",
    (c, [k = ""], o) => rotateKey(c, k, { grace: textOf(o.grace), expires: textOf(o.expires) }),
  )
    .option("--grace <time>", "how long both work, such as 0, 1h or 7d (default 24h)")
    .option("--expires <date>", "when the new one ends by itself");
  verb(key, "revoke <key>", "end a key for good, by prefix or id", (c, [k = ""]) => revokeKey(c, k));
}

function addRoutes(helm: Command, verb: AddVerb): void {
  const route = helm.command("route").description("model names of ours, each with a pair");
  const fields = (command: Command) =>
    command
      .option("--pair <source:target>", "its pair")
      .option("--mean-logprob <x>", "escalate where an answer's mean is below")
      .option("--min-logprob <x>", "escalate where one token is below")
      .option("--judge <table>", "a judge's table, by id or digest; none: the two bounds judge")
      .option("--escalation-rate <share>", "with a table: escalate this share of requests, e.g. 0.2")
      .option("--quality-floor <share>", "with a table: escalate as little as keeps this quality, e.g. 0.95")
      .option("--streaming <mode>", "buffer, window or stream")
      .option("--window <n>", "tokens held back")
      .option("--max-tokens <n>", "where a request names none")
      .option("--hold-turns <n>", "answers of the target before the pilot is asked again; never")
      .option("--max-switches <n>", "how often a conversation's cache is carried across")
      .option("--share-kept <p>", "probability that a kept answer is also given by the target")
      .option("--share-escalated <p>", "probability that an escalated one is also prefilled by the target")
      .option("--share-forced <p>", "probability that a sure answer is escalated all the same");
  verb(route, "list", "every route, the default one first", (c) => listRoutes(c));
  verb(route, "show <name>", "one route, and on how many nodes it is ready", (c, [n = ""]) =>
    showRoute(c, n),
  );
  fields(
    verb(route, "create <name>", `a further route. Its name: ${ROUTE_NAME_RULE}`, (c, [n = ""], o) =>
      createRoute(c, n, o),
    ),
  );
  fields(
    verb(route, "set <name>", "change a route; says what the change does", (c, [n = ""], o) =>
      setRoute(c, n, o),
    ),
  )
    .option("--rename <name>", "refused while an API key is valid")
    .option("--dry-run", "say what it would do, and store nothing")
    .option(REVISION, SEEN);
  verb(route, "remove <name>", "clients that ask for it get 404", (c, [n = ""], o) =>
    removeRoute(c, n, optionalRevision(o.revision)),
  ).option(REVISION, SEEN);
}

function addSettings(helm: Command, verb: AddVerb): void {
  const setting = helm.command("setting").description("the switch, the gate, the kill switch");
  verb(setting, "get", "what is set", (c) => showSetting(c)).alias("show");
  verb(setting, "set <key> <value>", `one of ${SETTING_KEYS.join(", ")}`, (c, [key = "", value = ""], o) =>
    setSetting(c, key, value, { revision: optionalRevision(o.revision), dryRun: o.dryRun === true }),
  )
    .option("--dry-run", "say what it would do, and store nothing")
    .option(REVISION, SEEN);
  verb(setting, "enable", "switch Helm on", (c, _, o) =>
    setHelm(c, true, optionalRevision(o.revision)),
  ).option(REVISION, SEEN);
  verb(setting, "disable", "switch Helm off", (c, _, o) =>
    setHelm(c, false, optionalRevision(o.revision)),
  ).option(REVISION, SEEN);
  verb(setting, "kill", "pull the kill switch at once, and say which nodes took it", (c) =>
    setKillSwitch(c, true),
  );
  verb(setting, "unkill", "release the kill switch", (c, _, o) =>
    setKillSwitch(c, false, optionalRevision(o.revision)),
  ).option(REVISION, SEEN);
}
