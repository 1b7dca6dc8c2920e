// Formats and reads TTLs.

import { records as say } from '../../words/records.ts';

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
    if (amount >= length && amount % length === 0) return say.ttl(amount / length, unit);
  }
  return say.ttl(amount, 's');
}

export const COMMON_TTLS = ['60', '300', '1800', '3600', '14400', '86400'];

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Converts `300` or `1h30m`, as in a zone file, to seconds. Returns undefined for other text. */
export function ttlSeconds(text: string): string | undefined {
  if (/^\d+$/.test(text)) return text;
  if (!/^(?:\d+[smhdw])+$/i.test(text)) return undefined;
  const parts = [...text.toLowerCase().matchAll(/(\d+)(.)/g)];
  return String(parts.reduce((sum, [, count, unit]) => sum + Number(count) * (SECONDS[unit ?? ''] ?? 0), 0));
}
