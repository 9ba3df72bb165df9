import { randomUUID } from "node:crypto";
import { mulberry } from "@helm/cascade/testing";
import { renewAllLeases } from "../calibration/lease";
import { sweepRuns } from "../calibration/sweep";
import type { Context } from "../context";
import { sweepInspections } from "../inspection/jobs";
import { inTransaction, outsideTransaction } from "../transaction";
import type { TestControlPlane } from "./control-plane";
import { evaluation } from "./evaluation";
import { judgeTable } from "./judge";
import { joinNode } from "./node";
import { workAtRandom } from "./random-work";
import { facts, type TestWorker } from "./worker";

export interface Stage {
  control: TestControlPlane;
  workers: TestWorker[];
  pairIds: string[];
  machine: string;
}

/** What came of one call: our code of a refusal, or the status of a worker's door. */
export interface Told {
  action: string;
  requestId: string;
  code: string;
}

interface Play extends Stage {
  random: () => number;
  one: <T>(list: readonly T[]) => T | undefined;
  as: (role: "admin" | "operator") => ReturnType<TestControlPlane["as"]>;
}

const NAMES = ["pilot", "target", "odd", "small", "large"];
const judge = { meanLogprob: -0.5, minLogprob: -3 };

/** So many mutations in so many lanes at one time, all of one seed; resolves with what each caller was told. */
export async function playMutations(
  stage: Stage,
  seed: number,
  lanes: number,
  each: number,
): Promise<Told[]> {
  const told: Told[] = [];
  const lane = async (at: number) => {
    const random = mulberry(seed * 1_000 + at);
    const one = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)];
    for (let step = 0; step < each; step++) {
      const [action, play] = one(Object.entries(ACTIONS)) ?? ["", async () => {}];
      const requestId = randomUUID();
      const as = (role: "admin" | "operator") => stage.control.as(role, requestId);
      const code = await play({ ...stage, random, one, as }).then(
        () => "done",
        (thrown: { cause?: { code?: string } }) => thrown.cause?.code ?? String(thrown),
      );
      told.push({ action, requestId, code });
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, at) => lane(at)));
  return told;
}

function asSystem(
  { control: { services } }: Play,
  work: (ctx: Context) => Promise<unknown>,
): Promise<unknown> {
  const actor = { kind: "system", name: "sweeper" } as const;
  const ctx = outsideTransaction({ services, actor, requestId: "t", address: "local", log: services.log });
  return inTransaction(ctx, { audited: false, publish: false }, work);
}

async function openRun({ control, one }: Play) {
  return one(await control.db.calibration.findMany({ where: { imported: false }, select: { id: true } }));
}

const start = (play: Play, room: "beside" | "drain") =>
  play.as("operator").calibration.start({
    pairId: play.one(play.pairIds) ?? "",
    device: "cpu",
    room,
    acceptNoServing: true,
  });

const someMapper = async ({ control, one }: Play) =>
  one(await control.db.mapper.findMany({ select: { id: true, sha256: true } }));
const someTenant = async ({ control, one }: Play) => one(await control.db.tenant.findMany());
const someKey = async ({ control, one }: Play) => one(await control.db.apiKey.findMany({ take: 20 }));
const someRoute = async ({ control, one }: Play) => one(await control.db.route.findMany());
const someNode = async ({ control, one }: Play) =>
  one(await control.db.host.findMany({ where: { kind: "node" } }));
const somePerson = async ({ control, one }: Play) => one(await control.db.user.findMany());
const someTable = async ({ control, one }: Play) =>
  one(await control.db.judgeTable.findMany({ select: { id: true, pairId: true } }));
const settings = ({ control }: Play) => control.as("viewer").setting.get();

type Action = (play: Play) => Promise<unknown>;

/** With what there is: an action whose object is not there yet does nothing. */
const withOne =
  <T>(
    find: (play: Play) => Promise<T | undefined>,
    act: (play: Play, found: T) => Promise<unknown>,
  ): Action =>
  async (play) => {
    const found = await find(play);
    if (found) await act(play, found);
  };

