import { ModelFacts } from "@helm/contracts";
import type { Prisma } from "@helm/db";
import { checkPair } from "@helm/pairing";
import { writeAudit } from "../audit/write-audit";
import type { Context } from "../context";
import { afterRegistration } from "../seed/bundled";
import { refreshPairStatus } from "./refresh-status";

const forDecision = {
  sourceInspection: true,
  targetInspection: true,
} satisfies Prisma.PairRegistrationInclude;
const DECISION_LOCK = 7_210_116_063;

type Waiting = Prisma.PairRegistrationGetPayload<{ include: typeof forDecision }>;

/** Every registration that waited for this inspection and has both now is registered, refused or failed. */
export async function decideRegistrations(ctx: Context, inspectionId: string): Promise<void> {
  // One after another: of two workers that end both inspections at one moment, neither would see that both are there.
  await ctx.db.$executeRaw`SELECT pg_advisory_xact_lock(${DECISION_LOCK}::bigint)`;
  const waiting = await ctx.db.pairRegistration.findMany({
    where: {
      state: "PENDING",
      OR: [{ sourceInspectionId: inspectionId }, { targetInspectionId: inspectionId }],
    },
    include: forDecision,
    orderBy: { id: "asc" },
  });
  for (const registration of waiting) await decide(ctx, registration);
}

async function decide(ctx: Context, registration: Waiting): Promise<void> {
  const inspections = [registration.sourceInspection, registration.targetInspection];
  const failed = inspections.filter((inspection) => inspection.state === "FAILED");
  if (failed.length > 0) {
    const message = [
      ...new Set(
        failed.map((inspection) => inspection.errorMessage ?? `${inspection.model} could not be read.`),
      ),
    ].join(" ");
    return record(ctx, registration, { state: "FAILED", causes: [], message, pairId: null });
  }
  if (inspections.some((inspection) => inspection.state !== "SUCCEEDED")) return;
  const source = ModelFacts.parse(registration.sourceInspection.facts);
  const target = ModelFacts.parse(registration.targetInspection.facts);
  const check = checkPair(source, target, { requireTokenizer: true });
  if (!check.ok) {
    const message = `${source.id} -> ${target.id} cannot be a pair.`;
    return record(ctx, registration, { state: "REFUSED", causes: check.causes, message, pairId: null });
  }
  const pairId = await createPair(ctx, source, target, check.control);
  const message = check.notes.length > 0 ? check.notes.join(" ") : null;
  await record(ctx, registration, { state: "REGISTERED", causes: [], message, pairId });
  await afterRegistration(ctx, registration, pairId);
}

async function createPair(
  ctx: Context,
  source: ModelFacts,
  target: ModelFacts,
  control: boolean,
): Promise<string> {
  const sourceId = await storeModel(ctx, source);
  const targetId = source.id === target.id ? sourceId : await storeModel(ctx, target);
  const pair = await ctx.db.pair.upsert({
    where: { sourceId_targetId: { sourceId, targetId } },
    create: { sourceId, targetId, control },
    update: { control },
  });
  await refreshPairStatus(ctx, pair.id);
  return pair.id;
}

async function storeModel(ctx: Context, facts: ModelFacts): Promise<string> {
  const data = {
    facts: facts as Prisma.InputJsonValue,
    weightsSha256: facts.weights_sha256 ?? null,
    tokenizerSha256: facts.tokenizer ?? null,
    inspectedAt: new Date(),
  };
  const model = await ctx.db.model.upsert({
    where: { name: facts.id },
    create: { name: facts.id, ...data },
    update: data,
  });
  return model.id;
}

interface Decision {
  state: "REGISTERED" | "REFUSED" | "FAILED";
  causes: { cause: string; model: string; sentence: string }[];
  message: string | null;
  pairId: string | null;
}

async function record(ctx: Context, registration: Waiting, decision: Decision): Promise<void> {
  const { state, causes, message, pairId } = decision;
  await ctx.db.pairRegistration.update({
    where: { id: registration.id },
    data: {
      state,
      causes: causes as unknown as Prisma.InputJsonValue,
      message,
      pairId,
      decidedAt: new Date(),
    },
  });
  await writeAudit(ctx, {
    verb: `pair.${state.toLowerCase() as Lowercase<typeof state>}`,
    entity: "registration",
    entityId: registration.id,
    before: { state: "PENDING" },
    after: {
      state,
      pairId,
      causes,
      sourceModel: registration.sourceModel,
      targetModel: registration.targetModel,
    },
    reason: message ?? undefined,
  });
}
