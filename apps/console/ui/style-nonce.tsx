"use client";

declare global {
  var __webpack_nonce__: string | undefined;
}

/** Libraries that must write a style element (dialogs lock the page behind them) find the nonce under this name. */
export function StyleNonce({ nonce }: { nonce: string | undefined }) {
  if (typeof window !== "undefined" && nonce) globalThis.__webpack_nonce__ = nonce;
  return null;
}