const ACTIONS: Record<string, Action> = {
  work: workAtRandom,
  workMore: workAtRandom,
  workOn: workAtRandom,
  start: (play) => start(play, "beside"),
  startDraining: (play) => start(play, "drain"),
  cancel: withOne(openRun, (play, { id }) => play.as("operator").calibration.cancel({ id })),
  retry: withOne(openRun, (play, { id }) => play.as("operator").calibration.retry({ id })),
  silence: async (play) => {
    const past = { leaseExpiresAt: new Date(0) };
    await play.control.db.calibrationAttempt.updateMany({ where: { state: "RUNNING" }, data: past });
    await play.control.db.inspection.updateMany({ where: { state: "RUNNING" }, data: past });
    await asSystem(play, sweepRuns);
    await asSystem(play, sweepInspections);
  },
  renew: (play) => asSystem(play, renewAllLeases),
  register: (play) =>
    play.as("admin").pair.register({
      sourceModel: play.one(NAMES) ?? "",
      targetModel: play.one(NAMES) ?? "",
    }),
  activate: withOne(someMapper, (play, { id }) => play.as("admin").mapper.activate({ id })),
  retire: withOne(someMapper, (play, { id }) => play.as("admin").mapper.retire({ id })),
  deleteFile: withOne(someMapper, (play, { id }) => play.as("admin").mapper.deleteFile({ id })),
  evaluate: withOne(someMapper, (play, mapper) =>
    play
      .as("operator")
      .evaluation.record(evaluation(mapper.sha256, { limit: Math.ceil(play.random() * 900) })),
  ),
  place: withOne(someNode, async (play, { id: node }) => {
    const placed = await play.control.as("viewer").pair.placement({ id: play.one(play.pairIds) ?? "" });
    const { pairId: id, revision } = placed;
    return placed.placed
      ? play.as("admin").pair.unplace({ id, revision })
      : play.as("admin").pair.place({ id, nodeIds: [node], revision });
  }),
  importJudge: (play) =>
    play.as("operator").judge.import({
      table: judgeTable(1 + Math.floor(play.random() * 3), undefined, {
        weights: {
          source: facts("pilot").weights_sha256 ?? null,
          target: facts("target").weights_sha256 ?? null,
        },
      }),
    }),
  removeJudge: withOne(someTable, (play, { id }) => play.as("admin").judge.remove({ id })),
  createRoute: (play) =>
    play.as("admin").route.create({
      name: `r${Math.floor(play.random() * 4)}`,
      pairId: play.one(play.pairIds) ?? "",
      judge,
    }),
  judgeRoute: withOne(someTable, async (play, { id, pairId }) =>
    play.as("admin").route.create({
      name: play.one([...NAMES, "r5", "r6"]) ?? "",
      pairId,
      judge,
      streaming: "buffer",
      judgeTable: { id, by: { escalation_rate: 0.3 } },
    }),
  ),
  updateRoute: withOne(someRoute, (play, { name, revision }) =>
    play.as("admin").route.update({ name, revision, defaultMaxTokens: Math.ceil(play.random() * 500) }),
  ),
  removeRoute: withOne(someRoute, (play, { name, revision }) =>
    play.as("admin").route.remove({ name, revision }),
  ),
  createTenant: (play) => play.as("admin").tenant.create({ name: `t${Math.floor(play.random() * 6)}` }),
  enableTenant: withOne(someTenant, (play, { id, revision }) =>
    play.as("admin").tenant.setEnabled({ id, revision, enabled: play.random() < 0.5 }),
  ),
  archiveTenant: withOne(someTenant, (play, { id, revision, archivedAt }) =>
    archivedAt
      ? play.as("admin").tenant.restore({ id, revision })
      : play.as("admin").tenant.archive({ id, revision }),
  ),
  removeTenant: withOne(someTenant, (play, { id, revision }) =>
    play.as("admin").tenant.remove({ id, revision }),
  ),
  createKey: withOne(someTenant, (play, { id }) => play.as("admin").key.create({ tenantId: id, name: "k" })),
  rotateKey: withOne(someKey, (play, { id }) => play.as("admin").key.rotate({ id, graceS: 0 })),
  revokeKey: withOne(someKey, (play, { id }) => play.as("admin").key.revoke({ id })),
  settings: async (play) => {
    const { revision } = await settings(play);
    return play.as("admin").setting.update({ revision, gate: 0.8 + play.random() / 10 });
  },
  killSwitch: (play) => play.as("admin").setting.setKillSwitch({ on: true }),
  helm: async (play) => {
    const { revision, helmEnabled } = await settings(play);
    return play.as("admin").setting.setHelmEnabled({ enabled: !helmEnabled, revision });
  },
  rollback: async (play) => {
    const { generation: newest, hold } = await play.control.as("viewer").snapshot.state();
    if (hold) return play.as("admin").snapshot.release({ held: hold.generation });
    return play.as("admin").snapshot.rollback({ generation: Math.ceil(play.random() * newest), newest });
  },
  join: (play) => joinNode(play.control, `n${Math.floor(play.random() * 9)}`, { machine: play.machine }),
  revoke: withOne(someNode, (play, { id }) => play.as("admin").host.revoke({ id })),
  drain: withOne(someNode, (play, { id, drain }) =>
    drain ? play.as("operator").node.undrain({ id }) : play.as("operator").node.drain({ id }),
  ),
  canary: withOne(someNode, (play, { id }) => play.as("operator").node.canary({ id })),
  createPerson: (play) =>
    play.as("admin").person.create({
      email: `p${Math.floor(play.random() * 8)}@example.com`,
      name: "p",
      role: play.one(["viewer", "operator", "admin"] as const) ?? "viewer",
    }),
  setRole: withOne(somePerson, (play, { id, revision }) =>
    play
      .as("admin")
      .person.setRole({ id, revision, role: play.one(["viewer", "admin"] as const) ?? "viewer" }),
  ),
  disable: withOne(somePerson, (play, { id, revision, disabledAt }) =>
    play.as("admin").person.setDisabled({ id, revision, disabled: disabledAt === null }),
  ),
  resetSignIn: withOne(somePerson, (play, { id }) => play.as("admin").person.resetSignIn({ id })),
  removePerson: withOne(somePerson, (play, { id, revision }) =>
    play.as("admin").person.remove({ id, revision }),
  ),
};
