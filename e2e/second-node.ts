import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "@playwright/test";
import { startChild } from "../scripts/lib/child.mjs";
import { freePort } from "../scripts/lib/ports.mjs";
import { nodeProgram } from "../scripts/lib/programs.mjs";

/** One more real node beside the product's own, with an engine of its own, as `npm run node` starts one. */
export class SecondNode {
  private readonly stateDir = mkdtempSync(join(tmpdir(), "helm-e2e-node-"));
  private child: ReturnType<typeof startChild> | null = null;
  private port = 0;

  constructor(
    private readonly name: string,
    private readonly controlPlaneUrl: string,
    private readonly joinToken: string,
  ) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Resolves once its engine takes requests. */
  async start(): Promise<void> {
    this.port ||= await freePort();
    const program = nodeProgram({
      stateDir: this.stateDir,
      ports: { gateway: this.port },
      controlPlaneUrl: this.controlPlaneUrl,
      joinTokens: { node: this.joinToken },
      device: "cpu",
      dev: false,
    });
    this.child = startChild({
      name: "node",
      command: process.execPath,
      args: program.args,
      cwd: program.cwd,
      env: {
        ...process.env,
        NODE_ENV: "production",
        ...program.env,
        HELM_NODE_NAME: this.name,
        HELM_CANARY_MS: "2000",
        HELM_PARENT_PID: String(process.pid),
      },
      logFile: join(this.stateDir, "node.log"),
      onEnded: (name: string, how: string) => console.error(`The ${name} ${how}`),
    });
    await expect
      .poll(
        async () => {
          const answer = await fetch(`${this.url}/health`).catch(() => null);
          return answer?.status ?? 0;
        },
        { timeout: 240_000, message: `${this.name} takes requests` },
      )
      .toBe(200);
  }

  async stop(): Promise<void> {
    await this.child?.stop();
    this.child = null;
  }

  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.stateDir, { recursive: true, force: true });
  }
}
