"use client";

import { TOKEN_DAYS } from "@helm/contracts";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useTRPC } from "../../api/trpc";
import { CreateSecret, type SecretWords } from "../secrets/create-secret-dialog";

const WORDS: SecretWords = {
  what: "token",
  title: "Create a personal token",
  power: "Whoever holds it calls this server as you.",
  nameHint: "The machine or the job that uses it, so that you know which one to revoke.",
  nameMissing: "Write where it is used.",
};

export function CreateToken() {
  const trpc = useTRPC();
  const client = useQueryClient();
  const create = useMutation(trpc.token.create.mutationOptions());
  return (
    <CreateSecret
      words={WORDS}
      expiry={[TOKEN_DAYS.usual, 7, 30, TOKEN_DAYS.max]}
      make={async ({ name, days }) => {
        const { token } = await create.mutateAsync({ name, days: days ?? TOKEN_DAYS.usual });
        for (const path of [trpc.token, trpc.person])
          void client.invalidateQueries({ queryKey: path.pathKey() });
        return token;
      }}
    />
  );
}
