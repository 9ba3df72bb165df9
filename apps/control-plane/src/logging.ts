import pino, { type DestinationStream, type Logger } from "pino";

const SECRET_PATHS = [
  "authorization",
  "cookie",
  "password",
  "token",
  "credential",
  "key",
  "secret",
  "headers.authorization",
  "headers.cookie",
  "*.password",
  "*.token",
  "*.credential",
  "*.secret",
];

export type Log = Logger;

/** To standard output, or where a test reads along. */
export function createLog(level: string, to?: DestinationStream): Log {
  const options = { name: "control-plane", level, redact: { paths: SECRET_PATHS, censor: "redacted" } };
  return to ? pino(options, to) : pino(options);
}
