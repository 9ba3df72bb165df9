const PROGRAMS: [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/Firefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
];
const SYSTEMS: [RegExp, string][] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/Linux/, "Linux"],
];

/** "Firefox on Linux": a browser says who it is; anything else is the command line or another program. */
export function programOf(userAgent: string | null): string {
  const program = PROGRAMS.find(([pattern]) => pattern.test(userAgent ?? ""))?.[1];
  if (!program) return "Command line or another program";
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent ?? ""))?.[1];
  return system ? `${program} on ${system}` : program;
}
