import type { FallbackReason } from "@helm/contracts";
import { refusedDownwards } from "../../config/way-down";
import type { LineKey } from "../../escalation/leg-body";
import type { TokenChain } from "../../escalation/token-chain";
import type { Exchange, GatewayResources, PairView, RouteView } from "../exchange/resources";
import { pairState } from "./pair-state";

/** Who of a route's pair answers. */
export type Side = "pilot" | "target";

/** The pair through which a side's cache is written: the route's own upwards, its reverse downwards. */
export function through(view: RouteView, to: Side): PairView | null {
  return to === "target" ? view : view.reverse;
}

export function nativeLine(gw: GatewayResources, x: Exchange): LineKey {
  return { salt: gw.salts.native(x.tenant.id), nativeSalt: null };
}

/** Where rows lie that this pair's mapper writes for this conversation; it dies with the weights it was made for. */
export function mappedLine(gw: GatewayResources, x: Exchange, { pair }: PairView): LineKey | null {
  if (pair.mapper_sha256 === null || !x.conversation) return null;
  const revisions = `${pair.pilot_weights_sha256}|${pair.target_weights_sha256}`;
  const salt = gw.salts.mapped(x.tenant.id, x.conversation.id, pair.mapper_sha256, revisions);
  return { salt, nativeSalt: gw.salts.native(x.tenant.id) };
}

/** What a side goes on from: its mapped line where that reaches further and may be read, else what it read itself. */
export function lineOf(
  gw: GatewayResources,
  x: Exchange,
  view: RouteView,
  side: Side,
  prompt: TokenChain | null,
): LineKey {
  const native = nativeLine(gw, x);
  const pairView = through(view, side);
  if (!pairView || !mayReadMapped(x, side, pairView)) return native;
  const mapped = mappedLine(gw, x, pairView);
  const hit = x.conversation?.expectedHit(view.pair[side], prompt, mapped?.salt ?? null);
  return mapped && hit?.mapped ? mapped : native;
}

/** What refuses a pair to write a side's cache here. */
export function refusalOf(side: Side, pairView: PairView): FallbackReason | null {
  const { refusal } = pairState(pairView);
  return side === "pilot" ? refusedDownwards(refusal) : refusal;
}

function mayReadMapped(x: Exchange, side: Side, pairView: PairView): boolean {
  if (x.tenant.transfer_off === true || x.generation.wish === "off") return false;
  return refusalOf(side, pairView) === null;
}

/** A side has read the prompt under a line. */
export function noteRead(
  x: Exchange,
  view: RouteView,
  side: Side,
  prompt: TokenChain | null,
  line: LineKey,
): void {
  if (!prompt) return;
  x.conversation?.read(view.pair[side], prompt, line.nativeSalt === null ? null : line.salt);
}
