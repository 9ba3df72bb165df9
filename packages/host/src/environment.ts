import type { z } from "zod";

/** Parses a program's environment once, at boot. Errors: one sentence that names every wrong variable. */
export function parseEnvironment<T extends z.ZodType>(schema: T, environment: NodeJS.ProcessEnv): z.infer<T> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ""));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const wrong = parsed.error.issues.map((issue) => {
    const name = issue.path.join(".");
    return `${name || "environment"}: ${isNoNumber(issue) ? `${JSON.stringify(given[name])} is no number` : issue.message}`;
  });
  throw new Error(`The environment cannot be used. ${wrong.join("; ")}`);
}

/** Text where digits alone are taken: `2m`, `2GiB`. */
function isNoNumber(issue: z.core.$ZodIssue): boolean {
  return issue.code === "invalid_type" && issue.expected === "number";
}

const SECRET = /token|secret|password|credential|database_url|key|proxy/i;

/** The configuration as it may be logged, whatever is nested in it. */
export function redacted(configuration: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(configuration).map(([name, value]) => [
      name,
      SECRET.test(name) && value ? "[redacted]" : isPlain(value) ? redacted(value) : value,
    ]),
  );
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
