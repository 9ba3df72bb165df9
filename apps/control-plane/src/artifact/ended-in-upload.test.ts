import { randomBytes, randomUUID } from "node:crypto";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { heartbeatInspection } from "../inspection/jobs";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { addSignedIn, type SignedIn } from "../testing/people";
import { until } from "../testing/until";
import { joinWorker, registerPair, sha256, type TestWorker } from "../testing/worker";
import { inTransaction, outsideTransaction } from "../transaction";

let control: TestControlPlane;
beforeAll(async () => {
  control = await testControlPlane({ HELM_LEASE_MS: "60000" });
});
afterAll(() => control.stop());

interface Asked {
  path: string;
  bearer: string;
  body: Buffer;
  /** True once the first half has arrived behind the door. */
  arrived: () => Promise<boolean>;
}

/** Sends half of a body, does something meanwhile, then sends the rest. */
async function inTheMiddle(asked: Asked, meanwhile: () => Promise<unknown>): Promise<number> {
  const { path, bearer, body } = asked;
  const headers = {
    authorization: `Bearer ${bearer}`,
    "content-length": body.length,
    "upload-offset": 0,
    "upload-length": body.length,
  };
  const request = httpRequest(`${control.url}${path}`, { method: "PATCH", headers });
  const answered = new Promise<number>((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode ?? 0));
    });
  });
  request.write(body.subarray(0, body.length / 2));
  await until(asked.arrived, (there) => there);
  await meanwhile();
  request.end(body.subarray(body.length / 2));
  return answered;
}

const lies = (digest: string) => async () =>
  (await control.services.artifacts.partials()).some(({ sha256, bytes }) => sha256 === digest && bytes > 0);
const rowOf = (digest: string) => control.db.artifact.findUnique({ where: { sha256: digest } });

describe("an upload of a person", () => {
  const ends: [string, number, keyof SignedIn, (person: SignedIn) => Promise<unknown>][] = [
    [
      "who is disabled meanwhile",
      401,
      "token",
      ({ id }) => control.as("admin").person.setDisabled({ id, disabled: true, revision: 1 }),
    ],
    [
      "who is no administrator any more",
      403,
      "token",
      ({ id }) => control.as("admin").person.setRole({ id, role: "operator", revision: 1 }),
    ],
    [
      "whose token is revoked meanwhile",
      401,
      "token",
      ({ tokenId }) => control.as("admin").token.revoke({ id: tokenId }),
    ],
    [
      "who is signed out meanwhile",
      401,
      "bearer",
      ({ id }) => control.as("admin").person.signOutEverywhere({ id }),
    ],
    ["who stays", 200, "bearer", async () => {}],
  ];
  it.each(ends)("%s is answered %i", async (_, status, by, end) => {
    await addSignedIn(control, "admin");
    const person = await addSignedIn(control, "admin");
    const body = randomBytes(64);
    const digest = sha256(body);
    const path = `/api/artifacts/${digest}`;
    const asked: Asked = { path, bearer: person[by], body, arrived: lies(digest) };
    expect(await inTheMiddle(asked, () => end(person))).toBe(status);
    expect((await rowOf(digest)) !== null).toBe(status === 200);
  });
});

describe("a worker that is revoked in the middle of a request", () => {
  let worker: TestWorker;
  let pairId: string;

  beforeAll(async () => {
    const first = await joinWorker(control);
    pairId = (await registerPair(control, first, "pilot", "target")).pairId ?? "";
  });

  const join = async () => {
    const { token } = await control.as("admin").host.createJoinToken({ kind: "worker" });
    worker = await joinWorker(control, token);
  };
  const revoke = () => control.as("admin").host.revoke({ id: worker.id });
  it("finishes no upload and renews no lease", async () => {
    await join();
    await control.as("operator").calibration.start({ pairId, device: "cpu" });
    const job = (await worker.claim()).json;
    const lease = () => control.db.calibrationAttempt.findUniqueOrThrow({ where: { id: job.attempt } });
    const body = randomBytes(64);
    const digest = sha256(body);
    const path = `/api/worker/artifacts/${digest}?job=${job.id}&attempt=${job.attempt}`;
    let before = await lease();
    const asked: Asked = { path, bearer: worker.credential, body, arrived: lies(digest) };
    const status = await inTheMiddle(asked, async () => {
      before = await lease();
      await revoke();
    });
    expect(status).toBe(401);
    expect(await rowOf(digest)).toBeNull();
    expect(await lease()).toMatchObject({ artifactSha256: null, leaseExpiresAt: before.leaseExpiresAt });
  });

  it("keeps no inspection", async () => {
    await join();
    await control.as("admin").pair.register({ sourceModel: "odd", targetModel: "pilot-2" });
    const job = (await worker.claim({ models: ["odd", "pilot-2"] })).json;
    expect(job).toMatchObject({ kind: "inspection" });
    const lease = () => control.db.inspection.findUniqueOrThrow({ where: { id: job.id } });
    const before = await lease();
    await revoke();
    // As a request that was let in before.
    const { services } = control;
    const actor = { kind: "host", hostKind: "worker", id: worker.id, name: "w1" } as const;
    const ctx = outsideTransaction({
      services,
      actor,
      requestId: randomUUID(),
      address: "local",
      log: services.log,
    });
    const input = { id: job.id as string, attempt: job.attempt as string };
    const beat = inTransaction(ctx, { audited: false, publish: false }, (inner) =>
      heartbeatInspection({ ctx: inner, input }),
    );
    await expect(beat).rejects.toMatchObject({ code: "UNAUTHENTICATED" });
    expect(await lease()).toEqual(before);
  });
});
