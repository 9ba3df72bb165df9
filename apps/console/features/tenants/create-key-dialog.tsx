"use client";

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTRPC } from "../../api/trpc";
import { CreateSecret, type SecretWords } from "../secrets/create-secret-dialog";
import { useBlocked } from "../session/use-session";

const DAY_MS = 86_400_000;
const WORDS: Omit<SecretWords, "title"> = {
  what: "key",
  power: "Whoever holds it calls the gateway as this tenant.",
  nameHint: "What it is for, so that you know which one to revoke.",
  nameMissing: "Write what the key is for.",
};

export function CreateKey({ tenantId, tenantName }: { tenantId: string; tenantName: string }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const create = useMutation(trpc.key.create.mutationOptions());
  return (
    <CreateSecret
      words={{ ...WORDS, title: `Create a key for ${tenantName}` }}
      expiry={[null, 7, 30, 90, 365]}
      blockedBecause={useBlocked("admin")}
      make={async ({ name, days }) => {
        const expiresAt = days === null ? null : new Date(Date.now() + days * DAY_MS);
        const { key } = await create.mutateAsync({ tenantId, name, expiresAt });
        for (const path of [trpc.key, trpc.tenant])
          void client.invalidateQueries({ queryKey: path.pathKey() });
        return key;
      }}
    />
  );
}
