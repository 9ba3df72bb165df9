import { createHash, createPublicKey, verify } from "node:crypto";
import type { SignedDocument } from "@helm/contracts";
import type { z } from "zod";

export class DocumentError extends Error {
  override name = "DocumentError";
}

/** The document inside, once digest, Ed25519 signature and schema hold. Errors: DocumentError that says which did not. */
export function openSignedDocument<T extends z.ZodType>(
  signed: SignedDocument,
  signingKey: string,
  schema: T,
): z.infer<T> {
  const bytes = Buffer.from(signed.document, "utf8");
  if (createHash("sha256").update(bytes).digest("hex") !== signed.sha256) {
    throw new DocumentError("the document's digest is not the one stated");
  }
  if (!verify(null, bytes, createPublicKey(signingKey), Buffer.from(signed.signature, "base64"))) {
    throw new DocumentError("the document's signature is not the control plane's");
  }
  let content: unknown;
  try {
    content = JSON.parse(signed.document);
  } catch (cause) {
    throw new DocumentError("the document is not JSON", { cause });
  }
  const parsed = schema.safeParse(content);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new DocumentError(
      `the document breaks its schema at ${issue?.path.join(".") || "the top"}: ${issue?.message}`,
    );
  }
  return parsed.data;
}
