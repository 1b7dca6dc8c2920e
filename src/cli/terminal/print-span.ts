// Prints a duration in its two largest units: `12 s`, `3 h 4 min`, `40 d 2 h`.

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

export function printSpan(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  let rest = Math.round(seconds);
  const parts: string[] = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count === 0 && parts.length === 0) continue;
    if (count > 0) parts.push(`${count} ${unit}`);
    rest -= count * size;
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
  }
  return parts.join(' ');
}
