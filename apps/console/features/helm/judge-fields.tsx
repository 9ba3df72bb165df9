import { StreamingMode } from "@helm/contracts";
import type { UseFormRegisterReturn } from "react-hook-form";
import { SelectField, TextField } from "../../ui/field";
import type { JudgeField } from "./judge-schema";
import { STREAMING_HINT } from "./streaming-words";

/**
 * Thresholds, streaming mode and window, for a route or for what a tenant has instead of the route's.
 * `field` joins each to the form it stands in; `streaming` is what is chosen there now.
 */
export function JudgeFields({
  field,
  streaming,
  inherited,
}: {
  field: (name: JudgeField) => UseFormRegisterReturn & { error: string | undefined };
  streaming: StreamingMode | "";
  /** An empty field leaves the route's own. */
  inherited?: boolean;
}) {
  const empty = inherited ? " Empty: as the route says." : "";
  return (
    <>
      <TextField
        label="Mean log-probability"
        hint={`Escalate below it. ${inherited ? empty.trim() : "Nearer to 0 escalates more."}`}
        inputMode="decimal"
        {...field("meanLogprob")}
      />
      <TextField
        label="Least log-probability"
        hint={`Escalate where one token is below it.${empty}`}
        inputMode="decimal"
        {...field("minLogprob")}
      />
      <SelectField
        label="Streaming"
        hint={streaming ? STREAMING_HINT[streaming] : "The mode that each route has."}
        {...field("streaming")}
      >
        {inherited ? <option value="">as the route says</option> : null}
        {StreamingMode.options.map((mode) => (
          <option key={mode} value={mode}>
            {mode}
          </option>
        ))}
      </SelectField>
      <TextField
        label="Window"
        hint={`Tokens held back in the window mode.${empty}`}
        inputMode="numeric"
        {...field("window")}
      />
    </>
  );
}
