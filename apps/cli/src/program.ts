import { METHODS } from "@helm/contracts";
import { Command } from "commander";
import { readConfig } from "./config";
import { usage } from "./failure";
import { addAccess } from "./helm/access/command";
import { addArtifacts } from "./helm/artifact/command";
import { addAudit } from "./helm/audit";
import { calibrate } from "./helm/calibrate/command";
import { checkModels } from "./helm/check";
import { doctor } from "./helm/doctor";
import { evaluate } from "./helm/evaluate/command";
import { inspect } from "./helm/inspect";
import { addJudge } from "./helm/judge/command";
import { ladder } from "./helm/ladder/command";
import { addPerson } from "./helm/person";
import { addRetention } from "./helm/retention/command";
import { addRouting } from "./helm/routing/command";
import { addToken } from "./helm/token";
import { addTraffic } from "./helm/traffic/command";
import { login, logout } from "./server/login";
import { whoami } from "./server/whoami";
import { Screen } from "./terminal/screen";
import { wrap } from "./terminal/style";
import type { AddVerb } from "./verb";

/** The whole command line. `finish` gets the exit code of the verb that ran. */
export function createProgram(finish: (exitCode: number) => void): Command {
  const program = new Command("lifeboat")
    .description("Calibrates pairs of models and routes between them, carrying the KV cache across.")
    .version("0.1.0")
    .exitOverride()
    .showHelpAfterError("(--help shows what can be given)");
  program.configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, "lifeboat: ")) });

  const verb: AddVerb = (parent, usage, description, run) =>
    parent
      .command(usage)
      .description(description)
      .option("--json", "print JSON lines")
      .action(async (...given: unknown[]) => {
        const command = given.at(-1) as Command;
        const options = command.opts<Record<string, string | boolean | undefined>>();
        const config = readConfig(process.env);
        const context = { config, screen: new Screen(options.json === true, config.color) };
        const code = await run(context, command.processedArgs as string[], options);
        finish(typeof code === "number" ? code : 0);
      });

  verb(program, "login <url>", "sign in to a server", (c, [url = ""], o) =>
    login(c, url, {
      email: typeof o.email === "string" ? o.email : undefined,
      passwordStdin: o.passwordStdin === true,
      token: typeof o.token === "string" ? o.token : undefined,
    }),
  )
    .option("--email <email>", "who signs in")
    .option("--password-stdin", "read the password from standard input")
    .option("--token <->", "with a personal token instead, read from standard input (--token -)");
  verb(program, "whoami", "who the server takes you for, and by what", (c) => whoami(c));
  verb(program, "logout", "end the session on the server and forget the sign-in", (c) => logout(c));

  const helm = program.command("helm").description("Helm: pairs, calibrations, routing");
  for (const name of ["login", "logout", "whoami"]) sendUp(helm, name);
  addCalibrate(helm, verb);
  addEvaluate(helm, verb);
  addLadder(helm, verb);
  verb(helm, "check", "whether two models may be a pair, all causes listed", (c, _, o) =>
    checkModels(c, String(o.sourceModel), String(o.targetModel)),
  )
    .requiredOption("--source-model <model>", "id or folder with a config.json")
    .requiredOption("--target-model <model>", "id or folder with a config.json");
  verb(helm, "inspect <model>", "what a model is, from its files", (c, [model = ""]) => inspect(c, model));
  verb(helm, "doctor", "what this host's hardware allows", (c, _, o) =>
    doctor(c, typeof o.telemetry === "string" ? o.telemetry : undefined),
  ).option("--telemetry <file>", "judge one device from a JSON file instead");

  const pair = helm.command("pair").description("pairs of models");
  addRetention(helm, pair, verb);
  addAccess(helm, verb);
  addRouting(helm, pair, verb);
  addJudge(helm, verb);
  addTraffic(helm, verb);
  addPerson(helm, verb);
  addToken(helm, verb);
  addAudit(helm, verb);
  addArtifacts(helm, verb);
  return program;
}

/** Who looks for one of the first words under helm is told where it is. */
function sendUp(helm: Command, name: string): void {
  helm
    .command(name, { hidden: true })
    .allowUnknownOption()
    .allowExcessArguments()
    .action(() => {
      throw usage(`${name} is no verb of helm. It is: lifeboat ${name}`);
    });
}

