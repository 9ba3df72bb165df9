/** Beside the policy of content: what a page may be put into, sniff, tell others and ask of the device. */
export function securityHeaders(publicProtocol: string): Record<string, string> {
  return {
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    // Only where the browser came by TLS: on loopback it would lock other programs of this machine out.
    ...(publicProtocol === "https:" ? { "strict-transport-security": "max-age=31536000" } : {}),
  };
}
