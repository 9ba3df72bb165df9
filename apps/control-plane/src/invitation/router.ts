import { Role } from "@helm/contracts";
import { z } from "zod";
import type { Context } from "../context";
import { mutation, query, router } from "../trpc/procedure";
import { AcceptInvitationInput, AcceptInvitationOutput, acceptInvitation } from "./accept";
import { CancelInvitationInput, CancelInvitationOutput, cancelInvitation } from "./cancel";

const InvitationOut = z.object({
  id: z.uuid(),
  person: z.object({ id: z.uuid(), email: z.string(), role: Role }),
  createdBy: z.string(),
  createdAt: z.date(),
  expiresAt: z.date(),
});

/** Open ones, those that expired unused among them. */
async function listInvitations(ctx: Context): Promise<z.infer<typeof InvitationOut>[]> {
  const rows = await ctx.db.invitation.findMany({
    where: { usedAt: null, cancelledAt: null },
    include: { user: { select: { id: true, email: true, role: true } } },
    orderBy: { createdAt: "desc" },
  });
  return rows.map(({ user, id, createdBy, createdAt, expiresAt }) => ({
    id,
    person: user,
    createdBy,
    createdAt,
    expiresAt,
  }));
}

export const invitationRouter = router({
  list: query.output(z.array(InvitationOut)).query(({ ctx }) => listInvitations(ctx)),
  cancel: mutation.input(CancelInvitationInput).output(CancelInvitationOutput).mutation(cancelInvitation),
  accept: mutation.input(AcceptInvitationInput).output(AcceptInvitationOutput).mutation(acceptInvitation),
});
