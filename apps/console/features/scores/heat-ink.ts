type Triple = [number, number, number];

/** The two ends of the colour scale in both themes, as in ui/tokens.css; a test reads them there. */
export const HEAT_ENDS = {
  light: { accent: "#0f766e", card: "#ffffff" },
  dark: { accent: "#2dd4bf", card: "#171412" },
} as const;

/** How much of the accent a cell shows, in per cent. */
export function heatShare(heat: number): number {
  return Math.round(8 + heat * 92);
}

export function heatColour(heat: number): string {
  return `color-mix(in oklab, var(--accent) ${heatShare(heat)}%, var(--card))`;
}

/** Black or white, whichever is read better on a cell of this heat; one of the two always reaches 4.5 : 1. */
export function heatInk(heat: number): string {
  const on = (theme: keyof typeof HEAT_ENDS) =>
    contrastOn(theme, heat, 0) >= contrastOn(theme, heat, 1) ? "#000" : "#fff";
  return `light-dark(${on("light")}, ${on("dark")})`;
}

/** WCAG contrast of ink of luminance 0 or 1 on a cell. */
export function contrastOn(theme: keyof typeof HEAT_ENDS, heat: number, ink: 0 | 1): number {
  const { accent, card } = HEAT_ENDS[theme];
  const luminance = luminanceOf(mix(accent, card, heatShare(heat) / 100));
  return (Math.max(ink, luminance) + 0.05) / (Math.min(ink, luminance) + 0.05);
}

/** Linear sRGB of the mix in oklab (B. Ottosson), as CSS color-mix takes it. */
function mix(one: string, other: string, share: number): Triple {
  const [a, b] = [toOklab(linear(one)), toOklab(linear(other))];
  const [l, m, n] = a.map((value, i) => value * share + (b[i] ?? 0) * (1 - share)) as Triple;
  const cube = (x: number) => x ** 3;
  const long = cube(l + 0.3963377774 * m + 0.2158037573 * n);
  const middle = cube(l - 0.1055613458 * m - 0.0638541728 * n);
  const short = cube(l - 0.0894841775 * m - 1.291485548 * n);
  return [
    4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * middle + 1.707614701 * short,
  ];
}

function toOklab([r, g, b]: Triple): Triple {
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const middle = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short,
  ];
}

function linear(hex: string): Triple {
  return [1, 3, 5].map((at) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  }) as Triple;
}

function luminanceOf([r, g, b]: Triple): number {
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
