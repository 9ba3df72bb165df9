import pino from "pino";
import { expect, it } from "vitest";
import { readChunks } from "../engine/chunk";
import { chat, GatewayFixture } from "../testing/gateway-fixture";
import { words } from "../testing/scripted-engine";

const on = new GatewayFixture();
const SECRET = "whom the board dismisses on Friday";

it.each([400, 500])(
  "writes nothing of a prompt into its log where an engine quotes it in a %d",
  async (status) => {
    const lines: string[] = [];
    on.gateway.resources.log = pino({ level: "trace" }, { write: (line: string) => void lines.push(line) });
    const body = { error: { code: "bad_input", message: `input_value='${SECRET}' is too long` } };
    on.engine.script = ({ model }) =>
      model === "pilot" ? { tokens: [], refuse: { status, body } } : { tokens: words("all is well") };
    const messages = [{ role: "user", content: SECRET }];
    expect((await on.ask(chat({ messages }))).headers.get("x-helm-served-by")).toBe("target");
    await on.ask(chat({ messages, model: "pilot" }));
    expect(lines.join("")).toContain(`the engine answered ${status} bad_input`);
    expect(lines.join("")).not.toContain(SECRET);
  },
);

it("names an error in the middle of a stream by its code alone", async () => {
  const said = JSON.stringify({ error: { code: "bad_input", message: SECRET } });
  async function* stream() {
    yield Buffer.from(`data: ${said}\n\n`);
  }
  const error = await readChunks(stream())
    .next()
    .catch((thrown: Error) => thrown);
  expect(String(error)).toContain("bad_input");
  expect(String(error)).not.toContain(SECRET);
});
