const Z = 1.959963984540054;

/** Wilson's 95 % interval of a share seen on `n` independent ones. */
export function wilson(share: number, n: number): { low: number; high: number } {
  const z2 = Z * Z;
  const middle = share + z2 / (2 * n);
  const spread = Z * Math.sqrt((share * (1 - share)) / n + z2 / (4 * n * n));
  const scale = 1 + z2 / n;
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}