function addCalibrate(helm: Command, verb: AddVerb): void {
  verb(helm, "calibrate", "fit a mapper for a pair and score it against the gate", (c, _, o) =>
    calibrate(c, o),
  )
    .requiredOption("--source-model <model>", "whose cache is read: id or folder")
    .requiredOption("--target-model <model>", "whose cache is written: id or folder")
    .option(
      "--corpus <corpus>",
      "bundled; a .txt, .jsonl, .jsonl.gz or .parquet file; a folder of them; fineweb-edu; hub:owner/name[/config][@revision]",
      "bundled",
    )
    .option("--corpus-column <name>", "column of the texts or messages (default: text, else messages)")
    .option("--k <n>", "source layers for each target layer", "4")
    .option("--method <name>", "how the map is fitted, one of those below (default: what measures best)")
    .option("--long", "score at 32 times the fitted length too; 4 times is there by default")
    .option("--device <device>", "auto, cuda, rocm or cpu; auto never chooses the CPU", "auto")
    .option("--gate <share>", "retention that must be reached, local runs only (default 0.90)")
    .option("--out <folder>", "where the mapper is written, local runs only")
    .option("--local", "run on this host also where a server is configured")
    .option(
      "--drain",
      "with a server: park the nodes on the worker's machine first, for their memory; they come back when the run ends",
    )
    .option("--accept-no-serving", "with --drain: also where that leaves a route without a node that serves")
    .option("--no-wait", "with a server: exit as soon as the run is queued")
    .option(
      "--sequences <n>",
      "texts fitted (default: the corpus's own, else 500); the gate's 256 come beside",
    )
    .option("--seq-len <n>", "longest sequence in tokens (default: the corpus's own, else 1024)")
    .option("--seed <n>", "seed of the rows drawn (default 0)")
    .option("--threads <n>", "threads used, local runs only")
    .addHelpText("after", methodHelp);
}

function addEvaluate(helm: Command, verb: AddVerb): void {
  verb(helm, "evaluate", "tasks of lm-evaluation-harness, answered from transferred caches", (c, _, o) =>
    evaluate(c, o),
  )
    .option("--install", "install the harness into an environment of its own, and nothing else")
    .option("--source-model <model>", "whose cache is read: id or folder")
    .option("--target-model <model>", "who answers from it: id or folder")
    .option("--mapper <mapper>", "digest of a mapper of this host, its folder or its file")
    .option("--tasks <names>", "with commas between them; see docs/evaluation.md", "helm_bundled")
    .option("--data <folder>", "the benchmarks' documents; without it the hub is asked")
    .option("--limit <n>", "documents of each task at most")
    .option("--num-fewshot <n>", "worked examples, where a task leaves it open")
    .option("--max-length <n>", "context in tokens (default: the models' own)")
    .option("--device <device>", "auto, cuda, rocm or cpu; auto never chooses the CPU", "auto")
    .option("--threads <n>", "threads used")
    .option("--record", "store the result on the server, under its mapper");
}

function addLadder(helm: Command, verb: AddVerb): void {
  verb(helm, "ladder", "twice as many clients at once on each rung, until one breaks a rule", (c, _, o) =>
    ladder(c, o),
  )
    .option(
      "--gateway <url>",
      "a node's gateway; LIFEBOAT_API_KEY holds a tenant's key",
      "http://127.0.0.1:8000",
    )
    .option("--model <name>", "who is asked (default: the pilot of the first route)")
    .option("--from <n>", "clients on the first rung", "1")
    .option("--to <n>", "clients on the last", "64")
    .option("--max-tokens <n>", "length of an answer at most", "32")
    .option("--prompts <file>", "a prompt a line (default: eight of our own)")
    .option("--targets <list>", "correct answers a second to reach, such as 64=20,2048=85.9")
    .option(
      "--max-itl-ratio <ratio>",
      "slowest tokens beside a request alone; ends the climb on a GPU only",
      "1.2",
    )
    .option("--max-memory <size>", "what the gateway may hold, such as 2GiB")
    .option("--timeout <seconds>", "longest that one answer may take", "600")
    .option("--record", "store the result on the server, for the page Ladders");
}

/** The names that --method takes, each with what it does. */
function methodHelp(): string {
  const width = Math.max(...Object.keys(METHODS).map((name) => name.length));
  const lines = Object.entries(METHODS).flatMap(([name, what]) =>
    wrap(what, 78 - width - 4).map((line, row) => `  ${(row === 0 ? name : "").padEnd(width)}  ${line}`),
  );
  return `\nMethods:\n${lines.join("\n")}`;
}
