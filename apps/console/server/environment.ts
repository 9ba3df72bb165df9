import { z } from "zod";

/** The console's whole configuration. Read at run time, not frozen by the build. */
const Environment = z.object({
  HELM_CONTROL_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:4400"),
  /** Shared with the control plane, which then believes whose request it is that the console passes on. */
  HELM_CONSOLE_SECRET: z.string().min(32).optional(),
  /** Next.js tells which of its runtimes this is. */
  NEXT_RUNTIME: z.enum(["nodejs", "edge"]).optional(),
  NODE_ENV: z.enum(["development", "production", "test"]).default("production"),
});
export type Environment = z.infer<typeof Environment>;

let parsed: Environment | undefined;

export function environment(): Environment {
  parsed ??= Environment.parse(process.env);
  return parsed;
}
