import type { PairStatus } from "@helm/contracts";
import { type Pair, pairTitle } from "../pairs/pair-words";

/** Pairs to choose from for a route: those that may be used first, the rest with what a route of theirs does. */
export function PairOptions({ pairs }: { pairs: Pair[] }) {
  const usable = pairs.filter(({ status }) => status === "ELIGIBLE");
  const rest = pairs.filter(({ status }) => status !== "ELIGIBLE");
  return (
    <>
      {usable.length > 0 ? (
        <optgroup label="May be used">
          {usable.map((pair) => (
            <option key={pair.id} value={pair.id}>
              {pairTitle(pair)}
            </option>
          ))}
        </optgroup>
      ) : null}
      {rest.length > 0 ? (
        <optgroup label="Served by the target for now">
          {rest.map((pair) => (
            <option key={pair.id} value={pair.id}>
              {pairTitle(pair)} ({pair.status})
            </option>
          ))}
        </optgroup>
      ) : null}
    </>
  );
}

const UNUSED: Record<Exclude<PairStatus, "ELIGIBLE">, string> = {
  TRANSFER_INELIGIBLE: "measured and below the gate",
  NOT_CALIBRATED: "it has no active mapper yet",
};

/** What a route of this pair does where the pair may not be used; the route may be stored all the same. */
export function pairHint(pair: Pick<Pair, "status" | "target"> | undefined): string | undefined {
  if (!pair || pair.status === "ELIGIBLE") return undefined;
  return `${pair.status}, ${UNUSED[pair.status]}: ${pair.target.id} answers every request of this route until the pair is ELIGIBLE.`;
}
