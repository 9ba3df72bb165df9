import { Card, Facts } from "../../ui/card";
import { useSession } from "../session/use-session";
import { MAY, ROLES } from "./role-words";

/** The three roles in words; each also has what the one before it has. */
export function RolesCard() {
  const mine = useSession().data?.role;
  return (
    <Card
      title="What a role may do"
      hint="The server decides; pages only show what is out of reach, and why."
    >
      <Facts
        rows={ROLES.map((role) => [
          <span key={role} className="font-medium text-ink">
            {role}
            {role === mine ? <span className="font-normal text-ink-soft"> (yours)</span> : null}
          </span>,
          MAY[role],
        ])}
      />
    </Card>
  );
}
