import pino, { type Logger } from "pino";

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

export function createLog(level: string): Log {
  return pino({ name: "control-plane", level, redact: { paths: SECRET_PATHS, censor: "redacted" } });
}
