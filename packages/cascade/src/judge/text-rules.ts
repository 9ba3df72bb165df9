import type { AnswerEvidence } from "../evidence";

const REFUSAL =
  /^\s*(i['’]?m sorry|i am sorry|sorry[,.]|i apologi[sz]e|i (can(no|['’])t|cannot|am (not able|unable)|['’]?m (not able|unable)|won['’]t|will not|do(n['’]t| not) know)|as an ai\b|unfortunately, i)/i;

/** Whether an answer opens by saying that it will not or cannot. */
export function isRefusal(text: string): boolean {
  return REFUSAL.test(text.slice(0, 200));
}

/** How chat templates end an answer; the engine names this token, too. */
const END_MARK = /(<\|[\w ]+\|>|<\/s>|<eos>)\s*$/i;

/** JSON was asked for, and what came is whole and is none: no probability is needed to call that hard. */
export function breaksFormat(answer: AnswerEvidence): boolean {
  if (!answer.wantsJson || answer.finish !== "stop") return false;
  try {
    JSON.parse(textOf(answer).replace(END_MARK, ""));
    return false;
  } catch {
    return true;
  }
}

export function textOf(answer: AnswerEvidence): string {
  return answer.tokens.map(({ text }) => text).join("");
}
