import { environment } from "./server/environment";

/** Next.js runs this once in each process of it, before the first request. */
export async function register(): Promise<void> {
  const { HELM_CONSOLE_SECRET, NEXT_RUNTIME } = environment();
  if (NEXT_RUNTIME !== "nodejs" || !HELM_CONSOLE_SECRET) return;
  const { nameCallers } = await import("./server/name-callers");
  nameCallers(HELM_CONSOLE_SECRET);
}
