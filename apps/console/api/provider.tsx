"use client";

import { MOST_CALLS_A_REQUEST } from "@helm/contracts";
import type { AppRouter } from "@helm/control-plane/router";
import { QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { createTRPCClient, httpBatchLink, httpLink, splitLink } from "@trpc/client";
import { type ReactNode, useState } from "react";
import superjson from "superjson";
import { isWorthRetrying, problemOf } from "./errors";
import { goToSignIn } from "./go-to-sign-in";
import { TRPCProvider } from "./trpc";

/** Questions that take their time must not hold up the others of the same moment. */
const ALONE = new Set(["calibration.events", "audit.list"]);

export function ApiProvider({ children }: { children: ReactNode }) {
  const [queryClient] = useState(makeQueryClient);
  const [trpcClient] = useState(() =>
    createTRPCClient<AppRouter>({
      links: [
        splitLink({
          condition: (operation) => ALONE.has(operation.path),
          true: httpLink({ url: "/trpc", transformer: superjson }),
          false: httpBatchLink({
            url: "/trpc",
            transformer: superjson,
            maxURLLength: 4_000,
            maxItems: MOST_CALLS_A_REQUEST,
          }),
        }),
      ],
    }),
  );
  return (
    <QueryClientProvider client={queryClient}>
      <TRPCProvider trpcClient={trpcClient} queryClient={queryClient}>
        {children}
      </TRPCProvider>
    </QueryClientProvider>
  );
}

function makeQueryClient(): QueryClient {
  return new QueryClient({
    queryCache: new QueryCache({ onError: endWithSession }),
    defaultOptions: {
      queries: {
        staleTime: 5_000,
        // A question that failed because nothing answered is asked again; others show what the server said.
        retry: (failures, error) => failures < 5 && isWorthRetrying(error),
        retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5_000),
      },
    },
  });
}

/** A session that ended anywhere ends here. */
function endWithSession(error: unknown): void {
  if (problemOf(error).code === "UNAUTHENTICATED") goToSignIn();
}
