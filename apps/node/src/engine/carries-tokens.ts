import { choiceEvidence } from "./choice-evidence";
import type { Chunk } from "./chunk";

/** Whether a chunk carries anything of the answer beyond the opening role. */
export function carriesTokens(chunk: Chunk): boolean {
  return chunk.choices.some(
    (choice) =>
      Boolean(choice.finish_reason) ||
      choiceEvidence(choice).length > 0 ||
      (choice.token_ids?.length ?? 0) > 0 ||
      Boolean(choice.delta?.tool_calls),
  );
}
