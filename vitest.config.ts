import { defineConfig } from "vitest/config";

const databaseSetup = "@helm/db/testing/global-setup";

interface Room {
  name: string;
  root: string;
  /** True where tests use testDatabase(). */
  database?: boolean;
}

const rooms: Room[] = [
  { name: "contracts", root: "packages/contracts" },
  { name: "pairing", root: "packages/pairing" },
  { name: "cascade", root: "packages/cascade" },
  { name: "admission", root: "packages/admission" },
  { name: "host", root: "packages/host" },
  { name: "db", root: "packages/db", database: true },
  { name: "control-plane", root: "apps/control-plane", database: true },
  { name: "worker", root: "apps/worker" },
  { name: "node", root: "apps/node" },
  { name: "cli", root: "apps/cli" },
  { name: "console", root: "apps/console" },
  { name: "scripts", root: "scripts" },
  // The real programs as processes, and kill -9; needs the bundles that npm test makes.
  { name: "faults", root: "faults" },
];

export default defineConfig({
  test: {
    projects: rooms.map((room) => ({
      root: room.root,
      test: {
        name: room.name,
        include: ["**/*.test.ts", "**/*.test.tsx", "**/*.test.mjs"],
        exclude: ["**/node_modules/**", "**/dist/**", "**/.next/**"],
        globalSetup: room.database ? [databaseSetup] : [],
        testTimeout: 20_000,
        hookTimeout: 60_000,
      },
    })),
    maxWorkers: 2,
  },
});
