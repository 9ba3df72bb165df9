import { randomUUID } from "node:crypto";
import { type CalibrationEvent, Role } from "@helm/contracts";
import type { Namespace, Socket as ServerSocket } from "socket.io";
import type { Socket } from "socket.io-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as hubModule from "../hub";
import { NODE_TOKEN, ORIGIN, type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { addSignedIn, type SignedIn, signIn } from "../testing/people";
import { ask, connect, type Door, socketTo } from "../testing/sockets";
import { traceOf } from "../testing/traces";
import { until } from "../testing/until";
import { joinWorker, registerPair, type TestWorker } from "../testing/worker";

const CALLERS = [
  "nobody",
  "viewer",
  "operator",
  "admin",
  "browser",
  "browser of another site",
  "ended session",
  "forged session",
  "personal token",
  "worker",
  "foreign worker",
  "worker from a web page",
  "revoked worker",
  "node",
  "foreign node",
] as const;
type Caller = (typeof CALLERS)[number];

const PEOPLE: Caller[] = ["viewer", "operator", "admin", "browser"];
/** Who may open which namespace. One that is not named here fails the test. */
const OPEN: Record<string, Caller[]> = {
  "/": [],
  "/console": PEOPLE,
  "/workers": ["worker", "foreign worker"],
  "/nodes": ["node", "foreign node"],
};

/** What a socket is in by itself, beside the room of its own id. */
interface Known {
  sessionId: string;
  personId: string;
  actor: { id: string };
}
const ROOMS_AT_START: Record<string, (data: Known) => string[]> = {
  "/console": ({ sessionId, personId }) => [hubModule.sessionRoom(sessionId), hubModule.personRoom(personId)],
  "/workers": ({ actor }) => [hubModule.hostRoom(actor.id)],
  "/nodes": ({ actor }) => [hubModule.hostRoom(actor.id)],
};

let control: TestControlPlane;
let people: Record<Role, SignedIn>;
let worker: TestWorker;
let node: { id: string; credential: string };
let foreignNode: { id: string; credential: string };
let doors: Record<Caller, Door>;
let job: { id: string; attempt: string };
const opened: Socket[] = [];

beforeAll(async () => {
  control = await testControlPlane({ HELM_AUTH_RATE_LIMIT: "false" });
  const signedIn = await Promise.all(Role.options.map((role) => addSignedIn(control, role)));
  people = Object.fromEntries(signedIn.map((one) => [one.role, one])) as Record<Role, SignedIn>;
  worker = await joinWorker(control);
  const join = async (kind: "worker" | "node") =>
    (await control.as("admin").host.createJoinToken({ kind })).token;
  const foreign = await joinWorker(control, await join("worker"));
  const revoked = await joinWorker(control, await join("worker"));
  await control.as("admin").host.revoke({ id: revoked.id });
  node = await joinNode(NODE_TOKEN, "n1");
  foreignNode = await joinNode(await join("node"), "n2");
  const ended = await signIn(control, people.operator.email);
  await control.request("POST", "/api/auth/sign-out", { json: {}, bearer: ended.bearer });
  doors = {
    nobody: {},
    viewer: { token: people.viewer.bearer },
    operator: { token: people.operator.bearer },
    admin: { token: people.admin.bearer },
    browser: { cookie: people.viewer.cookie, origin: ORIGIN },
    "browser of another site": { cookie: people.admin.cookie, origin: "https://evil.example" },
    "ended session": { token: ended.bearer, cookie: ended.cookie },
    "forged session": { token: `${people.admin.bearer.slice(0, -4)}AAAA` },
    "personal token": { token: people.admin.token },
    worker: { credential: worker.credential },
    "foreign worker": { credential: foreign.credential },
    "worker from a web page": { credential: worker.credential, origin: "https://evil.example" },
    "revoked worker": { credential: revoked.credential },
    node: { credential: node.credential },
    "foreign node": { credential: foreignNode.credential },
  };
  const { pairId } = await registerPair(control, worker, "pilot", "target");
  await control.as("operator").calibration.start({ pairId: pairId ?? "", device: "cpu" });
  job = (await worker.claim()).json;
});
afterAll(async () => {
  for (const socket of opened) socket.disconnect();
  await control.stop();
});

async function joinNode(token: string, name: string) {
  const joined = await control.request("POST", "/api/hosts/join", {
    json: {
      kind: "node",
      join_token: token,
      name,
      version: "0.1.0",
      device: "cpu",
      hardware: "none",
      devices: [],
    },
  });
  return joined.json as { id: string; credential: string };
}

async function knock(caller: Caller, namespace: string) {
  const socket = socketTo(control.url, namespace, doors[caller]);
  opened.push(socket);
  const said = await connect(socket);
  return { socket, said };
}

const serverNamespace = (name: string): Namespace => control.services.hub.io.of(name);
function serverSide(socket: Socket, namespace: string): ServerSocket {
  const found = serverNamespace(namespace).sockets.get(socket.id ?? "");
  if (!found) throw new Error("no such socket");
  return found;
}
/** Its joins are done: the server joins rooms in the same turn in which it says "connected". */
const roomsOf = (socket: Socket, namespace: string) =>
  [...serverSide(socket, namespace).rooms].filter((room) => room !== socket.id).sort();

const line: CalibrationEvent = {
  v: 1,
  at: new Date().toISOString(),
  type: "log",
  level: "info",
  message: "x",
};
const batch = (seq: number) => ({ job: job.id, attempt: job.attempt, events: [{ seq, event: line }] });
const readiness = {
  active_generation: 1,
  acked_generation: 1,
  access_version: 1,
  engine: { name: "reference", healthy: true, development: true, models: [] },
  pairs: [],
};
const stats = () => ({
  since: new Date(Date.now() - 1000).toISOString(),
  until: new Date().toISOString(),
  rows: [],
});
const stateOf = (id: string) => control.db.nodeState.findUnique({ where: { nodeId: id } });
const seqNow = async () =>
  (await control.db.calibrationAttempt.findUniqueOrThrow({ where: { id: job.attempt } })).lastSeq;

type Try = (caller: Caller, socket: Socket) => Promise<void>;
/** Every event that the server listens to, tried by everyone who gets through the door. A new one fails the test. */
const EVENTS: Record<string, Record<string, Try>> = {
  "/": {},
  "/console": {
    follow: async (_, socket) => {
      const before = roomsOf(socket, "/console");
      expect(await ask(socket, "follow", { calibration: job.id })).toMatchObject({ ok: true, attempt: 1 });
      expect(roomsOf(socket, "/console")).toEqual([...before, `calibration:${job.id}`].sort());
      expect(await ask(socket, "follow", { calibration: randomUUID() })).toEqual({
        ok: false,
        code: "NOT_FOUND",
      });
      for (const other of [
        `session:${randomUUID()}`,
        `host:${worker.id}`,
        worker.id,
        people.admin.id,
        "*",
        "",
      ])
        expect(await ask(socket, "follow", { calibration: other })).toEqual({ ok: false, code: "NOT_FOUND" });
      for (const payload of [null, 7, "x", [], {}, { calibration: 7 }, { calibration: [job.id] }])
        expect(await ask(socket, "follow", payload)).toEqual({ ok: false, code: "BAD_REQUEST" });
      expect(roomsOf(socket, "/console")).toEqual([...before, `calibration:${job.id}`].sort());
    },
    unfollow: async (_, socket) => {
      const before = roomsOf(socket, "/console");
      await ask(socket, "follow", { calibration: job.id });
      const own = before.map((room) => room.split(":")[1]);
      for (const other of [...before, ...own, null, 7]) socket.emit("unfollow", { calibration: other });
      socket.emit("unfollow", { calibration: job.id });
      // Answered in order: what came before it has been done.
      await ask(socket, "follow", { calibration: randomUUID() });
      expect(roomsOf(socket, "/console")).toEqual(before);
    },
  },
  "/workers": {
    "calibration:event": async (caller, socket) => {
      const seq = await seqNow();
      const answer = await ask(socket, "calibration:event", batch(seq + 1));
      if (caller === "worker") {
        expect(answer).toEqual({ ok: true, last_seq: seq + 1 });
        return;
      }
      expect(answer).toMatchObject({ ok: false, code: "ATTEMPT_FENCED" });
      expect(await seqNow()).toBe(seq);
      for (const payload of [null, 7, {}, { ...batch(1), attempt: "x" }, { ...batch(1), job: "*" }])
        expect(await ask(socket, "calibration:event", payload)).toMatchObject({
          ok: false,
          code: "BAD_REQUEST",
        });
    },
  },
  "/nodes": {
    readiness: async (caller, socket) => {
      const [own, other] = caller === "node" ? [node, foreignNode] : [foreignNode, node];
      const before = await stateOf(other.id);
      expect(await ask(socket, "readiness", { ...readiness, node_id: other.id })).toEqual({ ok: true });
      expect(await stateOf(own.id)).toMatchObject({ activeGeneration: 1 });
      expect(await stateOf(other.id)).toEqual(before);
      expect(await ask(socket, "readiness", { pairs: "all" })).toEqual({ ok: false, refused: true });
    },
    stats: async (caller, socket) => {
      const [own, other] = caller === "node" ? [node, foreignNode] : [foreignNode, node];
      const before = await stateOf(other.id);
      const sent = stats();
      expect(await ask(socket, "stats", { ...sent, node_id: other.id })).toEqual({ ok: true });
      expect((await stateOf(own.id))?.statsUntil?.toISOString()).toBe(sent.until);
      expect(await stateOf(other.id)).toEqual(before);
      expect(await ask(socket, "stats", null)).toEqual({ ok: false, refused: true });
    },
    traces: async (caller, socket) => {
      const own = caller === "node" ? node : foreignNode;
      const other = caller === "node" ? foreignNode : node;
      const trace = traceOf();
      const named = { traces: [{ ...trace, node_id: other.id }], node_id: other.id };
      expect(await ask(socket, "traces", named)).toEqual({ ok: true });
      const stored = await control.db.requestTrace.findUniqueOrThrow({ where: { id: trace.id } });
      expect(stored.nodeId).toBe(own.id);
      // Another node cannot write over it.
      const forged = { ...trace, served_by: "forged" };
      expect(await ask(socket, "traces", { traces: [forged] })).toEqual({ ok: true });
      expect(await control.db.requestTrace.findUniqueOrThrow({ where: { id: trace.id } })).toEqual(stored);
      for (const payload of [null, {}, { traces: [] }, { traces: [{ ...trace, id: "x" }] }])
        expect(await ask(socket, "traces", payload)).toEqual({ ok: false, refused: true });
    },
  },
};

const namespaces = () => [
  ...(control.services.hub.io as unknown as { _nsps: Map<string, unknown> })._nsps.keys(),
];

it("knows every namespace, event, room and thing said of the server, and no others", async () => {
  expect(namespaces().sort()).toEqual(Object.keys(OPEN).sort());
  expect(Object.keys(EVENTS).sort()).toEqual(Object.keys(OPEN).sort());
  for (const [namespace, callers] of Object.entries(OPEN)) {
    const [first] = callers;
    if (!first) continue;
    const { socket, said } = await knock(first, namespace);
    expect(said).toBe("connected");
    const listened = serverSide(socket, namespace).eventNames().map(String);
    const own = listened.filter((name) => name !== "disconnect" && name !== "error");
    expect(own.sort()).toEqual(Object.keys(EVENTS[namespace] ?? {}).sort());
  }
  const rooms = Object.keys(hubModule).filter((name) => name.endsWith("Room"));
  expect(rooms.sort()).toEqual(["calibrationRoom", "hostRoom", "personRoom", "sessionRoom"]);
  const says = Object.getOwnPropertyNames(hubModule.Hub.prototype).filter((name) => name !== "constructor");
  expect(says.sort()).toEqual([...Object.keys(SAYS), ...CUTS, "close", "resync"].sort());
});

describe.each(Object.keys(OPEN))("%s", (namespace) => {
  it.each(CALLERS)("at the door: %s", async (caller) => {
    const { socket, said } = await knock(caller, namespace);
    const welcome = OPEN[namespace]?.includes(caller) ?? false;
    expect(said === "connected").toBe(welcome);
    if (!welcome) {
      // Not let in, it is heard by nobody either.
      for (const event of Object.keys(EVENTS[namespace] ?? {}))
        expect(await ask(socket, event, { calibration: job.id }, 100)).toBe("silence");
      expect(said).not.toMatch(/at |node_modules|prisma/i);
      return;
    }
    const { data } = serverSide(socket, namespace);
    expect(roomsOf(socket, namespace)).toEqual((ROOMS_AT_START[namespace]?.(data) ?? []).sort());
  });

  it.each(
    Object.keys(EVENTS[namespace] ?? {}).flatMap((event) =>
      (OPEN[namespace] ?? []).map((caller) => ({ event, caller })),
    ),
  )("$event as $caller", async ({ event, caller }) => {
    const { socket } = await knock(caller, namespace);
    await EVENTS[namespace]?.[event]?.(caller, socket);
    socket.emit(event, { calibration: job.id }, "no function");
    socket.emit("an event of no kind", { calibration: job.id });
    expect(await ask(socket, "an event of no kind", {}, 100)).toBe("silence");
    expect(socket.connected).toBe(true);
    socket.disconnect();
  });
});

it("a handshake of another site's page opens no connection at all", async () => {
  const answer = await control.request("GET", "/socket.io?EIO=4&transport=polling", {
    headers: { origin: "https://evil.example", cookie: people.admin.cookie },
  });
  expect(answer.status).toBe(403);
});

/** What the hub says, and who hears it. */
const SAYS: Record<string, { say(): void; event: string; heardBy: Caller[] }> = {
  hint: { say: () => control.services.hub.hint("pairs"), event: "changed", heardBy: PEOPLE },
  updateCalibration: {
    say: () =>
      control.services.hub.updateCalibration({
        calibration: job.id,
        attempt: 9,
        last_seq: 1,
        state: "RUNNING",
        stage: null,
        percent: 1,
        rate: null,
        unit: null,
        lines: [],
      }),
    event: "calibration:update",
    // Who followed that run, and nobody else.
    heardBy: ["operator"],
  },
  offerWork: {
    say: () => control.services.hub.offerWork(),
    event: "work",
    heardBy: ["worker", "foreign worker"],
  },
  cancelJob: {
    say: () => control.services.hub.cancelJob(worker.id, job.id),
    event: "cancel",
    heardBy: ["worker"],
  },
};
const CUTS = ["cutSession", "cutPerson", "cutHost", "pushDocuments"];

it.each(Object.keys(SAYS))("%s is heard by whom it is meant for", async (name) => {
  const said = SAYS[name];
  if (!said) throw new Error("no such thing");
  const heard: Partial<Record<Caller, string[]>> = {};
  const listeners = Object.entries(OPEN).flatMap(([namespace, callers]) =>
    callers.map(async (caller) => {
      const socket = socketTo(control.url, namespace, doors[caller]);
      opened.push(socket);
      const own: string[] = [];
      heard[caller] = own;
      socket.onAny((event: string, ...rest: unknown[]) => {
        own.push(event);
        const ack = rest.at(-1);
        if (typeof ack === "function") ack({ ok: true, generation: 1, sha256: "0".repeat(64) });
      });
      expect(await connect(socket)).toBe("connected");
      if (caller === "operator") await ask(socket, "follow", { calibration: job.id });
    }),
  );
  await Promise.all(listeners);
  said.say();
  await until(
    () => said.heardBy.every((caller) => heard[caller]?.includes(said.event)),
    (all) => all,
    5_000,
  );
  // Somebody for whom it is not meant would have heard it by now.
  await new Promise((resolve) => setTimeout(resolve, 200));
  const heardBy = CALLERS.filter((caller) => heard[caller]?.includes(said.event));
  expect(heardBy.sort()).toEqual([...said.heardBy].sort());
});

describe("cut", () => {
  const cut = (socket: Socket) => new Promise((resolve) => socket.once("disconnect", () => resolve("cut")));

  it("when the role changes: the next connection is of the new role", async () => {
    const person = await addSignedIn(control, "operator");
    const socket = socketTo(control.url, "/console", { token: person.bearer });
    opened.push(socket);
    await connect(socket);
    const ended = cut(socket);
    control.services.hub.cutPerson(person.id);
    expect(await ended).toBe("cut");
    expect(await connect(socket)).toBe("connected");
    socket.disconnect();
  });

  it("when the person is removed: nothing is heard of it any more, and no door opens", async () => {
    const person = await addSignedIn(control, "viewer");
    const [one, two] = [person.bearer, (await signIn(control, person.email)).bearer].map((token) =>
      socketTo(control.url, "/console", { token }),
    );
    if (!one || !two) throw new Error("no sockets");
    opened.push(one, two);
    await Promise.all([connect(one), connect(two)]);
    const ended = Promise.all([cut(one), cut(two)]);
    await control.db.user.delete({ where: { id: person.id } });
    control.services.hub.cutPerson(person.id);
    expect(await ended).toEqual(["cut", "cut"]);
    expect(await ask(one, "follow", { calibration: job.id }, 200)).toBe("silence");
    expect(await connect(one)).not.toBe("connected");
  });

  it("when a followed run is asked for after the session has ended, also where nobody said so", async () => {
    const person = await addSignedIn(control, "viewer");
    const socket = socketTo(control.url, "/console", { token: person.bearer });
    opened.push(socket);
    await connect(socket);
    const ended = cut(socket);
    await control.db.session.deleteMany({ where: { userId: person.id } });
    await ask(socket, "follow", { calibration: job.id }, 2_000);
    expect(await ended).toBe("cut");
  });

  it("when a host was revoked and nobody said so: at the next look", async () => {
    const { token } = await control.as("admin").host.createJoinToken({ kind: "worker" });
    const other = await joinWorker(control, token);
    const socket = socketTo(control.url, "/workers", { credential: other.credential });
    opened.push(socket);
    await connect(socket);
    const ended = cut(socket);
    await control.db.host.update({ where: { id: other.id }, data: { revokedAt: new Date() } });
    control.services.hub.resync();
    expect(await ended).toBe("cut");
  });

  it("a host that says good-bye here after it came back elsewhere stays connected", async () => {
    const door = { credential: worker.credential };
    const [first, second] = [
      socketTo(control.url, "/workers", door),
      socketTo(control.url, "/workers", door),
    ];
    opened.push(first, second);
    await connect(first);
    await new Promise((resolve) => setTimeout(resolve, 20));
    await connect(second);
    const connected = async () =>
      (await control.as("viewer").worker.list()).find((one) => one.id === worker.id)?.connected;
    await until(connected, (is) => is === true);
    first.disconnect();
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await connected()).toBe(true);
    second.disconnect();
    for (const socket of opened) socket.disconnect();
    expect(await until(connected, (is) => is === false)).toBe(false);
  });
});
