import { type Command, Option } from "commander";
import type { AddVerb } from "../../verb";
import { readOptions } from "../calibrate/options";
import {
  cancelCalibration,
  compareCalibrations,
  listCalibrations,
  retryCalibration,
  showCalibration,
  startCalibration,
} from "../calibration";
import { listPairs, registerPair } from "../pair";
import { addPairVerb } from "../pair-verb";
import { measureDrift } from "./drift";
import { calibrationLogs } from "./logs";
import { activateMapper, listMappers, retireMapper, showMapper } from "./mapper";
import { listRefused, pairStorage, showPair } from "./pair";

type Given = string | boolean | undefined;
const textOf = (value: Given) => (typeof value === "string" ? value : undefined);

/** Pairs, their calibrations and the mappers that these write: the verbs of the retention pages. */
export function addRetention(helm: Command, pair: Command, verb: AddVerb): void {
  verb(pair, "list", "every pair with its status and score", (c) => listPairs(c));
  addPairVerb(verb, pair, "show", "one pair: its score, its mappers, its runs", (c, s, t) =>
    showPair(c, s, t),
  );
  addPairVerb(verb, pair, "register", "have a worker look at two models", (c, s, t) => registerPair(c, s, t));
  verb(pair, "refused", "registrations that became no pair, with all causes", (c) => listRefused(c));
  verb(pair, "storage", "what mappers take, and would take for every direction", (c) => pairStorage(c));
  addPairVerb(verb, pair, "compare", "every run of a pair against its active one", (c, s, t, o) =>
    showPair(c, s, t, { compare: true, most: Number(o.limit) }),
  ).addOption(new Option("--limit <n>", "how many runs").default("5"));
  addCalibrations(helm, verb);
  addMappers(helm, verb);
  verb(helm, "drift", "what a conversation keeps while two models answer by turns", (c, _, o) =>
    measureDrift(c, o),
  )
    .requiredOption("--source-model <model>", "the pilot: id or folder")
    .requiredOption("--target-model <model>", "the target: id or folder")
    .requiredOption("--mapper <mapper>", "digest, folder or file, from pilot to target")
    .requiredOption("--reverse-mapper <mapper>", "the same, from target to pilot")
    .option("--turns <n>", "answers in a conversation", "10")
    .option("--conversations <n>", "at most so many", "64")
    .option("--record", "store the result on the server, for the pair's page");
}

function addCalibrations(helm: Command, verb: AddVerb): void {
  const calibration = helm.command("calibration").description("calibrations on the server");
  verb(calibration, "list", "newest first; every filter narrows it", (c, _, o) => listCalibrations(c, o))
    .option("--state <states>", "QUEUED, RUNNING, SUCCEEDED, FAILED, CANCELLED or LOST, with commas")
    .option("--verdict <verdict>", "CLEARED or BELOW_GATE")
    .option("--pair <source:target>", "of one pair, e.g. pilot:target")
    .option("--by <person>", "who started it")
    .option("--since <time>", "from then on, e.g. 2026-11-30 or 2026-11-30T12:00Z")
    .option("--until <time>", "before then")
    .addOption(new Option("--limit <n>", "how many").default("25"));
  verb(calibration, "show <id>", "one calibration", (c, [id = ""], o) =>
    showCalibration(c, id, o.wait === true),
  ).option("--wait", "follow it to its end");
  addPairVerb(verb, calibration, "start", "calibrate a registered pair on the server", (c, s, t, o) =>
    startCalibration(c, readOptions({ ...o, sourceModel: s, targetModel: t, wait: o.wait === true })),
  )
    .option("--corpus <corpus>", "as calibrate takes it", "bundled")
    .option("--corpus-column <name>", "column of the texts or messages")
    .option("--k <n>", "source layers for each target layer", "4")
    .option("--method <name>", "how the map is fitted")
    .option("--long", "score at 32 times the fitted length too")
    .option("--device <device>", "auto, cuda, rocm or cpu; auto never chooses the CPU", "auto")
    .option("--drain", "park the nodes on the worker's machine first, for their memory")
    .option("--accept-no-serving", "with --drain: also where that leaves a route without a node that serves")
    .option("--sequences <n>", "texts fitted")
    .option("--seq-len <n>", "longest sequence in tokens")
    .option("--seed <n>", "seed of the rows drawn")
    .option("--wait", "follow it to its end");
  verb(calibration, "logs <id>", "what a run said", (c, [id = ""], o) =>
    calibrationLogs(c, id, { attempt: textOf(o.attempt), follow: o.follow === true }),
  )
    .option("--attempt <n>", "of an earlier attempt (default: the newest)")
    .option("--follow", "go on until the run has ended");
  verb(
    calibration,
    "compare <first> <second...>",
    "calibrations of a pair, each with the first; paired on the same probes",
    (c, ids) => compareCalibrations(c, ids.flat()),
  );
  verb(calibration, "cancel <id>", "end a calibration, by force where it does not stop", (c, [id = ""], o) =>
    cancelCalibration(c, id, o.wait === true),
  ).option("--wait", "until it has ended");
  verb(calibration, "retry <id>", "the same run once more, as a new attempt", (c, [id = ""], o) =>
    retryCalibration(c, id, o.wait === true),
  ).option("--wait", "follow it to its end");
}

function addMappers(helm: Command, verb: AddVerb): void {
  const mapper = helm.command("mapper").description("what calibrations write, and which of them serves");
  verb(mapper, "list", "newest first", (c, _, o) =>
    listMappers(c, { pair: textOf(o.pair), limit: textOf(o.limit), after: textOf(o.after) }),
  )
    .option("--pair <source:target>", "of one pair, e.g. pilot:target")
    .option("--limit <n>", "how many at most, 1 to 200 (default 50)")
    .option("--after <mapper>", "those after this one, as the list's end says");
  verb(mapper, "show <mapper>", "one mapper, by id or digest", (c, [m = ""]) => showMapper(c, m));
  verb(mapper, "activate <mapper>", "serve with it; the active one becomes INACTIVE", (c, [m = ""]) =>
    activateMapper(c, m),
  );
  verb(mapper, "retire <mapper>", "for good; the pair may be left without one", (c, [m = ""]) =>
    retireMapper(c, m),
  );
}
