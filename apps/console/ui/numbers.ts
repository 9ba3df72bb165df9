const KIB = 1024;

/** 3_250_000 -> "3.1 MiB". */
export function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "unknown";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let size = value;
  let unit = 0;
  while (size >= KIB && unit < units.length - 1) {
    size /= KIB;
    unit += 1;
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** Retention and the like with three places; 1 is written 1.000 so that columns line up. */
export function share(value: number): string {
  return value.toFixed(3);
}

export function percent(value: number, places = 1): string {
  return `${(value * 100).toFixed(places)} %`;
}

export function signed(value: number, places = 2): string {
  return `${value >= 0 ? "+" : "\u2212"}${Math.abs(value).toFixed(places)}`;
}

export function milliseconds(value: number | null | undefined): string {
  if (value === null || value === undefined) return "not measured";
  if (value >= 100) return `${Math.round(value).toLocaleString("en")} ms`;
  return `${value >= 10 ? value.toFixed(1) : value.toFixed(2)} ms`;
}

export function count(value: number): string {
  return value.toLocaleString("en");
}

/** "1 pair", "4 pairs". */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}
