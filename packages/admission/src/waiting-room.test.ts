import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Place, WaitingRoom } from "./waiting-room";

interface Request extends Place {
  n: number;
}

const make = (room: WaitingRoom<Request, Place>, tenant: string, bytes: number, n: number): Request => {
  const request = { tenant, bytes, n, overtaken: { bytes: 0 }, ...room.place(tenant) };
  room.enter(request);
  return request;
};

const drain = (room: WaitingRoom<Request, Place>): Request[] => {
  const out: Request[] = [];
  for (let head = room.head(); head && "request" in head; head = room.head()) {
    room.advance(head.request);
    room.leave(head.request);
    out.push(head.request);
  }
  return out;
};

describe("the waiting room", () => {
  it("keeps order within a tenant and lets no tenant wait for more than one turn of each other", () => {
    const bytes = fc.integer({ min: 0, max: 1e12 });
    const asks = fc.array(fc.record({ tenant: fc.constantFrom("a", "b", "c"), bytes }), { maxLength: 60 });
    fc.assert(
      fc.property(asks, (all) => {
        const room = new WaitingRoom<Request, Place>();
        all.forEach((ask, n) => {
          make(room, ask.tenant, ask.bytes, n);
        });
        const out = drain(room);
        expect(out).toHaveLength(all.length);
        for (const tenant of ["a", "b", "c"]) {
          const own = out.filter((one) => one.tenant === tenant).map((one) => one.n);
          expect(own).toEqual([...own].sort((x, y) => x - y));
          const places = out.flatMap((one, at) => (one.tenant === tenant ? [at] : []));
          places.forEach((place, at) => {
            expect(place - (places[at - 1] ?? -1)).toBeLessThanOrEqual(3);
          });
        }
      }),
    );
  });

  it("lets who comes late begin at the present turn", () => {
    const room = new WaitingRoom<Request, Place>();
    for (let n = 0; n < 50; n++) make(room, "a", 1, n);
    for (let n = 0; n < 20; n++) {
      const head = room.head();
      if (!head || !("request" in head)) throw new Error("somebody waits");
      room.advance(head.request);
      room.leave(head.request);
    }
    make(room, "b", 1, 99);
    expect(
      drain(room)
        .slice(0, 2)
        .map((one) => one.tenant),
    ).toContain("b");
  });

  it("finds the first in turn that fits, whatever stands before it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 60 }),
        fc.nat(20),
        (exponents, limit) => {
          const room = new WaitingRoom<Request, Place>();
          const all = exponents.map((exponent, n) => make(room, "a", 2 ** exponent, n));
          const [head] = all as [Request];
          const found = room.behind(head, 2 ** limit);
          // Powers of two stand alone in their classes, so that the answer is exact.
          const fits = all.find((one) => one !== head && one.bytes <= 2 ** limit && one.bytes !== head.bytes);
          expect(found).toBe(fits);
        },
      ),
    );
  });

  it("counts a line down as it leaves, in any order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom("a", "b"), fc.boolean()), { maxLength: 200 }),
        (steps) => {
          const room = new WaitingRoom<Request, Place>();
          const live: Request[] = [];
          steps.forEach(([tenant, comes], n) => {
            if (comes) live.push(make(room, tenant, (n % 7) + 1, n));
            else {
              const [gone] = live.splice((n * 31) % Math.max(1, live.length), 1);
              if (gone) room.leave(gone);
            }
            expect(room.size).toBe(live.length);
            const count = (name: string) => live.filter((one) => one.tenant === name).length;
            const way = room.givesWayTo("a");
            expect(way !== undefined).toBe(count("b") > count("a"));
            if (way) expect(way).toBe(live.findLast((one) => one.tenant === "b"));
          });
          expect(drain(room)).toHaveLength(live.length);
        },
      ),
    );
  });
});
