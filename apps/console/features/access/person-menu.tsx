"use client";

import { MoreHorizontal } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import { type ReactNode, useState } from "react";
import { Button } from "../../ui/button";
import { ConfirmDialog } from "../../ui/dialog";
import { menuClass, menuItemClass } from "../../ui/menu";
import { useBlocked } from "../session/use-session";
import { LinkDialog } from "./link-dialog";
import {
  type Person,
  useRemovePerson,
  useResetSignIn,
  useSetDisabled,
  useSignOutEverywhere,
} from "./use-people";

type Act = "signOut" | "reset" | "disable" | "enable" | "remove";

interface Words {
  item: string;
  title: string;
  what: ReactNode;
  confirm: string;
  danger?: boolean;
}

function wordsOf({ email }: Person): Record<Act, Words> {
  return {
    signOut: {
      item: "Sign out everywhere",
      title: `Sign ${email} out everywhere?`,
      what: "Every open session ends at once. The password and the personal tokens stay.",
      confirm: "Sign out",
    },
    reset: {
      item: "Reset the sign-in",
      title: `Reset the sign-in of ${email}?`,
      what: "The password, all sessions and all personal tokens end at once. You get a new link to hand on.",
      confirm: "Reset and make a link",
      danger: true,
    },
    disable: {
      item: "Disable",
      title: `Disable ${email}?`,
      what: "All sessions end, and neither the password nor a personal token opens anything until the person is enabled again.",
      confirm: "Disable",
      danger: true,
    },
    enable: {
      item: "Enable",
      title: `Enable ${email}?`,
      what: "The password and the personal tokens that are not revoked work again.",
      confirm: "Enable",
    },
    remove: {
      item: "Remove",
      title: `Remove ${email}?`,
      what: "Sessions and personal tokens end, and the account is gone for good. The audit keeps what the person did.",
      confirm: "Remove for good",
      danger: true,
    },
  };
}

export function PersonMenu({ person }: { person: Person }) {
  const [asked, setAsked] = useState<Act | null>(null);
  const [link, setLink] = useState<string | null>(null);
  const blocked = useBlocked("admin");
  const signOut = useSignOutEverywhere();
  const reset = useResetSignIn();
  const setDisabled = useSetDisabled();
  const remove = useRemovePerson();
  const words = wordsOf(person);
  const { id, revision } = person;

  const act: Record<Act, () => void> = {
    signOut: () => signOut.mutate({ id }),
    reset: () => reset.mutate({ id }, { onSuccess: (made) => setLink(made.link) }),
    disable: () => setDisabled.mutate({ id, disabled: true, revision }),
    enable: () => setDisabled.mutate({ id, disabled: false, revision }),
    remove: () => remove.mutate({ id, revision }),
  };
  const offered: Act[] = ["signOut", "reset", person.state === "DISABLED" ? "enable" : "disable", "remove"];

  if (blocked) {
    return (
      <Button size="small" blockedBecause={blocked} aria-label={`Actions for ${person.email}`}>
        <MoreHorizontal aria-hidden="true" className="size-4" />
      </Button>
    );
  }
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger asChild>
          <Button size="small" aria-label={`Actions for ${person.email}`}>
            <MoreHorizontal aria-hidden="true" className="size-4" />
          </Button>
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content align="end" sideOffset={4} className={menuClass}>
            {offered.map((one) => (
              <DropdownMenu.Item key={one} className={menuItemClass} onSelect={() => setAsked(one)}>
                {words[one].item}
              </DropdownMenu.Item>
            ))}
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        title={asked ? words[asked].title : ""}
        description={asked ? words[asked].what : ""}
        confirm={asked ? words[asked].confirm : ""}
        kind={asked && words[asked].danger ? "danger" : "primary"}
        onConfirm={() => {
          if (asked) act[asked]();
          setAsked(null);
        }}
      />
      <LinkDialog email={person.email} link={link} onDone={() => setLink(null)} />
    </>
  );
}
