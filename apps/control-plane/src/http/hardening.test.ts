import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { CONSOLE_SECRET_HEADER } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig, redactConfig } from "../config";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { joinWorker, registerPair, type TestWorker } from "../testing/worker";
import { callerAddress } from "./caller";

let plane: TestControlPlane;
let worker: TestWorker;

beforeAll(async () => {
  plane = await testControlPlane({ HELM_BODY_MS: "300", HELM_UPLOAD_STALL_MS: "300" });
  worker = await joinWorker(plane);
});
afterAll(() => plane?.stop());

/** Sends raw bytes now and then, and resolves with all that came back once the other side has hung up. */
function sendRaw(head: string, parts: string[], everyMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(plane.url);
    const socket = connect(Number(port), hostname, () => socket.write(head));
    let answer = "";
    const left = [...parts];
    const timer = setInterval(() => {
      const part = left.shift();
      if (part !== undefined) socket.write(part);
    }, everyMs);
    socket.on("data", (data) => {
      answer += data;
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      clearInterval(timer);
      resolve(answer);
    });
    setTimeout(() => reject(new Error(`still open, after: ${answer}`)), 20_000).unref();
  });
}

function post(path: string, length: number, extra = ""): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n${extra}\r\n`;
}

describe("a body that comes slowly", () => {
  it.each([
    ["an endpoint", () => post("/api/worker/claim", 50, `authorization: Bearer ${worker.credential}\r\n`)],
    ["a procedure", () => post("/trpc/setup.createAdministrator", 50, "origin: http://127.0.0.1:3000\r\n")],
    ["a sign-in", () => post("/api/auth/sign-in/email", 50, "origin: http://127.0.0.1:3000\r\n")],
    ["a socket's polling", () => post("/socket.io?EIO=4&transport=polling&sid=none", 50)],
    ["nothing at all", () => post("/nowhere", 50)],
  ])("is hung up on: %s", async (_, head) => {
    // One byte at a time would go on for as long as its sender likes.
    const answer = await sendRaw(head(), Array(400).fill(" "), 50);
    expect(answer === "" || /^HTTP\/1.1 4\d\d /.test(answer)).toBe(true);
  });

  it("may be long where it is an upload, as long as it keeps coming", async () => {
    const path = `/api/worker/artifacts/${"a".repeat(64)}?job=${randomUUID()}&attempt=${randomUUID()}`;
    const put = (length: number) =>
      post(
        path,
        length,
        `authorization: Bearer ${worker.credential}\r\nupload-offset: 0\r\nupload-length: ${length}\r\n`,
      ).replace("POST", "PATCH");
    expect(await sendRaw(put(1000), ["x"], 50)).toMatch(/^HTTP\/1.1 4\d\d /);
  });
});

describe("ids that are none", () => {
  it("are answered 4xx wherever a worker sends them, for calibrations and for inspections", async () => {
    const post = async (path: string, sent: unknown) => {
      const { status } = await plane.request("POST", path, { bearer: worker.credential, json: sent });
      expect([path, status === 400 || status === 404, status]).toEqual([path, true, status]);
    };
    await plane.as("admin").pair.register({ sourceModel: "pilot", targetModel: "target" });
    const inspection = (await worker.claim()).json.id as string;
    const { pairId } = await registerPair(plane, worker, "target", "target");
    await plane.as("operator").calibration.start({ pairId: pairId ?? "", device: "cpu" });
    const run = (await worker.claim({ models: ["target"] })).json.id as string;
    expect(inspection && run).toBeTruthy();
    for (const odd of ["not-a-uuid", "", "0", "'; --", "\u0000", "x".repeat(10_000)]) {
      for (const id of [inspection, run, randomUUID()]) {
        await post(`/api/worker/jobs/${id}/heartbeat`, { attempt: odd, last_seq: 0 });
        await post(`/api/worker/jobs/${id}/finish`, { attempt: odd, outcome: "failed" });
        const event = { v: 1, at: new Date().toISOString(), type: "log", level: "info", message: "x" };
        await post(`/api/worker/jobs/${id}/events`, { job: id, attempt: odd, events: [{ seq: 1, event }] });
      }
      await post(`/api/worker/jobs/${encodeURIComponent(odd || "x")}/heartbeat`, {
        attempt: randomUUID(),
        last_seq: 0,
      });
    }
  });
});

describe("the metrics", () => {
  it("are read with the operator's token, and without one on this machine alone, where nobody else is served", async () => {
    const { config } = plane.services;
    const read = async (headers: Record<string, string> = {}) =>
      (await plane.request("GET", "/metrics", { headers })).status;
    expect(await read()).toBe(200);
    for (const header of ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
      expect(await read({ [header]: "127.0.0.1" })).toBe(401);
    const { bind, publicUrl } = config;
    // Behind a proxy of this machine that says nothing of itself, everyone comes from this machine.
    for (const beyond of [{ publicUrl: "https://helm.example.com" }, { bind: "0.0.0.0" }]) {
      Object.assign(config, beyond);
      expect(await read()).toBe(401);
      Object.assign(config, { bind, publicUrl });
    }
    expect(await read()).toBe(200);
    config.metricsToken = "an-operator's-token";
    for (const given of ["", `Bearer ${worker.credential}`, `Bearer ${config.metricsToken}x`])
      expect(await read(given ? { authorization: given } : {})).toBe(401);
    expect(await read({ authorization: `Bearer ${config.metricsToken}` })).toBe(200);
    expect(JSON.stringify(redactConfig(config))).not.toContain(config.metricsToken);
    config.metricsToken = undefined;
  });
});

describe("a forwarded address", () => {
  const from = (remoteAddress: string, forwarded?: string, secret?: string) =>
    ({
      socket: { remoteAddress },
      headers: { "x-forwarded-for": forwarded, [CONSOLE_SECRET_HEADER]: secret },
    }) as unknown as IncomingMessage;
  const required = { DATABASE_URL: "postgresql://a@b/c", HELM_AUTH_SECRET: "s".repeat(32) };
  const CONSOLE = "the console's secret of this installation".replaceAll(" ", "-");

  it("is believed from nobody by default, loopback included", () => {
    for (const remote of ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.1"])
      for (const secret of [undefined, "", "undefined"])
        expect(callerAddress(from(remote, "203.0.113.9", secret), readConfig(required))).toBe(
          remote.replace("::ffff:", ""),
        );
  });

  it("is believed from the console, which proves itself, and only what it wrote", () => {
    const config = readConfig({ ...required, HELM_CONSOLE_SECRET: CONSOLE });
    expect(callerAddress(from("127.0.0.1", "203.0.113.9", CONSOLE), config)).toBe("203.0.113.9");
    expect(callerAddress(from("10.0.0.7", "1.1.1.1, 203.0.113.9", CONSOLE), config)).toBe("203.0.113.9");
    // Forged through the console: what it adds stands at the end.
    expect(callerAddress(from("127.0.0.1", "1.1.1.1, 127.0.0.1", CONSOLE), config)).toBe("127.0.0.1");
    for (const wrong of [undefined, "", CONSOLE.slice(1), `${CONSOLE}x`])
      expect(callerAddress(from("127.0.0.1", "203.0.113.9", wrong), config)).toBe("127.0.0.1");
    expect(() => readConfig({ ...required, HELM_CONSOLE_SECRET: "short" })).toThrow(/HELM_CONSOLE_SECRET/);
  });

  it("is believed from a configured proxy, back to the first that is none", () => {
    const config = { consoleSecret: CONSOLE, trustedProxies: ["127.0.0.1", "10.0.0.2"] };
    expect(callerAddress(from("::ffff:127.0.0.1", "203.0.113.9"), config)).toBe("203.0.113.9");
    expect(callerAddress(from("127.0.0.1", "1.1.1.1, 203.0.113.9, 10.0.0.2"), config)).toBe("203.0.113.9");
    expect(callerAddress(from("127.0.0.1", "203.0.113.9, 10.0.0.2", CONSOLE), config)).toBe("203.0.113.9");
    expect(callerAddress(from("192.0.2.1", "203.0.113.9"), config)).toBe("192.0.2.1");
    expect(callerAddress(from("127.0.0.1", "not an address"), config)).toBe("127.0.0.1");
    expect(callerAddress(from("127.0.0.1"), config)).toBe("127.0.0.1");
    expect(callerAddress(from("127.0.0.1", "127.0.0.1"), config)).toBe("127.0.0.1");
  });

  it("comes from addresses, not from names", () => {
    expect(() => readConfig({ ...required, HELM_TRUSTED_PROXIES: "proxy.example" })).toThrow(
      /HELM_TRUSTED_PROXIES/,
    );
    expect(readConfig({ ...required, HELM_TRUSTED_PROXIES: "10.0.0.1, ::1" }).trustedProxies).toEqual([
      "10.0.0.1",
      "::1",
    ]);
  });
});
