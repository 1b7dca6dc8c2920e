// A pattern in NAMESERVER_POOL: one name, or a range of names like `ns[01-40].fleet-a.net`.

const RANGE = /^([^[\]]*)\[(\d{1,4})-(\d{1,4})\]([^[\]]*)$/;

/** Maximum number of names in a list, and thus in a range. */
export const MAX_LIST_NAMES = 1000;

/**
 * Returns the names of a pattern as text. A range counts with leading zeros if its ends, which must then be equally
 * long, have them. Returns undefined if the range is invalid, runs backwards or is longer than a list may be.
 */
export function expandPattern(pattern: string): string[] | undefined {
  if (!/[[\]]/.test(pattern)) return [pattern];
  const [, before = '', first = '', last = '', behind = ''] = RANGE.exec(pattern) ?? [];
  if (first === '') return undefined;
  const hasZeros = [first, last].some((digits) => digits.length > 1 && digits.startsWith('0'));
  if (hasZeros && first.length !== last.length) return undefined;
  const count = Number(last) - Number(first) + 1;
  if (count < 1 || count > MAX_LIST_NAMES) return undefined;
  const width = hasZeros ? first.length : 0;
  return Array.from(
    { length: count },
    (_, i) => `${before}${String(Number(first) + i).padStart(width, '0')}${behind}`,
  );
}
