/** 86,400 -> "1 day", 9,000 -> "2.5 hours". */
export function span(seconds: number): string {
  const days = seconds % 86_400 === 0;
  const value = Number((seconds / (days ? 86_400 : 3_600)).toFixed(1));
  const unit = days ? "day" : "hour";
  return `${value} ${unit}${value === 1 ? "" : "s"}`;
}
