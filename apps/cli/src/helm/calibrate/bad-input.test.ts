import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { lifeboat } from "../../testing";
import {
  copyOfPilot,
  cutShort,
  largeModel,
  pythonWithin,
  simulatedAmdSmi,
  withConfig,
  withNaN,
  withOtherTokenizer,
} from "./bad-models";

// Each run is a whole process, and Python behind it.
vi.setConfig({ testTimeout: 120_000 });

let root = "";
const at = (name: string) => join(root, name);

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "lifeboat-bad-"));
  await Promise.all([
    withConfig(at("half"), "{ half"),
    withConfig(at("list"), "[]"),
    withConfig(at("no-layers"), JSON.stringify({ model_type: "qwen3", num_hidden_layers: 0 })),
    withConfig(at("text-heads"), JSON.stringify({ model_type: "qwen3", num_attention_heads: "16" })),
    copyOfPilot(at("no-tokenizer")).then((folder) => rm(join(folder, "tokenizer.json"))),
    withOtherTokenizer(at("other-tokenizer")),
    withNaN(at("nan")),
    cutShort(at("cut")),
    largeModel(at("large")),
    simulatedAmdSmi(at("radeon"), "AMD Radeon RX 7900 XTX", "gfx1100"),
    simulatedAmdSmi(at("instinct"), "AMD Instinct MI300X", "gfx942"),
    writeFile(at("empty.txt"), ""),
    writeFile(at("short.txt"), "A text of one sentence."),
    writeFile(at("broken.jsonl"), '{"text": "good"}\n{"te'),
    writeFile(at("file"), "mine"),
  ]);
  await pythonWithin(root, 3 << 20);
});
afterAll(() => rm(root, { recursive: true, force: true }));

interface Case {
  name: string;
  /** Over --source-model pilot --target-model target --device cpu --local. */
  given?: Record<string, string | null>;
  more?: string[];
  environment?: () => Record<string, string>;
  exit: number;
  code: string;
  says: RegExp;
}

const both = (name: string) => ({ "source-model": `@${name}`, "target-model": `@${name}` });
const path = (name: string) => () => ({ PATH: `${at(name)}:${process.env.PATH}` });
const server = () => ({ LIFEBOAT_URL: "http://127.0.0.1:9", LIFEBOAT_TOKEN: "lbt_none" });

const cases: Case[] = [
  {
    name: "unknown source",
    given: { "source-model": "nope" },
    exit: 5,
    code: "MODEL_NOT_FOUND",
    says: /"nope".*HELM_MODEL_ROOTS/,
  },
  {
    name: "unknown target",
    given: { "target-model": "a/b" },
    exit: 5,
    code: "MODEL_NOT_FOUND",
    says: /"a\/b"/,
  },
  {
    name: "half a config",
    given: { "source-model": "@half" },
    exit: 5,
    code: "CONFIG_UNREADABLE",
    says: /half: .*cannot be read.*[Mm]end the folder/,
  },
  {
    name: "a config that is a list",
    given: { "source-model": "@list" },
    exit: 5,
    code: "CONFIG_UNREADABLE",
    says: /no JSON object/,
  },
  {
    name: "a config of no layers",
    given: { "target-model": "@no-layers" },
    exit: 5,
    code: "CONFIG_UNREADABLE",
    says: /num_hidden_layers is 0/,
  },
  {
    name: "heads as a text",
    given: { "target-model": "@text-heads" },
    exit: 5,
    code: "CONFIG_UNREADABLE",
    says: /num_attention_heads is "16"/,
  },
  {
    name: "weights cut short",
    given: both("cut"),
    exit: 5,
    code: "WEIGHTS_UNREADABLE",
    says: /download it again/,
  },
  {
    name: "one merge different",
    given: { "source-model": "@other-tokenizer" },
    exit: 3,
    code: "PAIR_IMPOSSIBLE",
    says: /Impossible pair/,
  },
  {
    name: "no tokenizer",
    given: both("no-tokenizer"),
    exit: 3,
    code: "PAIR_IMPOSSIBLE",
    says: /Impossible pair/,
  },
  {
    name: "another shape",
    given: { "target-model": "odd" },
    exit: 3,
    code: "PAIR_IMPOSSIBLE",
    says: /The 2 causes/,
  },
  {
    name: "weights that are no numbers",
    given: both("nan"),
    exit: 1,
    code: "NON_FINITE_WEIGHTS",
    says: /not finite/,
  },
  {
    name: "models larger than memory",
    given: both("large"),
    environment: () => ({ HELM_PYTHON: at("python"), XDG_CACHE_HOME: at("cache") }),
    exit: 6,
    code: "MEMORY_SHORT",
    says: /need about \d+ MiB and \d+ MiB are free/,
  },
  {
    name: "an empty corpus",
    given: { corpus: "@empty.txt" },
    exit: 5,
    code: "CORPUS_TOO_SHORT",
    says: /empty\.txt holds no text/,
  },
  {
    name: "a short corpus",
    given: { corpus: "@short.txt" },
    exit: 5,
    code: "CORPUS_TOO_SHORT",
    says: /longer|more/,
  },
  {
    name: "a broken corpus",
    given: { corpus: "@broken.jsonl" },
    exit: 5,
    code: "CORPUS_UNREADABLE",
    says: /broken\.jsonl/,
  },
  {
    name: "no corpus",
    given: { corpus: "@nowhere.txt" },
    exit: 5,
    code: "CORPUS_NOT_FOUND",
    says: /no corpus/,
  },
  {
    name: "more layers than there are",
    given: { k: "6" },
    exit: 2,
    code: "USAGE",
    says: /--k 6 is more than the 5 layers of pilot/,
  },
  ...["0", "-1", "1.5", "four", "1e3", "", " 4"].map((k) => ({
    name: `k "${k}"`,
    given: { k },
    exit: 2,
    code: "USAGE",
    says: /--k/,
  })),
  ...["0", "1.01", "-0.5", "NaN", "high", ""].map((gate) => ({
    name: `gate "${gate}"`,
    given: { gate },
    exit: 2,
    code: "USAGE",
    says: /outside \(0, 1\]/,
  })),
  {
    name: "an unknown method",
    given: { method: "magic" },
    exit: 2,
    code: "USAGE",
    says: /--method magic/,
  },
  {
    name: "an unknown device",
    given: { device: "tpu" },
    exit: 2,
    code: "USAGE",
    says: /--device tpu is not one of auto, cuda, rocm, cpu/,
  },
  {
    name: "an option twice",
    more: ["--k", "3", "--k=4"],
    given: { k: null },
    exit: 2,
    code: "USAGE",
    says: /--k is given twice/,
  },
  {
    name: "an unknown option",
    more: ["--speed", "9"],
    exit: 2,
    code: "USAGE",
    says: /unknown option '--speed'/,
  },
  { name: "no target", given: { "target-model": null }, exit: 2, code: "USAGE", says: /--target-model/ },
  {
    name: "a gate with a server",
    given: { local: null, gate: "0.9" },
    environment: server,
    exit: 2,
    code: "USAGE",
    says: /--gate holds for a local run/,
  },
  {
    name: "an out folder that is a file",
    given: { out: "@file" },
    exit: 2,
    code: "OUT_NO_FOLDER",
    says: /is no folder/,
  },
  {
    name: "an out folder that cannot be written",
    given: { out: "/proc/mappers" },
    exit: 6,
    code: "OUT_UNWRITABLE",
    says: /\/proc\/mappers/,
  },
  ...["auto", "cuda", "rocm", "cpu"].map((device) => ({
    name: `a refused GPU, --device ${device}`,
    given: { device },
    environment: path("radeon"),
    exit: 4,
    code: "HW_REFUSED",
    says: /7900 XTX.*gfx1100/,
  })),
  {
    name: "a torch that cannot use the GPU",
    given: { device: "auto" },
    environment: path("instinct"),
    exit: 4,
    code: "TORCH_WITHOUT_GPU",
    says: /MI300X is there.*pip install/,
  },
  {
    name: "the other vendor's device",
    given: { device: "cuda" },
    environment: path("instinct"),
    exit: 4,
    code: "HW_REFUSED",
    says: /--device cuda/,
  },
  {
    name: "the CPU beside an allowed GPU",
    given: { device: "cpu" },
    environment: path("instinct"),
    exit: 2,
    code: "CPU_BESIDE_GPU",
    says: /MI300X/,
  },
];

