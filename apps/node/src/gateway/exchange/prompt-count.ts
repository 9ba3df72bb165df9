/** An exact count of the prompt's tokens by the engine that will run it, and the ids where there is one prompt. */
export interface PromptCount {
  tokens: number;
  /** Tokens of each prompt: memory is counted in whole blocks, so that no mean may stand for them. */
  lengths: readonly number[];
  ids: readonly number[] | null;
}
