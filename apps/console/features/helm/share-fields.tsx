import type { UseFormRegisterReturn } from "react-hook-form";
import { TextField } from "../../ui/field";
import type { ShareField } from "./share-schema";

const FIELDS: readonly { name: ShareField; label: string; hint: string }[] = [
  { name: "shareKept", label: "Kept, also the target", hint: "The target answers it as well." },
  { name: "shareEscalated", label: "Escalated, also native", hint: "The target prefills it as well." },
  { name: "shareForced", label: "Forced escalations", hint: "Of answers the judge would keep." },
];

/** The random shares of a route. `field` joins each to the form. */
export function ShareFields({
  field,
}: {
  field: (name: ShareField) => UseFormRegisterReturn & { error: string | undefined };
}) {
  return (
    <fieldset className="space-y-2">
      <legend className="text-[0.8125rem] font-medium">Random shares</legend>
      <p className="text-[0.8125rem] text-ink-soft">
        Probabilities from 0 to 1. Second answers are made only while there is room, after the caller has its
        own.
      </p>
      <div className="grid gap-4 sm:grid-cols-3">
        {FIELDS.map(({ name, label, hint }) => (
          <TextField key={name} label={label} hint={hint} inputMode="decimal" {...field(name)} />
        ))}
      </div>
    </fieldset>
  );
}