describe("what a calibration refuses", () => {
  it.each(cases)("$name: exit $exit", async ({ given = {}, more = [], environment, exit, code, says }) => {
    const options: Record<string, string | null> = {
      "source-model": "pilot",
      "target-model": "target",
      device: "cpu",
      local: "",
      out: at("out"),
      ...given,
    };
    const args = Object.entries(options).flatMap(([name, value]) => {
      if (value === null) return [];
      if (name === "local") return ["--local"];
      return [`--${name}`, value.startsWith("@") ? at(value.slice(1)) : value];
    });
    const ran = await lifeboat(["helm", "calibrate", ...args, ...more, "--json"], {
      OMP_NUM_THREADS: "1",
      ...environment?.(),
    });
    expect(ran.lines.at(-1)).toMatchObject({ type: "failed", code, exit_code: exit });
    expect(ran.code).toBe(exit);
    expect(ran.stderr).toMatch(says);
    // One line; the causes of an impossible pair and the parser's hint at --help follow it.
    const [first = "", ...rest] = ran.stderr.trimEnd().split("\n");
    expect(first).toMatch(/^lifeboat: .{10,}/);
    expect(rest.filter((line) => !/^ {2}\w+: |^\((--help|Did you mean)/.test(line))).toEqual([]);
    expect(ran.stdout + ran.stderr).not.toMatch(/Traceback|File "|\n\s+at /);
    expect(await readdir(root)).not.toContain("mapper.safetensors");
  });

  it("needs a GPU unless the CPU is asked for by name", async () => {
    const host = await lifeboat(["helm", "doctor", "--json"]);
    if (host.lines.at(-1)?.verdict !== "none") return;
    const ran = await lifeboat(["helm", "calibrate", "--source-model", "pilot", "--target-model", "target"]);
    expect(ran.code).toBe(4);
    expect(ran.stderr).toMatch(/no accelerator.*--device cpu/);
  });
});

describe("lifeboat helm doctor on a simulated host", () => {
  it("names a refused GPU and one that torch cannot use", async () => {
    const refused = await lifeboat(["helm", "doctor"], path("radeon")());
    expect(refused.code).toBe(4);
    expect(refused.stdout).toMatch(/refused {2}Refused: AMD Radeon RX 7900 XTX is gfx1100/);
    const allowed = await lifeboat(["helm", "doctor", "--json"], path("instinct")());
    expect(allowed.code).toBe(0);
    expect(allowed.lines.at(-1)).toMatchObject({
      verdict: "allowed",
      torch_problem: expect.stringMatching(/pip install/),
    });
  });
});
