import { randomBytes } from "node:crypto";
import { Agent, fetch } from "undici";
import { Sorry } from "../lib/sorry.mjs";

// A connection for each call: one kept open may be closed by the other side just as it is used again.
const dispatcher = new Agent({ pipelining: 0 });

/** The administrator's side of the control plane, over the same API as the console and the CLI. */
export class Admin {
  constructor(base) {
    this.base = base;
    this.token = null;
  }

  /** The first administrator, by the setup token; then an ordinary sign-in. */
  async setUp(setupToken) {
    const who = { email: "demo@example.com", password: randomBytes(18).toString("base64url") };
    await this.change("setup.createAdministrator", { token: setupToken, name: "Demo", ...who });
    const response = await fetch(`${this.base}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: this.base },
      body: JSON.stringify(who),
      dispatcher,
    });
    this.token = response.headers.get("set-auth-token");
    if (!response.ok || !this.token) throw new Sorry(`Signing in failed: ${await response.text()}`);
  }

  /** A query of the API. */
  ask(path, input) {
    const query = input === undefined ? "" : `?input=${encodeURIComponent(JSON.stringify({ json: input }))}`;
    return this.call("GET", `${path}${query}`);
  }

  /** A mutation of the API. */
  change(path, input) {
    return this.call("POST", path, JSON.stringify({ json: input }));
  }

  async call(method, path, body) {
    const response = await fetch(`${this.base}/trpc/${path}`, {
      method,
      headers: {
        ...(body ? { "content-type": "application/json" } : {}),
        ...(this.token ? { authorization: `Bearer ${this.token}` } : {}),
      },
      body,
      dispatcher,
    });
    const answer = await response.json();
    if (answer.error) {
      const message = answer.error.json?.message ?? "no reason given";
      throw new Sorry(`${path.split("?")[0]} was refused: ${message}`);
    }
    return answer.result.data.json;
  }
}

/** Asks until `look` gives something. */
export async function until(what, patienceMs, look) {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Sorry(`${what} did not happen within ${patienceMs / 1000} s.`);
    await new Promise((done) => setTimeout(done, 300));
  }
}
