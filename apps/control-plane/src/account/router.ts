import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { ChangePasswordInput, ChangePasswordOutput, changePassword } from "./change-password";
import { AccountOut, getAccount } from "./get";
import {
  RevokeOthersOutput,
  RevokeSessionInput,
  RevokeSessionOutput,
  revokeOtherSessions,
  revokeSession,
} from "./revoke-session";
import { listSessions, SessionOut } from "./sessions";

/** What is one's own: nothing here takes another person's id. */
export const accountRouter = router({
  get: query.output(AccountOut).query(({ ctx }) => getAccount(ctx)),
  sessions: query.output(z.array(SessionOut)).query(({ ctx }) => listSessions(ctx)),
  changePassword: mutation.input(ChangePasswordInput).output(ChangePasswordOutput).mutation(changePassword),
  revokeSession: mutation.input(RevokeSessionInput).output(RevokeSessionOutput).mutation(revokeSession),
  revokeOtherSessions: mutation.output(RevokeOthersOutput).mutation(({ ctx }) => revokeOtherSessions(ctx)),
});
