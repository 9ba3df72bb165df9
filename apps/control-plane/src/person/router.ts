import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { CreatePersonInput, createPerson } from "./create";
import { RemovePersonInput, RemovePersonOutput, removePerson } from "./remove";
import { ResetSignInInput, resetSignIn } from "./reset-sign-in";
import { InvitedOutput, PersonOut, readPeople } from "./schema";
import { SetDisabledInput, setDisabled } from "./set-disabled";
import { SetRoleInput, setRole } from "./set-role";
import { SignOutEverywhereInput, SignOutEverywhereOutput, signOutEverywhere } from "./sign-out-everywhere";

export const personRouter = router({
  list: query.output(z.array(PersonOut)).query(({ ctx }) => readPeople(ctx)),
  create: mutation.input(CreatePersonInput).output(InvitedOutput).mutation(createPerson),
  setRole: mutation.input(SetRoleInput).output(PersonOut).mutation(setRole),
  setDisabled: mutation.input(SetDisabledInput).output(PersonOut).mutation(setDisabled),
  remove: mutation.input(RemovePersonInput).output(RemovePersonOutput).mutation(removePerson),
  resetSignIn: mutation.input(ResetSignInInput).output(InvitedOutput).mutation(resetSignIn),
  signOutEverywhere: mutation
    .input(SignOutEverywhereInput)
    .output(SignOutEverywhereOutput)
    .mutation(signOutEverywhere),
});
