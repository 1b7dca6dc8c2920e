// A duration in settings and options: `90s`, `30m`, `24h`, `14d`.

const UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Returns milliseconds, or undefined if the text is not a duration. */
export function readSpan(text: string): number | undefined {
  const [, digits, unit] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(digits) * UNITS_MS[unit as keyof typeof UNITS_MS];
}
