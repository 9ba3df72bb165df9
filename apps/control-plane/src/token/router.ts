import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { CreateTokenInput, CreateTokenOutput, createToken } from "./create";
import { listAllTokens, listOwnTokens, TokenOut } from "./list";
import { RevokeTokenInput, RevokeTokenOutput, revokeToken } from "./revoke";

/** Personal tokens, for the command line. Tenants' API keys are another thing: see key/. */
export const tokenRouter = router({
  list: query.output(z.array(TokenOut)).query(({ ctx }) => listOwnTokens(ctx)),
  listAll: query.output(z.array(TokenOut)).query(({ ctx }) => listAllTokens(ctx)),
  create: mutation.input(CreateTokenInput).output(CreateTokenOutput).mutation(createToken),
  revoke: mutation.input(RevokeTokenInput).output(RevokeTokenOutput).mutation(revokeToken),
});
