// Formats TTLs as durations.

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const;

/** `1 h`. Text that is not a number is returned unchanged. */
export function ttlText(seconds: string): string {
  if (!/^\d+$/.test(seconds)) return seconds;
  const amount = Number(seconds);
  for (const [length, unit] of UNITS) {
    if (amount >= length && amount % length === 0) return `${amount / length} ${unit}`;
  }
  return `${amount} s`;
}

export const COMMON_TTLS = ['60', '300', '1800', '3600', '14400', '86400'];
