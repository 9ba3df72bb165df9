import { findUnstorable, HelmError, UNSTORABLE } from "@helm/contracts";

/** Whatever comes in is refused here, and not by the database, whose refusal would read as our own fault. */
export function requireStorable(value: unknown): void {
  const found = findUnstorable(value);
  if (found !== null) throw new HelmError("BAD_REQUEST", `${found}: ${UNSTORABLE}`);
}
