import { type JoinRequest, JoinResponse } from "@helm/contracts";
import { type HostIdentity, readIdentity, writeIdentity } from "./credential";
import { HostClient } from "./host-client";

export interface JoinOptions {
  controlUrl: string;
  stateDir: string;
  joinToken?: string | undefined;
  request: Omit<JoinRequest, "join_token">;
}

/** The stored identity, or one made now with the join token. Errors: HostRequestError; no identity and no token. */
export async function joinOnce(options: JoinOptions): Promise<HostIdentity> {
  const known = await readIdentity(options.stateDir);
  if (known) return known;
  if (!options.joinToken) {
    throw new Error(
      `This host has not joined ${options.controlUrl}. Give it a join token (HELM_JOIN_TOKEN) from the Nodes and workers page.`,
    );
  }
  const client = new HostClient({ controlUrl: options.controlUrl });
  try {
    const body: JoinRequest = { ...options.request, join_token: options.joinToken };
    const answer = await client.call("POST", "/api/hosts/join", JoinResponse, { json: body });
    if (!answer) throw new Error("The control plane answered the join with nothing.");
    const identity = { control_url: options.controlUrl, ...answer };
    await writeIdentity(options.stateDir, identity);
    return identity;
  } finally {
    await client.close();
  }
}
