import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { expect, it } from "vitest";
import { z } from "zod";
import { openSignedDocument } from "./signed-document";

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
const schema = z.object({ generation: z.number() });

function signed(document: string, key = privateKey) {
  const bytes = Buffer.from(document);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { document, sha256, signature: sign(null, bytes, key).toString("base64") };
}

it("opens what the control plane signed", () => {
  expect(openSignedDocument(signed('{"generation":3}'), pem, schema)).toEqual({ generation: 3 });
});

it("says which of digest, signature and schema does not hold", () => {
  const good = signed('{"generation":3}');
  expect(() => openSignedDocument({ ...good, document: '{"generation":4}' }, pem, schema)).toThrow(/digest/);
  expect(() =>
    openSignedDocument(signed('{"generation":3}', generateKeyPairSync("ed25519").privateKey), pem, schema),
  ).toThrow(/signature/);
  expect(() => openSignedDocument(signed('{"generation":"x"}'), pem, schema)).toThrow(/generation/);
  expect(() => openSignedDocument(signed("{"), pem, schema)).toThrow(/JSON/);
});
