import fc from "fast-check";
import { expect, it } from "vitest";
import { mergeRouting } from "./merge-routing";
import { orderContent, type RoutingContent, sameContent } from "./routing-content";

const sha = fc.constantFrom("a".repeat(64), "b".repeat(64), null);
const pair = (id: string) =>
  fc.record({
    id: fc.constant(id),
    pilot: fc.constant("pilot"),
    target: fc.constant("target"),
    mapper_sha256: sha,
    mapper_bytes: fc.constantFrom(1, 2, null),
    refusal: fc.constantFrom(null, "NOT_CALIBRATED" as const),
    development: fc.boolean(),
    pilot_weights_sha256: sha,
    target_weights_sha256: sha,
    nodes: fc.constantFrom(null, ["n1"], ["n1", "n2"]),
  });
const route = (name: string) =>
  fc.record({
    name: fc.constant(name),
    pair_id: fc.constant("p1"),
    judge: fc.record({
      version: fc.constant("logprob-1"),
      mean_logprob: fc.constantFrom(-1, -2),
      min_logprob: fc.constantFrom(-4, -5),
    }),
    streaming: fc.constantFrom("buffer" as const, "window" as const, "stream" as const),
    window: fc.constantFrom(32, 64),
    default_max_tokens: fc.constantFrom(128, 256),
    hold_turns: fc.constantFrom(null, 3),
  });
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const content: fc.Arbitrary<RoutingContent> = fc
  .tuple(fc.boolean(), maybe(route("a")), maybe(route("b")), pair("p1"), maybe(pair("p2")))
  .map(([helm_enabled, a, b, p1, p2]) =>
    orderContent({
      helm_enabled,
      routes: [a, b].filter((one) => one !== undefined),
      pairs: [p1, p2].filter((one) => one !== undefined),
    }),
  );

it("changes nothing where nothing was changed, and everything where nothing was held back", () => {
  fc.assert(
    fc.property(content, content, (held, now) => {
      expect(mergeRouting(held, now, now).helm_enabled).toBe(held.helm_enabled);
      expect(mergeRouting(held, now, now).pairs).toEqual(
        expect.arrayContaining(held.pairs.map((one) => expect.objectContaining({ id: one.id }))),
      );
      expect(sameContent(mergeRouting(now, now, held), held)).toBe(true);
    }),
  );
});

it("takes one deliberate change and leaves the rest held", () => {
  fc.assert(
    fc.property(content, content, (held, base) => {
      const next = { ...base, helm_enabled: !base.helm_enabled };
      const merged = mergeRouting(held, base, next);
      expect(merged.helm_enabled).toBe(next.helm_enabled);
      expect(merged.routes.toSorted((x, y) => (x.name < y.name ? -1 : 1))).toEqual(held.routes);
      for (const one of held.pairs) expect(merged.pairs).toContainEqual(one);
    }),
  );
});

it("moves a mapper with what belongs to it, and a placement by itself", () => {
  const one = { id: "p", pilot: "a", target: "b", pilot_weights_sha256: null, target_weights_sha256: null };
  const at = (mapper: string, bytes: number, nodes: string[] | null): RoutingContent => ({
    helm_enabled: true,
    routes: [],
    pairs: [{ ...one, mapper_sha256: mapper, mapper_bytes: bytes, refusal: null, development: false, nodes }],
  });
  const held = at("old", 1, null);
  const base = at("new", 2, null);
  expect(mergeRouting(held, base, at("new", 2, ["n1"]))).toEqual(at("old", 1, ["n1"]));
  expect(mergeRouting(held, base, at("newer", 3, null))).toEqual(at("newer", 3, null));
});
