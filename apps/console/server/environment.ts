import { z } from "zod";

/** The console's whole configuration: where the control plane answers. Read at run time, not frozen by the build. */
const Environment = z.object({
  HELM_CONTROL_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:4400"),
  NODE_ENV: z.enum(["development", "production", "test"]).default("production"),
});
export type Environment = z.infer<typeof Environment>;

let parsed: Environment | undefined;

export function environment(): Environment {
  parsed ??= Environment.parse(process.env);
  return parsed;
}
