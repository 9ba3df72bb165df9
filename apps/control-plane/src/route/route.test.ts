import { RoutingSnapshot } from "@helm/contracts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { conflictFrom } from "../testing/conflict-from";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { BUNDLED, joinWorker, registerPair, type TestWorker } from "../testing/worker";

let control: TestControlPlane;
let worker: TestWorker;
let pairId: string;
let reverseId: string;

beforeAll(async () => {
  control = await testControlPlane();
  worker = await joinWorker(control);
  pairId = (await registerPair(control, worker, "pilot", "target")).pairId ?? "";
  reverseId = (await registerPair(control, worker, "target", "pilot")).pairId ?? "";
});
afterAll(() => control.stop());

const judge = { meanLogprob: -0.5, minLogprob: -3 };
const told = async () =>
  RoutingSnapshot.parse(
    JSON.parse(
      (await control.db.routingSnapshot.findFirstOrThrow({ orderBy: { generation: "desc" } })).document,
    ),
  ).routes;

describe("routes", () => {
  it("are many, each with what it is made of, and the default one is told first whatever its name", async () => {
    const admin = control.as("admin");
    const made = await admin.route.create({
      name: "a-careful-one",
      pairId: reverseId,
      judge,
      streaming: "buffer",
      holdTurns: 3,
    });
    expect(made).toMatchObject({
      isDefault: false,
      pairName: "target -> pilot",
      streaming: "buffer",
      holdTurns: 3,
      window: 64,
    });
    expect((await admin.route.list()).map(({ name, isDefault }) => [name, isDefault])).toEqual([
      ["helm-auto", true],
      ["a-careful-one", false],
    ]);
    expect((await told()).map(({ name }) => name)).toEqual(["helm-auto", "a-careful-one"]);
    expect((await told())[1]).toMatchObject({ pair_id: reverseId, streaming: "buffer", hold_turns: 3 });
  });

  it("carry their random shares and the most switches to the nodes, and say in words what a change does", async () => {
    const admin = control.as("admin");
    const nodes = async () => (await told()).find(({ name }) => name === "a-careful-one");
    expect(await nodes()).toMatchObject({
      max_switches: 4,
      shares: { kept_also_target: 0.01, escalated_also_native: 0.01, forced_escalation: 0.002 },
    });
    const held = (await admin.route.get({ name: "a-careful-one" })) ?? { revision: 0 };
    const change = { name: "a-careful-one", maxSwitches: 0, shareKept: 0.25, shareForced: 0 };
    const { sentences } = await admin.route.preview(change);
    expect(sentences.join(" ")).toMatch(
      /DRIFT_LIMIT.*25 % instead of 1 % of kept.*0 % instead of 0.2 % of sure/,
    );
    await admin.route.update({ ...change, revision: held.revision });
    expect(await nodes()).toMatchObject({
      max_switches: 0,
      shares: { kept_also_target: 0.25, escalated_also_native: 0.01, forced_escalation: 0 },
    });
    await expect(
      admin.route.update({ name: "a-careful-one", shareKept: 1.5, revision: held.revision + 1 }),
    ).rejects.toMatchObject({ code: "BAD_REQUEST" });
  });

  it("never have a model's name, wherever it is served, nor one another's", async () => {
    const admin = control.as("admin");
    for (const name of ["pilot", "odd"])
      await expect(admin.route.create({ name, pairId, judge })).rejects.toMatchObject({
        code: "BAD_REQUEST",
        message: expect.stringMatching(/name of a model/),
      });
    await expect(admin.route.create({ name: "helm-auto", pairId, judge })).rejects.toMatchObject({
      code: "CONFLICT",
    });
    for (const name of ["owner/name", "Upper", "", "a b"])
      await expect(admin.route.create({ name, pairId, judge })).rejects.toMatchObject({
        code: "BAD_REQUEST",
      });
    const { registrationId } = await admin.pair
      .register({ sourceModel: "helm-auto", targetModel: "pilot" })
      .catch(() => ({ registrationId: "refused" }));
    expect(registrationId).toBe("refused");
  });

  it("need a pair that there is and that still may be one", async () => {
    const admin = control.as("admin");
    const nowhere = "00000000-0000-4000-8000-000000000000";
    await expect(admin.route.create({ name: "x", pairId: nowhere, judge })).rejects.toMatchObject({
      code: "NOT_FOUND",
    });
    // The target's folder was replaced by another model since the pair was registered.
    const { facts } = await control.db.model.findUniqueOrThrow({ where: { name: "target" } });
    const other = { ...(facts as object), num_key_value_heads: 4 };
    await control.db.model.update({ where: { name: "target" }, data: { facts: other } });
    const refused = admin.route.create({ name: "x", pairId, judge });
    await expect(refused).rejects.toMatchObject({
      code: "UNPROCESSABLE_CONTENT",
      message: expect.stringMatching(/cannot be a pair any more/),
    });
    await control.db.model.update({ where: { name: "target" }, data: { facts: facts as object } });
    expect(Object.keys(BUNDLED)).toContain("target");
  });

  it("are renamed only while no key is valid, and removed at the revision that was seen", async () => {
    const admin = control.as("admin");
    const route = await admin.route.create({ name: "short-lived", pairId, judge });
    const renamed = await admin.route.update({
      name: route.name,
      newName: "renamed",
      revision: route.revision,
    });
    expect(renamed).toMatchObject({ id: route.id, name: "renamed", revision: 2 });
    const tenant = await admin.tenant.create({ name: "caller" });
    const key = await admin.key.create({ tenantId: tenant.id, name: "ci" });
    await expect(
      admin.route.update({ name: "renamed", newName: "again", revision: 2 }),
    ).rejects.toMatchObject({ code: "BAD_REQUEST", message: expect.stringMatching(/One API key is valid/) });
    await admin.key.revoke({ id: key.id });
    const stale = await conflictFrom(admin.route.remove({ name: "renamed", revision: 1 }));
    expect(stale.changes).toEqual([{ field: "name", before: "short-lived", after: "renamed" }]);
    await admin.route.remove({ name: "renamed", revision: 2 });
    expect((await told()).map(({ name }) => name)).not.toContain("renamed");
  });

  it("tell two editors of one route from each other, field by field", async () => {
    const admin = control.as("admin");
    const held = await admin.route.get();
    if (!held) throw new Error("no route");
    await admin.route.update({
      name: held.name,
      judge: { meanLogprob: -0.2, minLogprob: -3 },
      revision: held.revision,
    });
    const details = await conflictFrom(
      admin.route.update({ name: held.name, window: 8, revision: held.revision }),
    );
    expect(details.changes).toEqual([{ field: "judge.meanLogprob", before: -0.5, after: -0.2 }]);
    expect(details.current).toMatchObject({ name: "helm-auto", judge: { meanLogprob: -0.2 }, window: 64 });
  });

  it("say what a change would do before it is stored, and store nothing", async () => {
    const viewer = control.as("viewer");
    const before = await viewer.route.get();
    const changed = await viewer.route.preview({
      name: "helm-auto",
      judge: { meanLogprob: -0.1, minLogprob: -3 },
      streaming: "buffer",
      pairId: reverseId,
    });
    const text = changed.sentences.join(" ");
    expect(text).toMatch(/may not be used \(NOT_CALIBRATED\).*goes to pilot directly/);
    expect(text).toMatch(/below -0\.1 instead of -0\.2: more of them/);
    expect(text).toMatch(/once all of it was judged/);
    expect(text).toMatch(/Helm is off/);
    expect((await viewer.route.preview({ name: "helm-auto" })).sentences).toEqual([
      "Nothing: this is what stands already.",
    ]);
    expect((await viewer.route.preview({ name: "helm-auto", remove: true })).sentences.join(" ")).toMatch(
      /404 model_not_found.*Requests without a model go to a-careful-one/,
    );
    expect(await viewer.route.get()).toEqual(before);
  });
});
