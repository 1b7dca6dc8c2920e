// The failed items of a large list in a short form: each error once, with the runs of indexes that have it. An
// attacker's list has the same fault a hundred thousand times.

export type CondensedFailures = readonly (readonly [error: string, runs: readonly number[]])[];

/** `failures`: index and error, in the order of the index. Runs are pairs of first and last. */
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

/** The failures, in no particular order. */
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
