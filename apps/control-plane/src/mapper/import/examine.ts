import { findUnstorable, ModelFacts, UNSTORABLE } from "@helm/contracts";
import { requiredArms } from "@helm/pairing";
import type { Context } from "../../context";
import { checkShapes } from "./check-shapes";
import { MapperManifest } from "./manifest";
import { readMapperFile } from "./read-file";
import { refused } from "./refused";

export interface Candidate {
  manifest: MapperManifest;
  bytes: number;
  pair: { id: string; name: string; control: boolean };
}

const MOST_ISSUES = 12;

/** Everything that a file must be before its counts are worth a verdict. Errors: IMPORT_REFUSED with all causes at once. */
export async function examine(ctx: Context, sha256: string): Promise<Candidate> {
  const file = await readMapperFile(ctx.services.artifacts, sha256);
  if (typeof file === "string") throw refused([file]);
  // Loose fields are stored as they came: what the database could not take is the file's fault, not ours.
  const unstorable = findUnstorable(file.manifest);
  if (unstorable !== null) throw refused([`Its manifest's ${unstorable.slice(0, 200)}: ${UNSTORABLE}`]);
  const parsed = MapperManifest.safeParse(file.manifest);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(
      ({ path, message }) => `Its manifest's ${path.map(String).join(".") || "whole"}: ${message}.`,
    );
    throw refused(
      issues.length > MOST_ISSUES
        ? [...issues.slice(0, MOST_ISSUES), `And ${issues.length - MOST_ISSUES} more.`]
        : issues,
    );
  }
  const manifest = parsed.data;
  const { pair, causes } = await findPair(ctx, manifest);
  causes.push(...checkShapes(manifest, file.tensors), ...checkOrigin(manifest));
  causes.push(...checkArms(manifest, pair?.control ?? false));
  if (causes.length > 0 || !pair) throw refused(causes);
  return { manifest, bytes: file.bytes, pair };
}

/** A mapper is for weights, not for names: a host may call its folders what it likes. */
async function findPair(ctx: Context, { source, target }: MapperManifest) {
  const pairs = await ctx.db.pair.findMany({
    where: {
      source: { weightsSha256: source.weights_sha256 },
      target: { weightsSha256: target.weights_sha256 },
    },
    include: { source: true, target: true },
  });
  const found = pairs[0];
  if (!found) {
    const cause = `No pair here has the weights of its ${source.id} (${source.weights_sha256.slice(0, 12)}) and ${target.id} (${target.weights_sha256.slice(0, 12)}). Register the pair on a worker that has both models, then import again.`;
    return { pair: null, causes: [cause] };
  }
  const causes = [
    ...differences("source", source, found.source),
    ...differences("target", target, found.target),
  ];
  const name = `${found.source.name} -> ${found.target.name}`;
  return { pair: { id: found.id, name, control: found.control }, causes };
}

/** What a manifest could lie of beside the right digests. */
function differences(
  side: "source" | "target",
  claimed: MapperManifest["source"],
  model: { name: string; facts: unknown; tokenizerSha256: string | null },
): string[] {
  const facts = ModelFacts.parse(model.facts);
  const causes: string[] = [];
  if (claimed.tokenizer !== model.tokenizerSha256)
    causes.push(`Its ${side} has another tokenizer than ${model.name} here.`);
  for (const fact of ["num_hidden_layers", "num_key_value_heads", "head_dim"] as const)
    if (facts[fact] != null && facts[fact] !== claimed[fact])
      causes.push(`Its ${side} states ${fact} ${claimed[fact]}; ${model.name} here has ${facts[fact]}.`);
  return causes;
}

/** A CPU computes in float32 and an accelerator in bfloat16: a file that says one and holds the other is neither. */
function checkOrigin({ device, dtype, development }: MapperManifest): string[] {
  const cpu = device === "cpu";
  const causes: string[] = [];
  if ((dtype === "float32") !== cpu)
    causes.push(
      `It says that it was made on ${device} and holds ${dtype}, which is not what a run there writes.`,
    );
  if (development !== cpu)
    causes.push(`It says device ${device} and development ${development}, which contradict each other.`);
  return causes;
}

function checkArms({ method, counts }: MapperManifest, control: boolean): string[] {
  const missing = requiredArms({ method, control }).filter((arm) => (counts[arm] ?? []).length === 0);
  if (missing.length === 0) return [];
  return [`Its counts lack ${missing.join(", ")}: without them no verdict can be made.`];
}
