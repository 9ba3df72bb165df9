import type { HelmError, Role } from "@helm/contracts";

export interface PersonActor {
  kind: "person";
  id: string;
  name: string;
  email: string;
  role: Role;
  /** The session that the person came by; null where it was a personal token. */
  sessionId: string | null;
  /** The personal token that the person came by. */
  tokenId?: string;
}

/** Who acts. Every verb gets one; audit rows name it. */
export type Actor =
  /** `refused`: what was shown and why it opens nothing; said where somebody has to be known. */
  | { kind: "anonymous"; refused?: HelmError }
  | PersonActor
  /** `recorder`: no host at all but this server, which records a run that others made. */
  | { kind: "host"; hostKind: "worker" | "node"; id: string; name: string; recorder?: true }
  | { kind: "system"; name: string };

export function actorName(actor: Actor): string {
  switch (actor.kind) {
    case "anonymous":
      return "nobody";
    case "person":
      return actor.email;
    case "host":
      return `${actor.hostKind} ${actor.name}`;
    case "system":
      return actor.name;
  }
}

export function actorId(actor: Actor): string | null {
  return actor.kind === "person" || actor.kind === "host" ? actor.id : null;
}
