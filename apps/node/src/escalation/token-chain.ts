import { createHmac } from "node:crypto";

/** Token ids are hashed in blocks of so many, each over all that came before it. */
export const CHAIN_BLOCK = 16;

/**
 * A prompt's token ids as names of its beginnings: two prompts have a name in common exactly where they begin alike.
 * The names are MACs, so that nothing of a prompt can be read out of what is kept of it.
 */
export class TokenChain {
  private readonly names: Buffer[];

  constructor(
    private readonly key: Buffer,
    scope: string,
    private readonly tokens: readonly number[],
  ) {
    let name: Buffer = createHmac("sha256", key).update(scope).digest();
    this.names = [name];
    for (let at = CHAIN_BLOCK; at <= tokens.length; at += CHAIN_BLOCK) {
      name = this.mac(name, tokens.slice(at - CHAIN_BLOCK, at));
      this.names.push(name);
    }
  }

  get length(): number {
    return this.tokens.length;
  }

  /** Whole blocks. */
  get blocks(): number {
    return this.names.length - 1;
  }

  /** The name of the first `blocks` whole blocks. */
  block(blocks: number): string {
    return this.names[blocks]?.toString("base64url") ?? "";
  }

  /** The name of the first `length` tokens; empty where there are fewer. */
  prefix(length: number): string {
    if (length > this.tokens.length) return "";
    const blocks = Math.floor(length / CHAIN_BLOCK);
    const name = this.names[blocks];
    if (!name) return "";
    return this.mac(name, this.tokens.slice(blocks * CHAIN_BLOCK, length), "prefix").toString("base64url");
  }

  private mac(before: Buffer, tokens: readonly number[], what = "block"): Buffer {
    const hmac = createHmac("sha256", this.key).update(what).update(before);
    return hmac.update(Uint32Array.from(tokens)).digest();
  }
}
