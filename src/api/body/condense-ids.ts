// Which record each item of a large list became, in a short form: ids are given in the order of the list, so few runs say
// all of it.

/** Runs of first index, first id, and how many. */
export type CondensedIds = readonly (readonly [index: number, id: number, count: number])[];

interface ItemId {
  readonly index: number;
  readonly id: number;
}

/** `items`: in the order of the index. */
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
