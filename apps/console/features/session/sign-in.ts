import { z } from "zod";
import { duration } from "../preferences/time-words";

const Refusal = z.object({ message: z.string().optional(), code: z.string().optional() });

/** null when signed in; otherwise what to tell the person. */
export async function signIn(email: string, password: string): Promise<string | null> {
  let answer: Response;
  try {
    answer = await fetch("/api/auth/sign-in/email", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email, password }),
    });
  } catch {
    return "The control plane does not answer. Wait a moment and try again.";
  }
  if (answer.ok) return null;
  if (answer.status === 401) return "That email and password do not belong together.";
  if (answer.status === 429) {
    const seconds = Number(answer.headers.get("retry-after") ?? 60);
    return `Too many attempts. Wait ${duration(seconds * 1_000)} and try again.`;
  }
  if (answer.status >= 500) return "The control plane does not answer. Wait a moment and try again.";
  const refusal = Refusal.safeParse(await answer.json().catch(() => null));
  return (refusal.success && refusal.data.message) || "Signing in failed.";
}

/** Only a path of this console may be returned to. */
export function safeNext(next: string | null, fallback: string): string {
  return next?.startsWith("/") && !next.startsWith("//") && !next.startsWith("/\\") ? next : fallback;
}
