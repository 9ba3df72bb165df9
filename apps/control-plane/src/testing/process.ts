import { type ChildProcess, spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { MIGRATIONS } from "@helm/db/testing";
import { build } from "esbuild";
import superjson from "superjson";
import { appRouter } from "../router";
import type { TestControlPlane } from "./control-plane";
import { SETUP_TOKEN } from "./names";
import { type RequestOptions, request } from "./request";

const MAIN = fileURLToPath(new URL("../main.ts", import.meta.url));
const BUNDLE = fileURLToPath(new URL(`../../dist/testing/main-${process.pid}.mjs`, import.meta.url));
/** A machine that is busy with other things takes its time. */
const PATIENCE_MS = 150_000;

export const AUTH_SECRET = "a secret of tests that is long enough";

export interface ProcessOptions {
  databaseUrl: string;
  stateDir: string;
  env?: Record<string, string>;
  /** The bundle instead of the source. */
  main?: string;
}

type Caller = ReturnType<TestControlPlane["as"]>;

/** A control plane in a process of its own, as `npm start` runs one. */
export async function controlPlaneProcess({ databaseUrl, stateDir, env = {}, main }: ProcessOptions) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let output = "";
  const child: ChildProcess = spawn(process.execPath, [main ?? (await bundled())], {
    env: {
      PATH: process.env.PATH,
      HELM_PORT: String(port),
      DATABASE_URL: databaseUrl,
      HELM_STATE_DIR: stateDir,
      HELM_MIGRATIONS_DIR: MIGRATIONS,
      HELM_AUTH_SECRET: AUTH_SECRET,
      HELM_SETUP_TOKEN: SETUP_TOKEN,
      HELM_AUTH_RATE_LIMIT: "false",
      HELM_LOG_LEVEL: "info",
      HELM_PARENT_PID: String(process.pid),
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout?.on("data", (chunk: Buffer) => (output += chunk));
  child.stderr?.on("data", (chunk: Buffer) => (output += chunk));
  const ended = new Promise<number | string>((resolve) =>
    child.once("exit", (code, signal) => resolve(signal ?? code ?? 0)),
  );
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return {
    url,
    pid: child.pid ?? 0,
    ended,
    output: () => output,
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
    request: (method: string, path: string, options: RequestOptions = {}) =>
      request(url, method, path, options),
    /** The router's procedures over HTTP, as the person with this token. */
    caller: (token: string) => httpCaller(url, token),
    /** Errors: what it printed where it ended instead. */
    ready: async () => {
      const until = Date.now() + PATIENCE_MS;
      for (;;) {
        const answer = await fetch(`${url}/api/health`).catch(() => null);
        if (answer?.ok) return;
        const how = await Promise.race([
          ended,
          new Promise<null>((resolve) => setTimeout(() => resolve(null), 50)),
        ]);
        if (how !== null || Date.now() > until)
          throw new Error(`control plane ${how ?? "is silent"}: ${output}`);
      }
    },
  };
}

export type ControlPlaneProcess = Awaited<ReturnType<typeof controlPlaneProcess>>;

let bundling: Promise<string> | undefined;

/** Once for all processes of a file: to translate the source again for each takes longer than the tests. */
function bundled(): Promise<string> {
  bundling ??= build({
    entryPoints: [MAIN],
    outfile: BUNDLE,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    logLevel: "warning",
    plugins: [
      {
        name: "registry packages stay outside",
        setup: ({ onResolve }) =>
          onResolve({ filter: /^[^./]/ }, ({ kind, path }) =>
            kind === "entry-point" || path.startsWith("@helm/") ? undefined : { path, external: true },
          ),
      },
    ],
  }).then(() => {
    process.once("exit", () => rmSync(BUNDLE, { force: true }));
    return BUNDLE;
  });
  return bundling;
}

function httpCaller(url: string, token: string): Caller {
  const procedures = appRouter._def.procedures as unknown as Record<string, { _def: { type: string } }>;
  const call = async (path: string, input: unknown) => {
    const body = superjson.serialize(input);
    const get = procedures[path]?._def.type === "query";
    const query = input === undefined ? "" : `?input=${encodeURIComponent(JSON.stringify(body))}`;
    const answer = await fetch(`${url}/trpc/${path}${get ? query : ""}`, {
      method: get ? "GET" : "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: get ? undefined : JSON.stringify(body),
    });
    const json = (await answer.json()) as {
      result?: { data: Parameters<typeof superjson.deserialize>[0] };
      error?: { json: { message: string; data: { code: string } } };
    };
    if (json.error)
      throw Object.assign(new Error(json.error.json.message), { code: json.error.json.data.code });
    return json.result && superjson.deserialize(json.result.data);
  };
  const level = (path: string[]): unknown =>
    new Proxy(() => {}, {
      get: (_, name) => level([...path, String(name)]),
      apply: (_, __, [input]) => call(path.join("."), input),
    });
  return level([]) as Caller;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (typeof address !== "object" || !address) throw new Error("no port");
  return address.port;
}
