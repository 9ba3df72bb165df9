import { Dialog } from "../../ui/dialog";
import { ShownOnce } from "../../ui/shown-once";

/** There is no e-mail here: an administrator hands the link on, over a way that both trust. */
export function LinkDialog({
  email,
  link,
  onDone,
}: {
  email: string;
  link: string | null;
  onDone: () => void;
}) {
  return (
    <Dialog
      open={link !== null}
      onOpenChange={(open) => !open && onDone()}
      sticky
      title={`Hand this link to ${email}`}
      description="They choose their password with it. It works once, for 72 hours, and is shown only now: whoever has it can sign in as this person."
    >
      {link ? <ShownOnce secret={link} what="link" testId="invitation-link" onDone={onDone} /> : null}
    </Dialog>
  );
}
