import { TOKEN_DAYS } from "@helm/contracts";
import type { Command } from "commander";
import type { Context } from "../context";
import { Failure, usage } from "../failure";
import { requireServer } from "../server/client";
import { minute, table } from "../terminal/style";
import type { AddVerb } from "../verb";

/** `helm token ...`: one's own personal tokens; tenants' keys are another noun. */
export function addToken(helm: Command, verb: AddVerb): void {
  const token = helm.command("token").description("your personal tokens, for LIFEBOAT_TOKEN");
  verb(token, "list", "your tokens by their beginning", (c, _, o) => listTokens(c, o.all === true)).option(
    "--all",
    "everyone's (administrators)",
  );
  verb(token, "create <name>", "a new token, shown once", (c, [name = ""], o) =>
    createToken(c, name, String(o.days)),
  ).option("--days <n>", `how long it lasts, at most ${TOKEN_DAYS.max}`, String(TOKEN_DAYS.usual));
  verb(token, "revoke <token>", "end a token for good, by id, name or beginning", (c, [which = ""]) =>
    revokeToken(c, which),
  );
}

async function listTokens({ config, screen }: Context, all: boolean): Promise<void> {
  const server = await requireServer(config);
  const tokens = await (all ? server.token.listAll.query() : server.token.list.query());
  screen.answer({ type: "tokens", tokens }, () => {
    if (tokens.length === 0) return ["No token yet. Create one with lifeboat helm token create NAME."];
    return table(
      ["token", "name", ...(all ? ["person"] : []), "state", "expires (UTC)", "last use (UTC)", "id"],
      tokens.map((token) => [
        `${token.start}...`,
        token.name,
        ...(all ? [token.person.email] : []),
        token.state,
        minute(token.expiresAt),
        minute(token.lastUsedAt),
        token.id,
      ]),
    );
  });
}

async function createToken({ config, screen }: Context, name: string, given: string): Promise<void> {
  const days = Number(given);
  if (!Number.isInteger(days) || days < TOKEN_DAYS.min || days > TOKEN_DAYS.max)
    throw usage(`--days ${given} is no whole number from ${TOKEN_DAYS.min} to ${TOKEN_DAYS.max}.`);
  const created = await (await requireServer(config)).token.create.mutate({ name, days });
  screen.answer({ type: "token", ...created }, () => [
    created.token,
    `This token is shown once, and lasts until ${minute(created.expiresAt)} UTC. Set LIFEBOAT_TOKEN to it.`,
  ]);
}

async function revokeToken({ config, screen }: Context, which: string): Promise<void> {
  const server = await requireServer(config);
  const id = /^[0-9a-f-]{36}$/i.test(which) ? which : await findOwn(server, which);
  const revoked = await server.token.revoke.mutate({ id });
  screen.answer({ type: "token", ...revoked }, () => [`Revoked at ${revoked.revokedAt.toISOString()}.`]);
}

async function findOwn(server: Awaited<ReturnType<typeof requireServer>>, which: string): Promise<string> {
  const start = which.replace(/\.+$/, "");
  const found = (await server.token.list.query()).filter(
    (token) => token.revokedAt === null && (token.name === which || token.start === start),
  );
  const [only] = found;
  if (only && found.length === 1) return only.id;
  throw new Failure(
    1,
    "NOT_FOUND",
    found.length > 1
      ? `${found.length} of your live tokens are called "${which}". Give the id from lifeboat helm token list.`
      : `You have no live token "${which}". Look at lifeboat helm token list.`,
  );
}
