import { ExitCode, MOST_CALLS_A_REQUEST } from "@helm/contracts";
import type { AppRouter } from "@helm/control-plane/router";
import { createTRPCClient, httpBatchLink, TRPCClientError } from "@trpc/client";
import superjson from "superjson";
import { z } from "zod";
import type { CliConfig } from "../config";
import { Failure } from "../failure";
import { readSession } from "./session-file";

export type Server = ReturnType<typeof connect>;

/** The server that is configured: LIFEBOAT_URL with LIFEBOAT_TOKEN, else the last `lifeboat login`. */
export async function findServer(config: CliConfig): Promise<{ url: string; token: string } | null> {
  const session = await readSession(config.sessionFile);
  const url = config.url ?? session?.url;
  if (url === undefined) return null;
  const token = config.token ?? (session?.url === url ? session.token : undefined);
  if (token === undefined) {
    throw new Failure(
      1,
      "SIGNED_OUT",
      `You are not signed in to ${url}. Run lifeboat login ${url}, or set LIFEBOAT_TOKEN.`,
    );
  }
  return { url, token };
}

/** Errors: Failure where no server is configured. */
export async function requireServer(config: CliConfig): Promise<Server> {
  const found = await findServer(config);
  if (!found) {
    throw new Failure(
      ExitCode.usage,
      "NO_SERVER",
      "No server is configured. Run lifeboat login URL with the console's address, or set LIFEBOAT_URL and LIFEBOAT_TOKEN.",
    );
  }
  return connect(found);
}

export function connect({ url, token }: { url: string; token: string }) {
  const link = httpBatchLink({
    url: new URL("/trpc", url).href,
    transformer: superjson,
    maxItems: MOST_CALLS_A_REQUEST,
    headers: { authorization: `Bearer ${token}` },
  });
  return createTRPCClient<AppRouter>({ links: [link] });
}

const HelmData = z.object({
  helm: z.object({
    code: z.string(),
    userMessage: z.string(),
    details: z.record(z.string(), z.unknown()).default({}),
    requestId: z.string().default(""),
  }),
});

/** What a call to the server ran into, as a person is told it. */
export function toFailure(error: TRPCClientError<AppRouter>): Failure {
  const parsed = HelmData.safeParse(error.data);
  if (!parsed.success) {
    return new Failure(
      1,
      "SERVER_UNREACHABLE",
      `The server cannot be reached (${reasonOf(error)}). Check LIFEBOAT_URL and that it runs.`,
    );
  }
  const { code, userMessage, details, requestId } = parsed.data.helm;
  const next: Record<string, string> = {
    UNAUTHENTICATED: " Run lifeboat login, or set LIFEBOAT_TOKEN.",
    INTERNAL: ` Request ${requestId}; the server's log has the rest.`,
  };
  const stated = typeof details.exitCode === "number" ? details.exitCode : null;
  const exitCode = stated ?? (code === "BAD_REQUEST" ? ExitCode.usage : 1);
  return new Failure(exitCode, code, `${userMessage}${next[code] ?? ""}`, [], details);
}

export function isServerError(error: unknown): error is TRPCClientError<AppRouter> {
  return error instanceof TRPCClientError;
}

/** Nothing came back at all: worth asking again while following a run. */
export function isAbsence(error: unknown): boolean {
  return isServerError(error) && !HelmData.safeParse(error.data).success;
}

function reasonOf(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error;
  const inner = cause.cause instanceof Error ? cause.cause : cause;
  return (inner as NodeJS.ErrnoException).code ?? inner.message;
}
