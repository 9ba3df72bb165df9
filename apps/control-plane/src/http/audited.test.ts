import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NODE_TOKEN, ORIGIN, type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { addSignedIn } from "../testing/people";
import { joinWorker, registerPair, runEvents, sha256, type TestWorker } from "../testing/worker";
import { ENDPOINTS } from "./endpoints";

/*
 * Procedures are held to their audit rows by access/matrix.test.ts. This holds the doors of workers, nodes and people's
 * uploads to theirs: whatever is reached by a method that changes something is done here once, and its row is looked for
 * by the request's own id; what writes none has to say why.
 */
const changing = ENDPOINTS.filter(({ method }) => method !== "GET" && method !== "HEAD").map(
  ({ method, path }) => `${method} ${path}`,
);

let control: TestControlPlane;
let worker: TestWorker;
let admin: { cookie: string };
const artifact = randomBytes(64);

beforeAll(async () => {
  control = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
  worker = await joinWorker(control);
  admin = await addSignedIn(control, "admin");
  const { pairId } = await registerPair(control, worker, "pilot", "target");
  await control.as("admin").calibration.start({ pairId: pairId ?? "", device: "cpu" });
});
afterAll(() => control.stop());

type Answer = Awaited<ReturnType<TestControlPlane["request"]>>;
type Written = { do: () => Promise<Answer>; verb: string; actor: string };

let job = { id: "", attempt: "" };
/** In the order of a run: claim, upload, finish. */
const WRITES: Record<string, Written> = {
  "POST /api/hosts/join": {
    do: () =>
      control.request("POST", "/api/hosts/join", {
        json: {
          kind: "node",
          join_token: NODE_TOKEN,
          name: "n1",
          version: "0.1.0",
          device: "cpu",
          hardware: "none",
          devices: [{ vendor: "none", name: "no accelerator", capability: null }],
          url: "http://127.0.0.1:9",
        },
      }),
    verb: "host.join",
    actor: "node n1",
  },
  "POST /api/worker/claim": {
    do: async () => {
      const claimed = await worker.claim();
      job = claimed.json as typeof job;
      return claimed;
    },
    verb: "calibration.claim",
    actor: "worker w1",
  },
  "PATCH /api/worker/artifacts/:sha256": {
    do: async () => {
      await worker.events(job.id, job.attempt, runEvents(artifact, { share: 1 }));
      return worker.upload(job.id, job.attempt, artifact);
    },
    verb: "artifact.upload",
    actor: "worker w1",
  },
  "POST /api/worker/jobs/:id/finish": {
    do: () =>
      worker.finish(job.id, { attempt: job.attempt, outcome: "fitted", artifact_sha256: sha256(artifact) }),
    verb: "calibration.finish",
    actor: "worker w1",
  },
  "PATCH /api/artifacts/:sha256": {
    do: () => {
      const brought = randomBytes(32);
      return control.request("PATCH", `/api/artifacts/${sha256(brought)}`, {
        body: brought,
        headers: {
          cookie: admin.cookie,
          origin: ORIGIN,
          "upload-offset": "0",
          "upload-length": String(brought.length),
        },
      });
    },
    verb: "artifact.upload",
    actor: "admin",
  },
};

const WRITE_NOTHING: Record<string, string> = {
  "POST /api/worker/jobs/:id/heartbeat":
    "only keeps a lease; one every few seconds would bury all other rows",
  "POST /api/worker/jobs/:id/events": "the run's own record, kept whole with its attempt",
};

it("knows of every door that changes something whether it writes", () => {
  expect([...Object.keys(WRITES), ...Object.keys(WRITE_NOTHING)].sort()).toEqual([...changing].sort());
});

describe("the row of", () => {
  it.each(Object.entries(WRITES))("%s", async (_path, { do: act, verb, actor }) => {
    const answer = await act();
    expect(answer.status, JSON.stringify(answer.json)).toBe(200);
    const requestId = answer.headers.get("x-request-id") ?? "";
    const rows = await control.db.auditEntry.findMany({ where: { requestId } });
    const row = rows.find((one) => one.verb === verb);
    expect(row, `${verb} in ${JSON.stringify(rows.map((one) => one.verb))}`).toBeDefined();
    expect(row?.actorName).toContain(actor);
  });
});
