import { isEngineError } from "../../engine/engine-error";
import { Conversation } from "../../escalation/conversation";
import type { SessionScope } from "../../escalation/sessions";
import type { TokenChain } from "../../escalation/token-chain";
import { countPrompt } from "../admission/admit";
import type { PromptCount } from "../exchange/prompt-count";
import type { Exchange, GatewayResources, RouteView } from "../exchange/resources";

export function scopeOf(x: Exchange, view: RouteView): SessionScope {
  return { tenant: x.tenant.id, pair: view.pair.id };
}

/** The conversation that a routed request belongs to: the one its caller names, else the one its prompt goes on with. */
export async function openConversation(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
): Promise<Conversation> {
  x.conversation ??= await find(gw, x, view);
  return x.conversation;
}

async function find(gw: GatewayResources, x: Exchange, view: RouteView): Promise<Conversation> {
  const scope = scopeOf(x, view);
  if (x.session !== null) {
    const known = gw.sessions.named(scope, x.session);
    if (known) return known;
    // Kept at once, so that two first requests of a session at a time are of one conversation.
    const made = new Conversation();
    gw.sessions.keep(scope, made, x.session, null);
    return made;
  }
  const prompt = await readPrompt(gw, x, view);
  return (prompt && gw.sessions.continued(scope, prompt)) ?? new Conversation();
}

/** What the pilot refuses to count is nobody's conversation; why it refused is found out where it is asked. */
async function readPrompt(gw: GatewayResources, x: Exchange, view: RouteView): Promise<TokenChain | null> {
  try {
    return chainOf(gw, x, view, await countPrompt(x, view.pair.pilot));
  } catch (error) {
    if (isEngineError(error) && error.isRefusal) return null;
    throw error;
  }
}

const chains = new WeakMap<readonly number[], TokenChain>();

/** Names of the prompt's beginnings, made once; null where there is more than one prompt, or one that no model can read. */
export function chainOf(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  count: PromptCount,
): TokenChain | null {
  if (count.ids === null || count.ids.length > longestOf(x, view)) return null;
  const known = chains.get(count.ids);
  if (known) return known;
  const made = gw.sessions.chain(scopeOf(x, view), count.ids);
  chains.set(count.ids, made);
  return made;
}

function longestOf(x: Exchange, { pair }: RouteView): number {
  const longest = (name: string) => x.engine.models.get(name)?.max_model_len ?? Number.POSITIVE_INFINITY;
  return Math.max(longest(pair.pilot), longest(pair.target));
}

/** The conversation was answered: it is found again by its name, or by this prompt. */
export function keepConversation(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  count: PromptCount,
): void {
  if (!x.conversation) return;
  gw.sessions.keep(scopeOf(x, view), x.conversation, x.session, chainOf(gw, x, view, count));
}
