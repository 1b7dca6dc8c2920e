// Times in zone files: seconds, or numbers with the units w d h m s in any order and case (BIND's form, used everywhere).

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Returns seconds from 0 to 4294967295, or undefined. As in BIND, a number without a unit stands alone: not `1h30`. */
export function parseTtl(text: string): number | undefined {
  if (!/^(?:[0-9]+|(?:[0-9]+[smhdw])+)$/i.test(text)) return undefined;
  let seconds = 0;
  for (const [, digits, unit = ''] of text.matchAll(/([0-9]+)([smhdw]?)/gi)) {
    seconds += Number(digits) * (UNIT_SECONDS[unit.toLowerCase()] ?? 1);
  }
  return seconds <= 0xffffffff ? seconds : undefined;
}
