// Times to live: seconds as people say them.

const UNITS = [
  [86_400, 'd'],
  [3600, 'h'],
  [60, 'min'],
] as const;

/** `1 h`; what is no number stays as it was typed. */
export function ttlText(seconds: string): string {
  if (!/^\d+$/.test(seconds)) return seconds;
  const amount = Number(seconds);
  for (const [length, unit] of UNITS) {
    if (amount >= length && amount % length === 0) return `${amount / length} ${unit}`;
  }
  return `${amount} s`;
}

export const COMMON_TTLS = ['60', '300', '1800', '3600', '14400', '86400'];
