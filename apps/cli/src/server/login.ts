import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { TOKEN_PREFIX } from "@helm/contracts";
import { HostClient, HostRequestError } from "@helm/host";
import { z } from "zod";
import type { Context } from "../context";
import { Failure, usage } from "../failure";
import { formatDuration } from "../terminal/style";
import { connect } from "./client";
import { readSession, removeSession, type Session, UnreadableSession, writeSession } from "./session-file";

/** Signs in with e-mail and password and keeps the session's token for its owner alone. */
export async function login(
  context: Context,
  address: string,
  options: { email?: string; passwordStdin?: boolean; token?: string },
): Promise<void> {
  const { config, screen } = context;
  const url = z.url().safeParse(address);
  if (!url.success) throw usage(`${address} is no address such as http://127.0.0.1:3000.`);
  const origin = new URL(url.data).origin;
  if (options.token !== undefined) return loginByToken(context, origin, options.token);
  const email = options.email ?? (await ask("E-mail: ", false));
  const password = options.passwordStdin ? await readAll(process.stdin) : await ask("Password: ", true);
  const token = await signIn(origin, email, password);
  await writeSession(config.sessionFile, { url: origin, token, email });
  screen.answer({ type: "login", url: origin, email }, () => [`Signed in to ${origin} as ${email}.`]);
}

/** Keeps a personal token, once the server has said whose it is. Never from the command line: others can read that. */
async function loginByToken({ config, screen }: Context, origin: string, given: string): Promise<void> {
  if (given !== "-")
    throw usage("A token on the command line can be read by others. Pipe it in, and give --token -.");
  const token = (await readAll(process.stdin)).trim();
  if (!token.startsWith(TOKEN_PREFIX))
    throw usage(`That is no personal token: one begins with ${TOKEN_PREFIX}. Nothing was stored.`);
  const { email } = await connect({ url: origin, token }).account.get.query();
  await writeSession(config.sessionFile, { url: origin, token, email });
  screen.answer({ type: "login", url: origin, email }, () => [
    `${origin} takes this token for ${email}. It is kept for you alone.`,
  ]);
}

/**
 * Ends the session on the server and forgets it here. The token leaves this computer either way; a server that could
 * not be told is a failure, since the session lives on there.
 */
export async function logout({ config, screen }: Context): Promise<void> {
  const session = await readSession(config.sessionFile).catch((error: unknown) => {
    if (!(error instanceof UnreadableSession)) throw error;
    throw new Failure(
      1,
      "SESSION_UNREADABLE",
      `${error.message} If there was a session, it lasts on the server until it expires: end it on your account page.`,
    );
  });
  await removeSession(config.sessionFile);
  if (session === null) {
    screen.answer({ type: "logout", url: null }, () => ["There was no sign-in on this computer."]);
    return;
  }
  if (session.token.startsWith(TOKEN_PREFIX)) {
    screen.answer({ type: "logout", url: session.url }, () => [
      `The token for ${session.url} is gone from this computer. It still works where else it is kept; lifeboat helm token revoke ends it.`,
    ]);
    return;
  }
  const status = await endSession(session);
  // Whom the server does not know any more has no session left to end.
  if (status === 200 || status === 401) {
    screen.answer({ type: "logout", url: session.url }, () => [`Signed out of ${session.url}.`]);
    return;
  }
  const why = status === 0 ? "cannot be reached" : `answered ${status}`;
  throw new Failure(
    1,
    "SIGN_OUT_INCOMPLETE",
    `The sign-in is gone from this computer, but ${session.url} ${why}: its session there lasts until it expires.`,
  );
}

/** The server's answer to the end of a session, 0 where there was none. */
async function endSession({ url, token }: Session): Promise<number> {
  const client = new HostClient({ controlUrl: url, credential: token });
  try {
    const response = await client.open("POST", "/api/auth/sign-out", { json: {} });
    await response.body.dump();
    return 200;
  } catch (error) {
    if (error instanceof HostRequestError) return error.status;
    throw error;
  } finally {
    await client.close();
  }
}

async function signIn(origin: string, email: string, password: string): Promise<string> {
  // Not by fetch: it marks its requests as a browser's, and of those the server asks for an origin.
  const client = new HostClient({ controlUrl: origin });
  try {
    const response = await client.open("POST", "/api/auth/sign-in/email", { json: { email, password } });
    await response.body.dump();
    const token = response.headers["set-auth-token"];
    if (typeof token === "string") return token;
    throw new Failure(1, "SIGN_IN_FAILED", `${origin} signs in but gives no token: it is no Helm server.`);
  } catch (error) {
    throw error instanceof HostRequestError ? refused(origin, error) : error;
  } finally {
    await client.close();
  }
}

function refused(origin: string, { status, details }: HostRequestError): Failure {
  switch (status) {
    case 0:
      return new Failure(
        1,
        "SERVER_UNREACHABLE",
        `${origin} cannot be reached. Check the address and that the server runs.`,
      );
    case 401:
      return new Failure(1, "SIGN_IN_REFUSED", "E-mail or password is wrong.");
    case 429:
      return new Failure(1, "RATE_LIMITED", `Too many tries. Wait ${waitWords(details)} and try again.`);
    case 403:
      return new Failure(1, "DISABLED", `${origin} does not let this account in. Ask an administrator.`);
    default:
      return new Failure(
        1,
        "SIGN_IN_FAILED",
        `${origin} answered the sign-in with ${status}: it is no Helm server, or not ready.`,
      );
  }
}

function waitWords({ retryAfterMs }: Record<string, unknown>): string {
  return typeof retryAfterMs === "number" ? formatDuration(retryAfterMs / 1000) : "a minute";
}

async function ask(question: string, hidden: boolean): Promise<string> {
  if (!process.stdin.isTTY) throw usage("There is no terminal to ask on. Give --email and --password-stdin.");
  let silent = false;
  const output = new Writable({
    write(chunk, _encoding, done) {
      if (!silent) process.stderr.write(chunk);
      done();
    },
  });
  const reader = createInterface({ input: process.stdin, output, terminal: true });
  try {
    const answer = reader.question(question);
    silent = hidden;
    return (await answer).trim();
  } finally {
    reader.close();
    if (hidden) process.stderr.write("\n");
  }
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}
