import type { Context } from "../context";
import { minute } from "../terminal/style";
import { findServer, requireServer } from "./client";

/** Who the server takes this command line for, and by what. */
export async function whoami({ config, screen }: Context): Promise<void> {
  const server = await requireServer(config);
  const account = await server.account.get.query();
  const url = (await findServer(config))?.url ?? "";
  screen.answer({ type: "whoami", url, ...account }, () => [
    `${account.email} (${account.name}), role ${account.role}, at ${url}`,
    account.token
      ? `by the personal token ${account.token.name} (${account.token.start}...), until ${minute(account.token.expiresAt)} UTC`
      : "by a session from lifeboat login",
  ]);
}
