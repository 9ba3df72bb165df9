import { type Command, Option } from "commander";
import type { AddVerb } from "../../verb";
import { fitJudge } from "./fit";
import { importJudge, listJudge, removeJudge, showJudge } from "./show";

type Given = string | boolean | undefined;
const textOf = (value: Given) => (typeof value === "string" ? value : undefined);

/** What judges a pilot's answers: tables, fitted on answers of which it is known what the target made of them. */
export function addJudge(helm: Command, verb: AddVerb): void {
  const judge = helm.command("judge").description("what judges the pilot's answers, and from where on");
  verb(judge, "list", "every judge's table", (c, _, o) => listJudge(c, textOf(o.pair))).option(
    "--pair <source:target>",
    "of one pair, e.g. pilot:target",
  );
  verb(judge, "show <table>", "one table with its curve: a file, an id or a digest", (c, [t = ""], o) =>
    showJudge(c, t, o),
  )
    .option("--escalation-rate <share>", "the threshold that escalates this share, e.g. 0.2")
    .option("--quality-floor <share>", "the threshold that keeps this quality, e.g. 0.95");
  verb(judge, "fit", "fit a table on labelled answers", (c, _, o) => fitJudge(c, o))
    .option("--calibration <id>", "on the server, on what its models said to the probes of this run")
    .option("--source-model <model>", "on this host: the pilot, id or folder")
    .option("--target-model <model>", "on this host: the target, id or folder")
    .option("--rows <file>", "labelled answers, a JSON object a line (docs/judge.md)")
    .option("--tasks <file>", "verifiable tasks, a JSON object a line: both models answer them here")
    .option("--corpus <corpus>", "without rows and tasks: its probes, as for calibrate (default: bundled)")
    .addOption(
      new Option("--streaming <mode>", "judges whole answers, or their first tokens")
        .choices(["buffer", "window"])
        .default("window"),
    )
    .option("--window <n>", "how many tokens a window holds back (default 64)")
    .option(
      "--label <label>",
      "target_differs, or target_better where every answer was verified (default: what the answers allow)",
    )
    .option("--out <file>", "write the table")
    .option("--save-rows <file>", "write the labelled answers that were collected")
    .option("--record", "store the table on the server")
    .option("--limit <n>", "sequences or tasks at most")
    .option("--device <device>", "auto, cuda, rocm or cpu; auto never chooses the CPU", "auto")
    .option("--threads <n>", "threads used");
  verb(judge, "import <file>", "store a table that was fitted elsewhere", (c, [f = ""]) => importJudge(c, f));
  verb(judge, "remove <table>", "one that no route judges by", (c, [t = ""]) => removeJudge(c, t));
}
