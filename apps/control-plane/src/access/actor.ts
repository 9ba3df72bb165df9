import type { Role } from "@helm/contracts";

/** Who acts. Every verb gets one; audit rows name it. */
export type Actor =
  | { kind: "anonymous" }
  | { kind: "person"; id: string; name: string; email: string; role: Role; sessionId: string }
  | { kind: "host"; hostKind: "worker" | "node"; id: string; name: string }
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
