const terminal = process.stdout.isTTY && !process.env.CI;

/** Prints what is being done and how long it took; in place on a terminal, one line each elsewhere. */
export async function step(title, work) {
  const started = Date.now();
  if (terminal) process.stdout.write(`  … ${title}`);
  else console.log(`  … ${title}`);
  try {
    const result = await work();
    finish("✓", title, started);
    return result;
  } catch (error) {
    finish("✗", title, started);
    throw error;
  }
}

function finish(mark, title, started) {
  const line = `  ${mark} ${title} (${seconds(Date.now() - started)})`;
  if (terminal) process.stdout.write(`\r\u001b[K${line}\n`);
  else console.log(line);
}

export function seconds(ms) {
  return ms < 10_000
    ? `${(ms / 1000).toFixed(1)} s`
    : ms < 120_000
      ? `${Math.round(ms / 1000)} s`
      : `${Math.round(ms / 60_000)} min`;
}
