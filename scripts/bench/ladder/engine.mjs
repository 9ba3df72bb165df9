import { Client } from "undici";
import { Sorry } from "../../lib/sorry.mjs";

/** What an engine measured of its own memory. */
export async function readMemory(socketPath) {
  const client = new Client("http://engine", { socketPath });
  try {
    const answer = await client.request({ method: "GET", path: "/helm/memory" });
    return await answer.body.json();
  } finally {
    await client.close();
  }
}

/** What each model says to each prompt when it is asked alone, twice: one that does not say the same twice checks nothing. */
export async function takeGolden(door, models, prompts, maxTokens) {
  const golden = {};
  for (const model of models) {
    golden[model] = [];
    for (const messages of prompts) {
      const answers = [];
      for (let n = 0; n < 2; n++) answers.push(await door.ask({ model, messages, max_tokens: maxTokens }));
      const [one, other] = answers;
      if (one.kind !== "complete" || one.text !== other.text)
        throw new Sorry(`${model} does not answer a prompt the same way twice when it is alone.`);
      golden[model].push(one.text);
    }
  }
  return golden;
}
