// The names and types of the records that an API key may write. Null means all.

import type { Name } from '../../dns/name.ts';
import { printWithoutDot } from '../name-text.ts';

export interface KeyNarrowing {
  /** Full names without the final dot. */
  readonly names: readonly string[] | null;
  readonly types: readonly string[] | null;
}

/** Returns the reason why the key may not write one of these records. Returns undefined if it may write all. */
export function judgeNarrowedWrite(
  { names, types }: KeyNarrowing,
  records: Iterable<{ readonly name: Name; readonly type: string }>,
): string | undefined {
  if (names === null && types === null) return undefined;
  for (const { name, type } of records) {
    if (names !== null && !names.includes(printWithoutDot(name))) {
      return 'this API key may not write records at that name';
    }
    if (types !== null && !types.includes(type)) return `this API key may not write ${type} records`;
  }
  return undefined;
}
