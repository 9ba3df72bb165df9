import { z } from "zod";
import { mutation, plainQuery, router } from "../trpc/procedure";
import {
  CreateAdministratorInput,
  CreateAdministratorOutput,
  createAdministrator,
  setupIsOpen,
} from "./create-administrator";

export const setupRouter = router({
  status: plainQuery
    .output(z.object({ open: z.boolean() }))
    .query(async ({ ctx }) => ({ open: await setupIsOpen(ctx) })),
  createAdministrator: mutation
    .input(CreateAdministratorInput)
    .output(CreateAdministratorOutput)
    .mutation(createAdministrator),
});
