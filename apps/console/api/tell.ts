import { toast } from "sonner";
import { problemOf } from "./errors";

/** Said only after the server stored it. */
export function tellStored(message: string, detail?: string): void {
  toast.success(message, { description: detail });
}

export function tellProblem(what: string, error: unknown): void {
  const { message, requestId } = problemOf(error);
  toast.error(what, { description: requestId ? `${message} (request ${requestId})` : message });
}
