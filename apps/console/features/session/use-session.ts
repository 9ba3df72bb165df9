"use client";

import type { Role } from "@helm/contracts";
import { useQuery } from "@tanstack/react-query";
import { useTRPC } from "../../api/trpc";

const RANK: Record<Role, number> = { viewer: 0, operator: 1, admin: 2 };

/** Its data is null for who is not signed in: the shell then leads to the sign-in. */
export function useSession() {
  const trpc = useTRPC();
  return useQuery(trpc.session.current.queryOptions(undefined, { staleTime: 60_000 }));
}

/** null when the person may; otherwise the reason to show beside what is out of reach. The server decides for itself. */
export function useBlocked(needed: Role): string | null {
  const role = useSession().data?.role;
  if (!role) return "Your role is not known yet.";
  return RANK[role] >= RANK[needed] ? null : `This needs the role ${needed}; yours is ${role}.`;
}
