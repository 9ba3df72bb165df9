import { HelmError } from "@helm/contracts";

export function refused(causes: string[], code: string | null = null): HelmError {
  const sentence = `This mapper cannot be imported. ${causes.join(" ")}`;
  return new HelmError("IMPORT_REFUSED", sentence, { causes, ...(code && { code }) });
}
