import { z } from "zod";

/** The one hub that corpora may come from, as this host's operator configured it; `off` in place of an address: none. */
export const HubEnvironment = {
  HELM_HUB_ENDPOINT: z.union([z.literal("off"), z.url({ protocol: /^https?$/ })]).optional(),
  HELM_HUB_STORAGE: z.string().optional(),
  HF_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  HF_TOKEN: z.string().optional(),
  HTTPS_PROXY: z.string().optional(),
  NO_PROXY: z.string().optional(),
} as const;
type Given = { [name in keyof typeof HubEnvironment]?: string | undefined };

export interface HubConfig {
  endpoint: string;
  /** Further domains that the hub may send downloads to; undefined: its own. */
  storage: string | undefined;
  token: string | undefined;
  proxy: string | undefined;
  noProxy: string | undefined;
}

const PUBLIC_HUB = "https://huggingface.co";

/** Null where the operator allows none. */
export function readHub(given: Given): HubConfig | null {
  const endpoint = given.HELM_HUB_ENDPOINT ?? given.HF_ENDPOINT ?? PUBLIC_HUB;
  if (endpoint === "off") return null;
  return {
    endpoint,
    storage: given.HELM_HUB_STORAGE,
    token: given.HF_TOKEN,
    proxy: given.HTTPS_PROXY,
    noProxy: given.NO_PROXY,
  };
}

/** What a job sees of it. Only a job whose corpus is the hub's gets this: every other job has no hub at all. */
export function hubEnvironment(hub: HubConfig): Record<string, string> {
  const named = {
    HELM_HUB_ENDPOINT: hub.endpoint,
    HELM_HUB_STORAGE: hub.storage,
    HF_TOKEN: hub.token,
    HTTPS_PROXY: hub.proxy,
    NO_PROXY: hub.noProxy,
  };
  return Object.fromEntries(
    Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
