import { HelmError, MOST_CALLS_A_REQUEST } from "@helm/contracts";
import { afterAll, beforeAll, expect, it } from "vitest";
import { appRouter } from "../router";
import { type TestControlPlane, testControlPlane } from "../testing/control-plane";
import { ORIGIN } from "../testing/names";
import { addSignedIn, callHttp } from "../testing/people";
import { outsideTransaction } from "../transaction";
import { createCallerFactory } from "../trpc/procedure";

const SETUP = "setup.createAdministrator";
const PASSWORD = "long enough a password";
const VALID = { token: "x", email: "a@example.com", name: "A", password: PASSWORD };

let control: TestControlPlane;

beforeAll(async () => {
  control = await testControlPlane();
});
afterAll(() => control.stop());

const batch = (path: string, calls: number) =>
  control.request("POST", `/trpc/${Array(calls).fill(path).join(",")}?batch=1`, {
    json: Object.fromEntries(Array.from({ length: calls }, (_, i) => [i, { json: {} }])),
  });
const counted = async (path: string, address = "127.0.0.1") =>
  (await control.db.rateLimit.findUnique({ where: { key: `public:${path}:${address}` } }))?.count ?? 0;

/** Calls as nobody from an address, and tells how many transactions that opened. */
async function callAsNobody(
  address: string,
  call: (caller: ReturnType<typeof callerOf>) => Promise<unknown>,
) {
  let opened = 0;
  const db = new Proxy(control.services.db, {
    get(target, name) {
      if (name === "$transaction") opened += 1;
      return Reflect.get(target, name);
    },
  });
  const services = { ...control.services, db };
  const error = await call(callerOf(services, address)).then(
    () => null,
    (thrown: { cause?: unknown }) => thrown.cause,
  );
  return { opened, code: error instanceof HelmError ? error.code : "no error of ours" };
}
const callerOf = (services: TestControlPlane["services"], address: string) =>
  createCallerFactory(appRouter)(
    outsideTransaction({
      services,
      actor: { kind: "anonymous" },
      requestId: "test",
      address,
      log: services.log,
    }),
  );

it("more calls in one request than clients send are refused before one of them runs", async () => {
  const before = await counted(SETUP);
  const refused = await batch(SETUP, MOST_CALLS_A_REQUEST + 1);
  expect(refused.status).toBe(400);
  expect(refused.json.error.code).toBe("BAD_REQUEST");
  expect(await counted(SETUP)).toBe(before);
  const full = await control.request(
    "GET",
    `/trpc/${Array(MOST_CALLS_A_REQUEST).fill("setup.status").join(",")}?batch=1`,
  );
  expect([full.status, full.json.length]).toEqual([200, MOST_CALLS_A_REQUEST]);
});

it("input that cannot be valid opens no transaction", async () => {
  const invalid = await callAsNobody("203.0.113.1", (caller) =>
    caller.setup.createAdministrator({ ...VALID, password: "short" }),
  );
  expect(invalid).toMatchObject({ opened: 0 });
  const valid = await callAsNobody("203.0.113.1", (caller) => caller.setup.createAdministrator(VALID));
  expect(valid).toEqual({ opened: 1, code: "TOKEN_INVALID" });
});

it("a caller past the limit opens none, and invalid input is counted towards it", async () => {
  for (let i = 0; i < 30; i += 1) {
    const path = i < 15 ? SETUP : "invitation.accept";
    await callHttp(control, path, { type: "mutation", input: {} });
  }
  expect(await counted(SETUP)).toBe(15);
  const limited = await callAsNobody("127.0.0.1", (caller) => caller.setup.createAdministrator(VALID));
  expect(limited).toEqual({ opened: 0, code: "RATE_LIMITED" });
  expect(await counted("invitation.accept")).toBe(15);
  const accept = (address: string) =>
    callAsNobody(address, (caller) => caller.invitation.accept({ token: "x", password: PASSWORD }));
  expect(await accept("127.0.0.1")).toEqual({ opened: 1, code: "TOKEN_INVALID" });
  for (let i = 0; i < 29; i += 1) await accept("127.0.0.1");
  expect(await accept("127.0.0.1")).toEqual({ opened: 0, code: "RATE_LIMITED" });
  expect(await accept("203.0.113.2")).toEqual({ opened: 1, code: "TOKEN_INVALID" });
});

it("a person's tries at the password are counted without a connection that waits for another", async () => {
  const { cookie } = await addSignedIn(control, "viewer");
  const ask = {
    type: "mutation",
    input: { current: "wrong", next: PASSWORD },
    headers: { cookie, origin: ORIGIN },
  } as const;
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => callHttp(control, "account.changePassword", ask)),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 400)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(30);
});
