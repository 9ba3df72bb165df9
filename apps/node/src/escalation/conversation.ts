import { randomBytes } from "node:crypto";
import { CHAIN_BLOCK, type TokenChain } from "./token-chain";

/** Who answered last in a conversation. */
export type Holder = "pilot" | "target";

/** Rows that a model has read, by their tokens. */
interface Read {
  tokens: number;
  name: string;
}

/** What one model holds of a conversation: rows it computed itself, and a line that mapped rows are in, under its salt. */
interface Held {
  native: Read | null;
  mapped: (Read & { salt: string }) | null;
}

export interface ExpectedHit {
  tokens: number;
  mapped: boolean;
}

/** One conversation with a pair: who answers it, how often its cache was carried, and what each model holds of it. */
export class Conversation {
  /** Mapped salts are made of it: no two conversations share a block that a mapper wrote. */
  readonly id = randomBytes(16).toString("hex");
  holder: Holder | null = null;
  /** Answers of the target since the conversation came to it. */
  turns = 0;
  /** How often the cache was carried across, up or down. */
  switches = 0;
  private readonly held = new Map<string, Held>();

  /** Whether the target answers the next turn; within a tool loop `holdTurns` does not bring the conversation down. */
  heldByTarget(holdTurns: number | null, toolLoop: boolean): boolean {
    return this.holder === "target" && (toolLoop || holdTurns === null || this.turns < holdTurns);
  }

  /** The target answered a turn; `came`: it was asked anew, and not for being the one that answers anyway. */
  targetAnswered(came: boolean): void {
    this.turns = came || this.holder !== "target" ? 1 : this.turns + 1;
    this.holder = "target";
  }

  /** The pilot's answer went out. One that was begun before the target took over does not bring the conversation back. */
  pilotAnswered(cameDown: boolean): void {
    if (this.holder === "target" && !cameDown) return;
    this.holder = "pilot";
    this.turns = 0;
  }

  /** A model has read this prompt, under its line's salt or (null) under the tenant's own. */
  read(model: string, prompt: TokenChain, salt: string | null): void {
    const before = this.held.get(model) ?? { native: null, mapped: null };
    const read = { tokens: prompt.length, name: prompt.prefix(prompt.length) };
    this.held.set(
      model,
      salt === null ? { ...before, native: read } : { ...before, mapped: { ...read, salt } },
    );
  }

  /** Whole blocks of this prompt that a model is expected to find again; the last token is always computed. */
  expectedHit(model: string, prompt: TokenChain | null, mappedSalt: string | null): ExpectedHit {
    const held = this.held.get(model);
    const native = rowsOf(held?.native ?? null, prompt);
    const mapped = held?.mapped && held.mapped.salt === mappedSalt ? rowsOf(held.mapped, prompt) : 0;
    return mapped > native ? { tokens: mapped, mapped: true } : { tokens: native, mapped: false };
  }

  /** What it computed itself and would find, were there no other salt. */
  expectedNativeHit(model: string, prompt: TokenChain | null): number {
    return rowsOf(this.held.get(model)?.native ?? null, prompt);
  }

  /** The engines' caches are gone. */
  forgetLines(): void {
    this.held.clear();
  }
}

function rowsOf(read: Read | null, prompt: TokenChain | null): number {
  if (!read || !prompt || read.tokens > prompt.length || prompt.prefix(read.tokens) !== read.name) return 0;
  const most = Math.min(read.tokens, prompt.length - 1);
  return most - (most % CHAIN_BLOCK);
}
