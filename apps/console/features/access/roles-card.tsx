import { Check, Minus } from "lucide-react";
import { Card } from "../../ui/card";
import { Table, Td, Th, Tr } from "../../ui/table";
import { useSession } from "../session/use-session";
import { MAY, ROLES } from "./role-words";

/** The three roles beside each other; each has what the one before it has. */
export function RolesCard() {
  const mine = useSession().data?.role;
  return (
    <Card
      title="What a role may do"
      hint={mine ? `Yours is ${mine}. Every role may also do what stands before it.` : undefined}
    >
      <Table caption="What each role may do" head={<RolesHead />}>
        {MAY.map(({ what, from }) => (
          <Tr key={what}>
            <Td label="May">{what}</Td>
            {ROLES.map((role) => (
              <Td key={role} label={role}>
                <Mark yes={ROLES.indexOf(role) >= ROLES.indexOf(from)} />
              </Td>
            ))}
          </Tr>
        ))}
      </Table>
    </Card>
  );
}

function RolesHead() {
  return (
    <>
      <Th>May</Th>
      {ROLES.map((role) => (
        <Th key={role}>{role}</Th>
      ))}
    </>
  );
}

function Mark({ yes }: { yes: boolean }) {
  const Icon = yes ? Check : Minus;
  return (
    <span className={yes ? "text-good-ink" : "text-ink-soft"}>
      <Icon aria-hidden="true" className="inline size-4" />
      <span className="sr-only">{yes ? "yes" : "no"}</span>
    </span>
  );
}
