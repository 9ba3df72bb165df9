import { randomBytes, randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { cuttingProxy } from "../testing/cutting-proxy";
import { until } from "../testing/until";
import { joinWorker, registerPair, runEvents, sha256, type TestWorker } from "../testing/worker";

const MAX = 8_000_000;
let control: TestControlPlane;
let worker: TestWorker;
let job: { id: string; attempt: string };

beforeAll(async () => {
  control = await testControlPlane({
    HELM_LEASE_MS: "60000",
    HELM_ARTIFACT_MAX_BYTES: String(MAX),
    HELM_UPLOAD_STALL_MS: "1000",
    HELM_UPLOAD_BYTES_PER_SECOND: "2000",
  });
  worker = await joinWorker(control);
  const { pairId } = await registerPair(control, worker, "pilot", "target");
  await control.as("operator").calibration.start({ pairId: pairId ?? "", device: "cpu" });
  job = (await worker.claim()).json;
});
afterAll(() => control.stop());

const pathOf = (digest: string, { id, attempt } = job) =>
  `/api/worker/artifacts/${digest}?job=${id}&attempt=${attempt}`;

const ask = async (digest: string, whose = job) => {
  const answer = await control.request("HEAD", pathOf(digest, whose), { bearer: worker.credential });
  return { status: answer.status, offset: Number(answer.headers.get("upload-offset")) };
};

const send = (
  digest: string,
  body: Buffer,
  offset: number,
  length: number,
  whose = job,
  bearer = worker.credential,
) =>
  control.request("PATCH", pathOf(digest, whose), {
    body,
    bearer,
    headers: { "upload-offset": String(offset), "upload-length": String(length) },
  });

/** Through a line of the test's own; resolves also where that is cut. */
function sendThrough(
  url: string,
  digest: string,
  body: Buffer,
  offset: number,
  length: number,
): Promise<number> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${worker.credential}`,
      "content-length": body.length,
      "upload-offset": offset,
      "upload-length": length,
    };
    const asked = httpRequest(`${url}${pathOf(digest)}`, { method: "PATCH", headers }, (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode ?? 0));
      answer.on("error", () => resolve(0));
    });
    asked.on("error", () => resolve(0));
    asked.end(body);
  });
}

it("resumes an upload cut at 90 % at another control plane, and only the rest goes over the line", async () => {
  const bytes = randomBytes(4_000_000);
  const digest = sha256(bytes);
  const second = await control.restart({ port: 0 });
  const proxy = await cuttingProxy(control.url);
  proxy.state.cutAt = 3_600_000;
  expect(await sendThrough(proxy.url, digest, bytes, 0, bytes.length)).toBe(0);
  expect(proxy.state.cuts).toBe(1);
  const other = await cuttingProxy(second.url);
  const there = await until(
    () =>
      fetch(`${second.url}${pathOf(digest)}`, {
        method: "HEAD",
        headers: { authorization: `Bearer ${worker.credential}` },
      }),
    (answer) => answer.status === 204,
  );
  const offset = Number(there.headers.get("upload-offset"));
  // All that came through but the request's own head.
  expect(offset).toBeGreaterThan(3_590_000);
  expect(offset).toBeLessThanOrEqual(3_600_000);
  expect(await sendThrough(other.url, digest, bytes.subarray(offset), offset, bytes.length)).toBe(200);
  expect(other.state.up).toBeGreaterThanOrEqual(bytes.length - offset);
  expect(other.state.up).toBeLessThan(bytes.length - offset + 2_000);
  expect(await control.services.artifacts.size(digest)).toBe(bytes.length);
  const rows = (await control.as("viewer").audit.list({})).rows.filter(
    ({ verb }) => verb === "artifact.upload",
  );
  expect(rows[0]).toMatchObject({ entityId: job.id });
  proxy.stop();
  other.stop();
  await second.stop();
});

describe("an upload is refused", () => {
  const bytes = randomBytes(50_000);
  const digest = sha256(bytes);

  it("that begins elsewhere, with the right offset", async () => {
    await send(digest, bytes.subarray(0, 20_000), 0, bytes.length);
    expect(await ask(digest)).toEqual({ status: 204, offset: 20_000 });
    const wrong = await send(digest, bytes.subarray(10_000), 10_000, bytes.length);
    expect(wrong).toMatchObject({
      status: 409,
      json: { error: { code: "UPLOAD_OFFSET", details: { expectedOffset: 20_000 } } },
    });
    const rest = await send(digest, bytes.subarray(20_000), 20_000, bytes.length);
    expect(rest).toMatchObject({ status: 200, json: { sha256: digest, bytes: 50_000 } });
    expect(
      (await control.request("HEAD", pathOf(digest), { bearer: worker.credential })).headers.get(
        "upload-complete",
      ),
    ).toBe("?1");
  });

  it("whose bytes are others, and nothing of it is kept", async () => {
    const named = sha256(randomBytes(8));
    const answer = await send(named, bytes, 0, bytes.length);
    expect(answer).toMatchObject({ status: 422, json: { error: { code: "ARTIFACT_MISMATCH" } } });
    expect(await control.services.artifacts.size(named)).toBeNull();
    expect((await ask(named)).offset).toBe(0);
  });

  it("of an attempt that is none, of another worker, and of a person", async () => {
    const { token } = await control.as("admin").host.createJoinToken({ kind: "worker" });
    const stranger = await joinWorker(control, token);
    for (const [whose, bearer] of [
      [{ id: job.id, attempt: randomUUID() }, worker.credential],
      [job, stranger.credential],
      [{ id: randomUUID(), attempt: job.attempt }, worker.credential],
    ] as const) {
      const answer = await send(sha256(bytes), bytes, 0, bytes.length, whose, bearer);
      expect([404, 409]).toContain(answer.status);
    }
    expect((await send(digest, bytes, 0, bytes.length, job, "none")).status).toBe(401);
    const asPerson = { headers: { "upload-offset": "0", "upload-length": "5" }, body: bytes.subarray(0, 5) };
    expect((await control.request("PATCH", `/api/artifacts/${digest}`, asPerson)).status).toBe(401);
    expect((await control.request("GET", `/api/artifacts/${digest}/file`)).status).toBe(401);
  });

  it("of no bytes, of too many, without its headers, and out of its folder", async () => {
    expect((await send(digest, Buffer.alloc(0), 0, 0)).json.error.message).toMatch(/0 bytes/);
    const large = await send(digest, Buffer.alloc(1), 0, MAX + 1);
    expect(large).toMatchObject({ status: 413, json: { error: { code: "ARTIFACT_TOO_LARGE" } } });
    expect((await send(digest, bytes, 0, 10)).status).toBe(400);
    const bare = await control.request("PATCH", pathOf(digest), { body: bytes, bearer: worker.credential });
    expect(bare.json.error.message).toMatch(/upload-offset/);
    for (const odd of ["..%2f..%2fetc%2fpasswd", "%2e%2e", "A".repeat(64), "a".repeat(63)]) {
      const answer = await send(odd, bytes, 0, bytes.length);
      expect([odd, answer.status]).toEqual([
        odd,
        expect.toSatisfy((status) => status === 400 || status === 404),
      ]);
    }
  });

  it("that only trickles, and what came is kept", async () => {
    const slow = randomBytes(30_000);
    const name = sha256(slow);
    const { hostname, port } = new URL(control.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let said = "";
      socket.write(
        `PATCH ${pathOf(name)} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${worker.credential}\r\ncontent-length: ${slow.length}\r\nupload-offset: 0\r\nupload-length: ${slow.length}\r\n\r\n`,
      );
      let at = 0;
      const timer = setInterval(() => socket.write(slow.subarray(at, ++at)), 20);
      socket.on("data", (chunk) => {
        said += chunk;
      });
      socket.on("error", () => {});
      socket.on("close", () => {
        clearInterval(timer);
        resolve(said);
      });
      setTimeout(() => reject(new Error("it was let go on")), 20_000).unref();
    });
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
    expect(
      (
        await until(
          () => ask(name),
          ({ status }) => status === 204,
        )
      ).offset,
    ).toBeGreaterThan(0);
  });

  it("while the disk is full: with the folder and the bytes, and the run says why until it is stored", async () => {
    const { artifacts } = control.services;
    const settings = (artifacts as unknown as { settings: { reserveBytes: number } }).settings;
    settings.reserveBytes = Number.MAX_SAFE_INTEGER;
    const more = randomBytes(70_000);
    const full = await send(sha256(more), more, 0, more.length);
    expect(full).toMatchObject({
      status: 507,
      json: {
        error: { code: "STORAGE_FULL", details: { place: artifacts.place, neededBytes: 70_000 } },
      },
    });
    const shown = await control.as("viewer").calibration.get({ id: job.id });
    expect(shown.waitingReason).toMatch(/waits on its worker to be stored.*is full/);
    settings.reserveBytes = 0;
    expect((await send(sha256(more), more, 0, more.length)).status).toBe(200);
    expect((await control.as("viewer").calibration.get({ id: job.id })).waitingReason).toBeNull();
  });
});

describe("a download", () => {
  it("goes on where it was cut, if the artifact is the one meant", async () => {
    const bytes = randomBytes(60_000);
    await send(sha256(bytes), bytes, 0, bytes.length);
    const { token } = await control.as("admin").host.createJoinToken({ kind: "node" });
    const joined = await control.request("POST", "/api/hosts/join", {
      json: {
        kind: "node",
        join_token: token,
        name: "n1",
        version: "0.1.0",
        device: "cpu",
        hardware: "none",
        devices: [{ vendor: "none", name: "no accelerator", capability: null }],
      },
    });
    const bearer = joined.json.credential as string;
    const get = (headers: Record<string, string>) =>
      control.request("GET", `/api/node/artifacts/${sha256(bytes)}`, { bearer, headers });
    const etag = `"${sha256(bytes)}"`;
    const rest = await get({ range: "bytes=50000-", "if-range": etag });
    expect(rest.status).toBe(206);
    expect(rest.bytes.equals(bytes.subarray(50_000))).toBe(true);
    const other = await get({ range: "bytes=50000-", "if-range": `"${"0".repeat(64)}"` });
    expect([other.status, other.bytes.length]).toEqual([200, 60_000]);
    expect((await get({ range: "bytes=60000-" })).status).toBe(416);
  });
});

describe("an attempt that is fenced", () => {
  it("has its upload refused, also where that had begun", async () => {
    const bytes = randomBytes(20_000);
    const digest = sha256(bytes);
    await send(digest, bytes.subarray(0, 5_000), 0, bytes.length);
    await worker.events(job.id, job.attempt, runEvents(bytes, { share: 1 }).slice(0, 1));
    await worker.finish(job.id, { attempt: job.attempt, outcome: "failed", code: "X", message: "over" });
    const answer = await send(digest, bytes.subarray(5_000), 5_000, bytes.length);
    expect(answer).toMatchObject({ status: 409, json: { error: { code: "ATTEMPT_FENCED" } } });
    expect(await control.services.artifacts.size(digest)).toBeNull();
    const { sweepUploads } = await import("./sweep-uploads");
    const { outsideTransaction } = await import("../transaction");
    const { services } = control;
    const actor = { kind: "system", name: "uploads" } as const;
    await sweepUploads(
      outsideTransaction({ services, actor, requestId: randomUUID(), address: "local", log: services.log }),
    );
    expect(await services.artifacts.partials()).toEqual([]);
  });
});
