import { z } from "zod";

/** Bytes for each; what is left out the engine derives from what it measures as free. */
export interface EngineBudgets {
  /** For the caches of all models together, or for each by its served name. */
  kv?: number | Record<string, number>;
  staging?: number;
  mappers?: number;
  mappersHost?: number;
}

const DIGITS = /^[0-9]{1,15}$/;

/** `BYTES` for all models together, or `NAME=BYTES,NAME=BYTES`. */
export const KvBudgets = z.string().transform((text, context): number | Record<string, number> => {
  const refuse = (message: string) => {
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  };
  if (!text.includes("="))
    return bytesOf(text) ?? refuse(`"${text}" is neither a number of bytes above zero nor NAME=BYTES`);
  const budgets: Record<string, number> = {};
  for (const entry of text.split(",").map((one) => one.trim())) {
    const at = entry.lastIndexOf("=");
    const [name, bytes] = [entry.slice(0, Math.max(0, at)), bytesOf(entry.slice(at + 1))];
    if (!name || bytes === null) return refuse(`"${entry}" is not NAME=BYTES with a number above zero`);
    if (Object.hasOwn(budgets, name)) return refuse(`"${name}" is named twice`);
    budgets[name] = bytes;
  }
  return budgets;
});

function bytesOf(text: string): number | null {
  return DIGITS.test(text.trim()) && Number(text) > 0 ? Number(text) : null;
}

/** Errors: a budget for a model that is not served. */
export function checkBudgetNames(kv: EngineBudgets["kv"], models: readonly { name: string }[]): void {
  if (typeof kv !== "object") return;
  const served = models.map(({ name }) => name);
  const unknown = Object.keys(kv).find((name) => !served.includes(name));
  if (unknown === undefined) return;
  throw new Error(
    `The environment cannot be used. HELM_ENGINE_KV_BYTES: no model "${unknown}" is served here; those are ${served.join(", ")}.`,
  );
}

/** As the engine's command line takes them. */
export function budgetOptions({ kv, staging, mappers, mappersHost }: EngineBudgets = {}): string[] {
  const caches =
    typeof kv === "object" ? Object.entries(kv).map(([name, bytes]) => `${name}=${bytes}`) : [kv];
  const options: [string, string | number | undefined][] = [
    ...caches.map((budget): [string, string | number | undefined] => ["--kv-budget-bytes", budget]),
    ["--staging-budget-bytes", staging],
    ["--mapper-budget-bytes", mappers],
    ["--mapper-host-budget-bytes", mappersHost],
  ];
  return options.flatMap(([name, bytes]) => (bytes === undefined ? [] : [name, String(bytes)]));
}
