import { request } from "node:http";

/** Decoding rows and steps of a model so far, as the engine's own page of metrics counts them. */
export interface DecodeCounts {
  rows: number;
  steps: number;
}

export async function decodeCounts(socketPath: string, model: string): Promise<DecodeCounts> {
  const page = await readPage(socketPath);
  return {
    rows: sampleOf(page, "helm_engine_decode_rows_total", model),
    steps: sampleOf(page, "helm_engine_decode_steps_total", model),
  };
}

/** Mean number of sequences that a step decoded together between two counts; null where nothing was decoded. */
export function meanBatch(before: DecodeCounts, after: DecodeCounts): number | null {
  const steps = after.steps - before.steps;
  return steps === 0 ? null : (after.rows - before.rows) / steps;
}

function sampleOf(page: string, name: string, model: string): number {
  const line = page
    .split("\n")
    .find((one) => one.startsWith(`${name}{`) && one.includes(`model_name="${model}"`));
  const value = Number(line?.split(" ").at(-1));
  if (!Number.isFinite(value)) throw new Error(`the engine has no ${name} for ${model}`);
  return value;
}

function readPage(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: "/metrics" }, (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => {
        text += part;
      });
      answer.on("end", () => resolve(text));
      answer.on("error", reject);
    });
    asked.on("error", reject);
    asked.end();
  });
}
