import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export const KEY = "hlm_test";

/** How the double answers the n-th generation it is asked for, counted from 0. */
export type Behaviour = (n: number) => "answer" | "wrong" | "refuse" | "cut" | "plain";

/** A test double of a node's gateway: it answers with the prompt's own words, or as `behave` says. */
export async function scriptedGateway(behave: Behaviour = () => "answer"): Promise<string> {
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.url === "/metrics") return send(response, "process_resident_memory_bytes 1000000\n");
    if (request.url === "/health") return send(response, JSON.stringify({ engine: "a test double" }));
    if (request.headers.authorization !== `Bearer ${KEY}`) return typed(response, 401, "invalid_api_key");
    if (request.url === "/v1/models") {
      const data = [{ id: "small" }, { id: "large" }, { id: "helm-auto", helm: { pilot: "small" } }];
      return send(response, JSON.stringify({ data }));
    }
    const how = asked++;
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { messages } = JSON.parse(Buffer.concat(parts).toString("utf8"));
      const prompt: string = messages[0].content;
      const mode = behave(how);
      // A turn of the clock, so that requests of one rung do overlap.
      setTimeout(() => {
        answer(response, mode, prompt);
      }, 2);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answer(response: ServerResponse, mode: ReturnType<Behaviour>, prompt: string): void {
  if (mode === "refuse") {
    typed(response, 429, "kv_memory_short", { shortfall_bytes: 4096 });
    return;
  }
  if (mode === "plain") {
    response.writeHead(500).end("something broke");
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream", "x-helm-served-by": "small" });
  const words = mode === "wrong" ? ["another", "answer"] : prompt.split(" ");
  for (const word of words) event(response, { choices: [{ delta: { content: `${word} ` } }] });
  if (mode === "cut") {
    response.end();
    return;
  }
  event(response, { choices: [{ delta: {}, finish_reason: "stop" }] });
  event(response, { choices: [], usage: { completion_tokens: words.length } });
  response.end("data: [DONE]\n\n");
}

function send(response: ServerResponse, text: string): void {
  response.end(text);
}

function event(response: ServerResponse, value: unknown): void {
  response.write(`data: ${JSON.stringify(value)}\n\n`);
}

function typed(response: ServerResponse, status: number, code: string, helm?: unknown): void {
  const type = status === 401 ? "authentication_error" : "admission_error";
  response.writeHead(status).end(JSON.stringify({ error: { message: code, type, code, param: null, helm } }));
}
