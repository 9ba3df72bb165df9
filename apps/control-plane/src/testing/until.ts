/** Reads until the value is the wanted one, for as long as a busy machine may take; then gives the last one read. */
export async function until<T>(
  read: () => Promise<T> | T,
  wanted: (value: T) => boolean,
  ms = 45_000,
): Promise<T> {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await read();
    if (wanted(value) || Date.now() > deadline) return value;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
