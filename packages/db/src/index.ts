export { createDb, type Db, type DbOptions } from "./client";
export * from "./generated/client";
export { MigrationError, migrate } from "./migrate";
export { OneAtATimePg } from "./one-at-a-time";
