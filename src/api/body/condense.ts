// Compact forms of the results of a large list, stored with an Idempotency-Key. Each error is stored once, with the
// ranges of indexes that have it. Record ids are stored as ranges, since they are assigned in the order of the list.

export type CondensedFailures = readonly (readonly [error: string, runs: readonly number[]])[];

/** `failures` is sorted by index. Each range is a pair of first and last index. */
export function condenseFailures(
  failures: Iterable<readonly [index: number, error: string]>,
): CondensedFailures {
  const runsOf = new Map<string, number[]>();
  for (const [index, error] of failures) {
    const runs = runsOf.get(error);
    if (runs === undefined) runsOf.set(error, [index, index]);
    else if (runs.at(-1) === index - 1) runs[runs.length - 1] = index;
    else runs.push(index, index);
  }
  return [...runsOf];
}

/** Returns the failures in no particular order. */
export function expandFailures(condensed: CondensedFailures): Map<number, string> {
  const failures = new Map<number, string>();
  for (const [error, runs] of condensed) {
    for (let i = 0; i < runs.length; i += 2) {
      for (let index = runs[i] as number; index <= (runs[i + 1] as number); index++)
        failures.set(index, error);
    }
  }
  return failures;
}

/** Ranges of first index, first id, and length. */
export type CondensedIds = readonly (readonly [index: number, id: number, count: number])[];

interface ItemId {
  readonly index: number;
  readonly id: number;
}

/** `items` is sorted by index. */
export function condenseIds(items: readonly ItemId[]): CondensedIds {
  const runs: [number, number, number][] = [];
  for (const { index, id } of items) {
    const last = runs.at(-1);
    if (last !== undefined && index - last[0] === last[2] && id - last[1] === last[2]) last[2]++;
    else runs.push([index, id, 1]);
  }
  return runs;
}

export function expandIds(condensed: CondensedIds): ItemId[] {
  return condensed.flatMap(([index, id, count]) =>
    Array.from({ length: count }, (_, i) => ({ index: index + i, id: id + i })),
  );
}
