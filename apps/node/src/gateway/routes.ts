interface GatewayRoute {
  /** Method and path. */
  what: string;
  does: "health" | "metrics" | "models" | "generate" | "escalate" | "return";
  /** Who may call it: anyone, the operator (health/metrics-access), or a tenant with a key. */
  for: "anyone" | "operator" | "tenant";
}

/** The whole of the gateway's door; what is not here is 404. */
export const GATEWAY_ROUTES: readonly GatewayRoute[] = [
  { what: "GET /health", does: "health", for: "anyone" },
  { what: "GET /metrics", does: "metrics", for: "operator" },
  { what: "GET /v1/models", does: "models", for: "tenant" },
  { what: "POST /v1/chat/completions", does: "generate", for: "tenant" },
  { what: "POST /v1/completions", does: "generate", for: "tenant" },
  { what: "POST /v1/helm/escalate", does: "escalate", for: "tenant" },
  { what: "POST /v1/helm/return", does: "return", for: "tenant" },
];
