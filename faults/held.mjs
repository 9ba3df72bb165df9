import { Agent, request } from "undici";

/** The numbers of a metrics page by series, as they stand there. */
async function series(url, dispatcher) {
  const answer = await request(url, { dispatcher });
  const lines = (await answer.body.text()).split("\n");
  return lines
    .filter((line) => line && !line.startsWith("#"))
    .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]);
}

const GATEWAY = /^helm_(admission_reserved_bytes|admission_waiting|requests_running)\b/;
const ENGINE = /^(vllm:num_requests_(running|waiting)|vllm:kv_cache_usage_perc|helm_engine_staging_bytes)\b/;

/**
 * Everything that is held for requests and not zero, at the gateway and in its engine; empty where nothing is. A prefix
 * that is only kept for a later hit is held for nobody.
 */
export async function heldNow({ url, socketPath }) {
  const engine = new Agent({ connect: { socketPath }, pipelining: 0 });
  const plain = new Agent({ pipelining: 0 });
  try {
    const found = [
      ...(await series(`${url}/metrics`, plain)).filter(([name]) => GATEWAY.test(name)),
      ...(await series("http://engine/metrics", engine)).filter(([name]) => ENGINE.test(name)),
    ];
    if (found.length < 8) throw new Error(`only ${found.length} series tell what is held`);
    return Object.fromEntries(found.filter(([, value]) => value !== 0));
  } finally {
    await engine.close();
    await plain.close();
  }
}
