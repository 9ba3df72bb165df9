import { plural } from "../../ui/numbers";
import type { Tenant } from "./use-tenants";

/** What a tenant has of its own, a few words each; empty where it goes by the routes. */
export function overrideWords(tenant: Tenant): string[] {
  const { streaming, window, meanLogprob, minLogprob, transferOff, maxConcurrent } = tenant;
  return [
    ...(streaming ? [`streaming ${streaming}`] : []),
    ...(window === null ? [] : [`window ${window}`]),
    ...(meanLogprob === null ? [] : [`mean below ${meanLogprob}`]),
    ...(minLogprob === null ? [] : [`least below ${minLogprob}`]),
    ...(transferOff ? ["transfer off"] : []),
    ...(maxConcurrent === null ? [] : [`${plural(maxConcurrent, "request")} at a time`]),
  ];
}
