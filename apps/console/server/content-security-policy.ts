/** sonner writes one fixed style sheet into the head; it is allowed by its digest (checked by a test). */
export const SONNER_STYLE_SHA256 = "StEaX+se6YS7pqjzrzMIA0KaX9zF/8zAhvQXZAe5epY=";

/** The same library puts the element in place before it fills it: nothing at all has to be allowed too. */
const EMPTY_SHA256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";

/**
 * Scripts by nonce only. Style elements by nonce or digest; style attributes are open because charts and gauges
 * place their marks with them. Everything else comes from this origin.
 */
export function contentSecurityPolicy(nonce: string, development: boolean): string {
  return [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ""}`,
    development
      ? "style-src-elem 'self' 'unsafe-inline'"
      : `style-src-elem 'self' 'nonce-${nonce}' 'sha256-${SONNER_STYLE_SHA256}' 'sha256-${EMPTY_SHA256}'`,
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join("; ");
}
