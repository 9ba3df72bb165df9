"use client";

import { TenantName } from "@helm/contracts";
import { zodResolver } from "@hookform/resolvers/zod";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useForm } from "react-hook-form";
import { z } from "zod";
import { problemOf } from "../../api/errors";
import { tellStored } from "../../api/tell";
import { useTRPC } from "../../api/trpc";
import { Button } from "../../ui/button";
import { Dialog } from "../../ui/dialog";
import { TextField } from "../../ui/field";
import { useBlocked } from "../session/use-session";
import { useOpenInAddress } from "../shell/open-in-address";

const Form = z.object({
  name: TenantName,
});

export function CreateTenant() {
  const [open, setOpen] = useOpenInAddress("create");
  const blocked = useBlocked("admin");
  return (
    <>
      <Button kind="primary" blockedBecause={blocked} onClick={() => setOpen(true)}>
        Create a tenant
      </Button>
      <Dialog
        open={open && !blocked}
        onOpenChange={setOpen}
        title="Create a tenant"
        description="A tenant is who calls: it holds API keys, and it starts excluded from Helm."
      >
        <CreateTenantForm onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function CreateTenantForm({ onDone }: { onDone: () => void }) {
  const trpc = useTRPC();
  const client = useQueryClient();
  const router = useRouter();
  const form = useForm({ resolver: zodResolver(Form), defaultValues: { name: "" } });
  const create = useMutation(trpc.tenant.create.mutationOptions());
  const submit = form.handleSubmit(async ({ name }) => {
    try {
      const stored = await create.mutateAsync({ name });
      await client.invalidateQueries({ queryKey: trpc.tenant.pathKey() });
      tellStored(`${stored.name} is created`, "It is excluded until you enable it.");
      // The page it leads to has no dialog: closing this one first would change the address under the way there.
      router.push(`/tenants/${stored.id}`);
    } catch (error) {
      form.setError("name", { message: problemOf(error).message });
    }
  });
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      <TextField
        label="Name"
        hint="Lower-case letters, digits and dashes; shown in the audit and in metrics."
        autoComplete="off"
        error={form.formState.errors.name?.message}
        {...form.register("name")}
      />
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button type="submit" kind="primary" busy={form.formState.isSubmitting}>
          Create
        </Button>
      </div>
    </form>
  );
}
