import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Agent, fetch } from "undici";
import { until } from "../demo/admin.mjs";
import { startChild } from "./child.mjs";
import { ROOT } from "./paths.mjs";
import { freePort } from "./ports.mjs";
import { nodeProgram } from "./programs.mjs";

const NODE_ID = "standalone";
const TENANT = "standalone-tenant";
const PAIR = "pilot-target";
const MAPPER = join(ROOT, "prisma/seeds/cleared/mapper.safetensors");
const START_MS = 240_000;

/** Routes of a standalone node, each with a judge that always says the same. */
export const KEPT = "always-kept";
export const ESCALATED = "always-escalated";

/**
 * The real node's bundle with the reference engine and the bundled pair, serving from a last-known-good configuration
 * that was signed here: no control plane is needed, and none is there.
 */
export class StandaloneNode {
  constructor(stateDir, { window = 8, env = {} } = {}) {
    this.stateDir = stateDir;
    this.window = window;
    this.env = env;
    this.key = `hlm_${randomBytes(4).toString("hex")}_${randomBytes(24).toString("hex")}`;
    this.folder = join(stateDir, "node");
    this.mapper = createHash("sha256").update(readFileSync(MAPPER)).digest("hex");
    this.starts = 0;
    this.layOut();
  }

  get socketPath() {
    return join(this.folder, "engine.sock");
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  layOut() {
    const { publicKey, privateKey } = generateKeyPairSync("ed25519");
    const config = join(this.folder, "config", NODE_ID);
    const mapper = join(this.folder, "mappers", this.mapper);
    for (const folder of [config, mapper, join(this.stateDir, "logs")])
      mkdirSync(folder, { recursive: true });
    copyFileSync(MAPPER, join(mapper, "mapper.safetensors"));
    const identity = {
      // Nobody listens on the discard port.
      control_url: "http://127.0.0.1:9",
      id: NODE_ID,
      credential: "none",
      signing_key: publicKey.export({ type: "spki", format: "pem" }).toString(),
    };
    writeFileSync(join(this.folder, "identity.json"), JSON.stringify(identity), { mode: 0o600 });
    const signed = (content) => {
      const document = JSON.stringify(content);
      const bytes = Buffer.from(document);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      return JSON.stringify({
        document,
        sha256,
        signature: sign(null, bytes, privateKey).toString("base64"),
      });
    };
    writeFileSync(join(config, "snapshot-1.json"), signed(this.snapshot()));
    writeFileSync(join(config, "access-list-1.json"), signed(this.accessList()));
  }

  snapshot() {
    const judge = (threshold) => ({ version: "logprob-v0", mean_logprob: threshold, min_logprob: threshold });
    const route = (name, threshold) => ({
      name,
      pair_id: PAIR,
      judge: judge(threshold),
      streaming: "window",
      window: this.window,
      default_max_tokens: 64,
      hold_turns: null,
    });
    return {
      kind: "routing_snapshot",
      schema: 1,
      generation: 1,
      created_at: new Date().toISOString(),
      helm_enabled: true,
      routes: [route(KEPT, -1e6), route(ESCALATED, 0)],
      pairs: [
        {
          id: PAIR,
          pilot: "pilot",
          target: "target",
          mapper_sha256: this.mapper,
          mapper_bytes: statSync(MAPPER).size,
          refusal: null,
          development: true,
          pilot_weights_sha256: null,
          target_weights_sha256: null,
        },
      ],
    };
  }

  accessList() {
    return {
      kind: "access_list",
      schema: 1,
      version: 1,
      issued_at: new Date().toISOString(),
      kill_switch: false,
      helm_off_after_s: 86_400,
      refuse_keys_after_s: 604_800,
      keys: [
        {
          hash: createHash("sha256").update(this.key).digest("hex"),
          prefix: this.key.slice(0, 12),
          tenant_id: TENANT,
          expires_at: null,
        },
      ],
      tenants: [{ id: TENANT, name: "standalone", enabled: true }],
    };
  }

  /** Starts the program; resolves once a request can be served. The port stays the same over restarts. */
  async start({ ready = true } = {}) {
    this.port ??= await freePort();
    const program = nodeProgram({
      stateDir: this.stateDir,
      ports: { gateway: this.port },
      controlPlaneUrl: "http://127.0.0.1:9",
      joinTokens: {},
      device: "cpu",
    });
    this.child = startChild({
      name: "node",
      command: process.execPath,
      args: [...(this.nodeFlags ?? []), ...program.args],
      cwd: program.cwd,
      env: {
        ...process.env,
        NODE_ENV: "production",
        ...program.env,
        HELM_LOG_LEVEL: "info",
        HELM_CANARY_MS: "2000",
        HELM_PARENT_PID: String(process.pid),
        ...this.env,
      },
      logFile: join(this.stateDir, "logs", "node.log"),
    });
    if (ready) await this.ready();
  }

  /** The engine serves and the pair has shown that it can. */
  async ready() {
    await until("the node serving", START_MS, () => {
      this.mustLive();
      return this.health();
    });
    await until("the pair being ready", START_MS, () => {
      this.mustLive();
      return readFileSync(this.child.logFile, "utf8").includes("the pair is ready");
    });
  }

  mustLive() {
    if (this.child.state.ended) throw new Error(`the node ${this.child.state.how}: ${this.child.tail()}`);
  }

  async health() {
    const answer = await fetch(`${this.url}/health`, {
      signal: AbortSignal.timeout(5_000),
      dispatcher: this.plain,
    }).catch(() => null);
    return answer?.ok ?? false;
  }

  // A connection for each look: none is left open when the node is killed.
  plain = new Agent({ pipelining: 0 });

  async stop() {
    await this.child?.stop();
    await this.plain.close();
  }
}
