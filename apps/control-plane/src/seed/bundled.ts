import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";
import { registerPair } from "../pair/register";
import { DEFAULT_ROUTE } from "../route/schema";

const PILOT = "pilot";
const TARGET = "target";
export const DEMO_TENANT = "demo";

/** Both directions and the control of the bundled family, through a worker's inspection like any other pair, and a
 * tenant that starts excluded. Run at every boot; what is there already is left alone. */
export async function seedBundled(ctx: Context): Promise<void> {
  const directions = [
    { sourceModel: PILOT, targetModel: TARGET },
    { sourceModel: TARGET, targetModel: PILOT },
    { sourceModel: TARGET, targetModel: TARGET },
  ];
  for (const input of directions) {
    const { sourceModel, targetModel } = input;
    const pair = await ctx.db.pair.findFirst({
      where: { source: { name: sourceModel }, target: { name: targetModel } },
    });
    const open = await ctx.db.pairRegistration.findFirst({
      where: { sourceModel, targetModel, state: "PENDING" },
    });
    if (!pair && !open) await registerPair({ ctx, input });
  }
  if (!(await ctx.db.tenant.findFirst())) {
    const tenant = await ctx.db.tenant.create({ data: { name: DEMO_TENANT } });
    await writeAudit(ctx, {
      verb: "tenant.create",
      entity: "tenant",
      entityId: tenant.id,
      after: { name: DEMO_TENANT, enabled: false },
    });
  }
}

/** A guess to start from: nothing was measured of a pair that an administrator brings. */
const FIRST_JUDGE = { meanLogprob: -0.5, minLogprob: -3 };
/**
 * Chosen and measured on the same 170 bundled tasks (in-sample): escalates 24 %, which holds 82 % of the pilot's wrong answers and 4 % of its
 * right ones (-0.5 and -3: 8 %, 27 % and 1 %).
 */
const BUNDLED_JUDGE = { meanLogprob: -0.1, minLogprob: -1 };

/** The first pair that is no control gets the fleet's route, so that there is something to switch on. */
export async function afterRegistration(
  ctx: Context,
  registration: { sourceModel: string; targetModel: string; requestedBy: string },
  pairId: string,
): Promise<void> {
  const seeded = registration.requestedBy === "seed";
  const wanted = seeded
    ? registration.sourceModel === PILOT && registration.targetModel === TARGET
    : registration.sourceModel !== registration.targetModel;
  if (!wanted || (await ctx.db.route.findFirst())) return;
  const data = { name: DEFAULT_ROUTE, pairId, ...(seeded ? BUNDLED_JUDGE : FIRST_JUDGE) };
  // A person may be making the very route: then it is there, and the registration is none the worse for it.
  const { count } = await ctx.db.route.createMany({ data, skipDuplicates: true });
  if (count === 0) return;
  const route = await ctx.db.route.findUniqueOrThrow({ where: { name: DEFAULT_ROUTE } });
  await writeAudit(ctx, {
    verb: "route.create",
    entity: "route",
    entityId: route.id,
    after: { name: route.name, pairId, meanLogprob: route.meanLogprob, minLogprob: route.minLogprob },
  });
}
