import pino, { type Logger } from "pino";

export type { Logger } from "pino";

/** JSON lines on stderr; credentials never reach them. */
export function createLogger(name: string, level = "info"): Logger {
  return pino(
    {
      name,
      level,
      base: { name },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: [
        "*.credential",
        "*.join_token",
        "*.authorization",
        "credential",
        "join_token",
        "authorization",
        "headers.authorization",
      ],
    },
    pino.destination({ dest: 2, sync: true }),
  );
}
