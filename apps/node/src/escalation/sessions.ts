import { randomBytes } from "node:crypto";
import type { Conversation } from "./conversation";
import { CHAIN_BLOCK, TokenChain } from "./token-chain";

interface Entry {
  conversation: Conversation;
  key: string;
  /** Where it is found by its prompt; null where its caller names it. */
  place: Place | null;
  touched: number;
}

interface Place {
  block: string;
  tail: number;
  name: string;
}

/** Who asks, for which pair: nothing is found from anywhere else. */
export interface SessionScope {
  tenant: string;
  pair: string;
}

/**
 * Conversations by the name that their caller gave them, else by the longest prompt that a new prompt goes on from. None
 * stays beyond its idle time, and where there is no room the tenant with most loses the one it used longest ago: so nobody
 * can push out the conversations of tenants that hold fewer.
 */
export class Sessions {
  private readonly key = randomBytes(32);
  private readonly tenants = new Map<string, Map<string, Entry>>();
  /** By whole blocks, by tokens beyond them, by name of all: the conversations whose caller names none. */
  private readonly prompts = new Map<string, Map<number, Map<string, Entry>>>();
  private readonly entries = new WeakMap<Conversation, Entry>();
  private count = 0;

  constructor(
    private readonly most = 10_000,
    private readonly idleMs = 3_600_000,
    private readonly now: () => number = Date.now,
  ) {}

  get size(): number {
    return this.count;
  }

  /** Names of a prompt's beginnings that mean something within this scope alone. */
  chain({ tenant, pair }: SessionScope, tokens: readonly number[]): TokenChain {
    return new TokenChain(this.key, JSON.stringify([tenant, pair]), tokens);
  }

  /** The conversation of that name. */
  named(scope: SessionScope, session: string): Conversation | null {
    return this.alive(scope.tenant, this.tenants.get(scope.tenant)?.get(nameKey(scope, session)));
  }

  /**
   * The conversation that a prompt goes on with: of those whose last prompt it begins with, the longest. The same prompt
   * once more is a conversation of its own, and one of less than a block is none that could be told from another.
   */
  continued(scope: SessionScope, prompt: TokenChain): Conversation | null {
    for (let blocks = prompt.blocks; blocks > 0; blocks--) {
      const tails = this.prompts.get(prompt.block(blocks));
      if (!tails) continue;
      for (const tail of [...tails.keys()].sort((a, b) => b - a)) {
        const length = blocks * CHAIN_BLOCK + tail;
        if (length >= prompt.length) continue;
        const entry = tails.get(tail)?.get(prompt.prefix(length));
        const found = this.alive(scope.tenant, entry);
        if (found) return found;
      }
    }
    return null;
  }

  /** Remembers a conversation that was just answered, under its name or under this prompt. */
  keep(
    scope: SessionScope,
    conversation: Conversation,
    session: string | null,
    prompt: TokenChain | null,
  ): void {
    if (session === null && (prompt === null || prompt.blocks === 0)) return;
    const before = this.entries.get(conversation);
    const own = this.tenants.get(scope.tenant) ?? new Map<string, Entry>();
    const key = session === null ? `prompt:${conversation.id}` : nameKey(scope, session);
    const other = own.get(key);
    for (const entry of [before, other]) if (entry) this.forget(scope.tenant, entry);
    const place = session === null && prompt ? placeOf(prompt) : null;
    const entry: Entry = { conversation, key, place, touched: this.now() };
    this.tenants.set(scope.tenant, own);
    own.set(key, entry);
    this.count += 1;
    this.entries.set(conversation, entry);
    if (place) this.index(scope.tenant, entry, place);
    if (this.count > this.most) this.makeRoom();
  }

  /** Another engine serves: no conversation's line is where it was. */
  forgetLines(): void {
    for (const own of this.tenants.values())
      for (const entry of own.values()) entry.conversation.forgetLines();
  }

  private alive(tenant: string, entry: Entry | undefined): Conversation | null {
    if (!entry) return null;
    if (this.now() - entry.touched <= this.idleMs) return entry.conversation;
    this.forget(tenant, entry);
    return null;
  }

  private index(tenant: string, entry: Entry, { block, tail, name }: Place): void {
    const tails = this.prompts.get(block) ?? new Map<number, Map<string, Entry>>();
    this.prompts.set(block, tails);
    const names = tails.get(tail) ?? new Map<string, Entry>();
    tails.set(tail, names);
    // Two conversations with the same last prompt: the newer one is gone on with.
    const older = names.get(name);
    names.set(name, entry);
    if (older && older !== entry) this.forget(tenant, older);
  }

  private makeRoom(): void {
    let largest = "";
    let held = 0;
    for (const [tenant, own] of this.tenants) {
      if (own.size > held) [largest, held] = [tenant, own.size];
    }
    const oldest = this.tenants.get(largest)?.values().next().value;
    if (oldest) this.forget(largest, oldest);
  }

  private forget(tenant: string, entry: Entry): void {
    const own = this.tenants.get(tenant);
    if (own?.get(entry.key) !== entry) return;
    own.delete(entry.key);
    this.count -= 1;
    if (own.size === 0) this.tenants.delete(tenant);
    if (entry.place) this.unindex(entry, entry.place);
  }

  private unindex(entry: Entry, { block, tail, name }: Place): void {
    const tails = this.prompts.get(block);
    const names = tails?.get(tail);
    if (!tails || !names || names.get(name) !== entry) return;
    names.delete(name);
    if (names.size === 0) tails.delete(tail);
    if (tails.size === 0) this.prompts.delete(block);
  }
}

function nameKey({ pair }: SessionScope, session: string): string {
  return `name:${JSON.stringify([pair, session])}`;
}

function placeOf(prompt: TokenChain): Place {
  return {
    block: prompt.block(prompt.blocks),
    tail: prompt.length % CHAIN_BLOCK,
    name: prompt.prefix(prompt.length),
  };
}
