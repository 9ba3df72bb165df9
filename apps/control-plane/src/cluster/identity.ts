import { randomBytes, scryptSync, timingSafeEqual } from "node:crypto";
import type { Db } from "@helm/db";
import { type Config, ConfigError } from "../config";
import { makeSigner, readSigner, type Signer } from "../snapshot/signer";

const IDENTITY_LOCK = 7_210_116_021;

/** Others that start at the same moment go first, on a busy machine too. */
export const STARTING = { maxWait: 60_000, timeout: 120_000 };

export interface Identity {
  signer: Signer;
  /** True where the fleet was told to obey other keys from now on. */
  replaced: boolean;
}

/**
 * Nodes obey one signing key and browsers hold cookies of one secret, whichever control plane answers. The first one
 * of a database writes down which; one that brings others does not start.
 */
export function holdIdentity(db: Db, config: Config, others: () => Promise<number>): Promise<Identity> {
  return db.$transaction(async (tx) => {
    // Two that start together on an empty database make one key.
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(${IDENTITY_LOCK}::bigint)`;
    const known = await tx.fleetIdentity.findUnique({ where: { id: 1 } });
    if (known && !config.replaceKeys) return { signer: await knownKeys(known, config), replaced: false };
    if (known && (await others()) > 0)
      throw new ConfigError(
        "HELM_REPLACE_KEYS is set while another control plane runs on this database. Stop all of them first.",
      );
    const signer = (await readSigner(config.signingKeyFile)) ?? (await makeSigner(config.signingKeyFile));
    const keys = { signingKey: signer.publicKeyPem, authSecret: digestOf(config.authSecret) };
    await tx.fleetIdentity.upsert({ where: { id: 1 }, create: keys, update: keys });
    return { signer, replaced: known !== null };
  }, STARTING);
}

async function knownKeys(known: { signingKey: string; authSecret: string }, config: Config): Promise<Signer> {
  const signer = await readSigner(config.signingKeyFile);
  const wrong = [
    signer === null &&
      `There is no signing key at ${config.signingKeyFile}, but this database's nodes obey one.`,
    signer !== null &&
      signer.publicKeyPem !== known.signingKey &&
      `The signing key at ${config.signingKeyFile} is not the one that this database's nodes obey.`,
    !matches(config.authSecret, known.authSecret) &&
      "HELM_AUTH_SECRET is not the one that this database's sessions were opened with.",
  ].filter((sentence) => sentence !== false);
  if (signer && wrong.length === 0) return signer;
  throw new ConfigError(
    `${wrong.join("\n")}\nEvery control plane of a database needs the same: copy signing-key.pem and the secret from the first one (HELM_SIGNING_KEY_FILE, HELM_AUTH_SECRET; docs/two-control-planes.md). If they are lost, start once with HELM_REPLACE_KEYS=1: nodes then have to join again and people to sign in again.`,
  );
}

/** Slow on purpose: nothing says that a secret was made by a machine. */
function digestOf(secret: string, salt = randomBytes(16).toString("hex")): string {
  return `${salt}:${scryptSync(secret, salt, 32).toString("hex")}`;
}

function matches(secret: string, digest: string): boolean {
  const [salt = ""] = digest.split(":");
  const found = Buffer.from(digestOf(secret, salt));
  const wanted = Buffer.from(digest);
  return found.length === wanted.length && timingSafeEqual(found, wanted);
}
