import { ConflictDetails, HelmError } from "@helm/contracts";

/** The details of the CONFLICT that this call must end in. */
export async function conflictFrom(call: Promise<unknown>): Promise<ConflictDetails> {
  const error: unknown = await call.then(
    () => new Error("the call went through"),
    (thrown: { cause?: unknown }) => thrown.cause,
  );
  if (!(error instanceof HelmError) || error.code !== "CONFLICT") throw error;
  return ConflictDetails.parse(error.details);
}
