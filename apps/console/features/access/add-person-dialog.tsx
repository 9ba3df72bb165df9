"use client";

import { Role } from "@helm/contracts";
import { zodResolver } from "@hookform/resolvers/zod";
import { useState } from "react";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { SelectField, TextField } from "../../ui/field";
import { useBlocked } from "../session/use-session";
import { useOpenInAddress } from "../shell/open-in-address";
import { LinkDialog } from "./link-dialog";
import { ROLES } from "./role-words";
import { useCreatePerson } from "./use-people";

const Form = z.object({
  email: z.email("Write an email address; it is the name to sign in with."),
  name: z
    .string()
    .trim()
    .min(1, "Write a name; the audit shows the address.")
    .max(100, "At most 100 characters."),
  role: Role,
});

export function AddPerson() {
  const [open, setOpen] = useOpenInAddress("person");
  const blocked = useBlocked("admin");
  const [made, setMade] = useState<{ email: string; link: string } | null>(null);
  return (
    <>
      <Button kind="primary" blockedBecause={blocked} onClick={() => setOpen(true)}>
        Add a person
      </Button>
      <Dialog
        open={open && !blocked}
        onOpenChange={setOpen}
        title="Add a person"
        description="You get a link to hand on, with which they choose their password."
      >
        <AddPersonForm
          onCancel={() => setOpen(false)}
          onMade={(email, link) => {
            setOpen(false);
            setMade({ email, link });
          }}
        />
      </Dialog>
      <LinkDialog email={made?.email ?? ""} link={made?.link ?? null} onDone={() => setMade(null)} />
    </>
  );
}

function AddPersonForm({
  onCancel,
  onMade,
}: {
  onCancel: () => void;
  onMade: (email: string, link: string) => void;
}) {
  const create = useCreatePerson();
  const form = useForm<z.infer<typeof Form>>({
    resolver: zodResolver(Form),
    defaultValues: { email: "", name: "", role: "viewer" },
  });
  const submit = form.handleSubmit(async (values) => {
    try {
      const { person, link } = await create.mutateAsync(values);
      onMade(person.email, link);
    } catch (error) {
      form.setError("email", { message: problemOf(error).message });
    }
  });
  const { errors, isSubmitting } = form.formState;
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Email"
        type="email"
        autoComplete="off"
        hint="The name to sign in with. Nothing is sent to it."
        error={errors.email?.message}
        {...form.register("email")}
      />
      <TextField label="Name" autoComplete="off" error={errors.name?.message} {...form.register("name")} />
      <SelectField label="Role" hint="It can be changed at any time." {...form.register("role")}>
        {ROLES.map((role) => (
          <option key={role}>{role}</option>
        ))}
      </SelectField>
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" kind="primary" busy={isSubmitting}>
          Add and make the link
        </Button>
      </div>
    </form>
  );
}
