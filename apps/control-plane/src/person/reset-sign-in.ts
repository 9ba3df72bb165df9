import { z } from "zod";
import { writeAudit } from "../audit/write-audit";
import { endSessions } from "../auth/end-sessions";
import { removePassword } from "../auth/password";
import type { Call } from "../context";
import { openInvitation } from "../invitation/open";
import { lockPerson, requireAnotherAdmin } from "./guards";
import { readPerson } from "./schema";

export const ResetSignInInput = z.object({ id: z.uuid() });

/** For a password that is forgotten or known to others: everything that lets the person in ends, and a link opens. */
export async function resetSignIn({ ctx, input }: Call<z.infer<typeof ResetSignInInput>>) {
  const person = await lockPerson(ctx, input.id);
  await requireAnotherAdmin(ctx, person);
  await removePassword(ctx, person.id);
  const sessionsEnded = await endSessions(ctx, person.id);
  const tokensRevoked = await ctx.db.personalToken.updateMany({
    where: { referenceId: person.id, revokedAt: null },
    data: { revokedAt: new Date(), enabled: false },
  });
  const { link, expiresAt } = await openInvitation(ctx, person.id);
  await writeAudit(ctx, {
    verb: "person.resetSignIn",
    entity: "person",
    entityId: person.id,
    after: {
      email: person.email,
      sessionsEnded,
      tokensRevoked: tokensRevoked.count,
      expiresAt: expiresAt.toISOString(),
    },
  });
  return { person: await readPerson(ctx, person.id), link, expiresAt };
}
