// The combinations of a pool: one name of each list. They are numbered from 0; the name of the last list changes fastest.

import type { Name } from '../../dns/name.ts';

type Lists = readonly (readonly Name[])[];
/** One name per list, in the order of the lists. */
export type Combination = readonly Name[];

export function combinationCount(lists: Lists): number {
  return lists.reduce((count, names) => count * names.length, lists.length === 0 ? 0 : 1);
}

/** Returns the combination with a number from 0 to `combinationCount` - 1. */
function combinationAt(lists: Lists, number: number): Combination {
  let rest = number;
  const names: Name[] = [];
  for (const list of [...lists].reverse()) {
    names.unshift(list[rest % list.length] as Name);
    rest = Math.floor(rest / list.length);
  }
  return names;
}

const RANDOM_TRIES = 32;
const BATCH = 1000;

/**
 * Yields combinations in batches until the caller finds a suitable one: first random ones, which suffices if many are
 * suitable, then all of them, from a random one on. `random` returns a number from 0 up to but not including 1.
 */
export function* combinationsToTry(lists: Lists, random: () => number): Generator<Combination[]> {
  const count = combinationCount(lists);
  if (count === 0) return;
  const draw = () => Math.floor(random() * count);
  const drawn = new Set(Array.from({ length: RANDOM_TRIES }, draw));
  yield [...drawn].map((number) => combinationAt(lists, number));
  const start = draw();
  for (let done = 0; done < count; done += BATCH) {
    const size = Math.min(BATCH, count - done);
    yield Array.from({ length: size }, (_, i) => combinationAt(lists, (start + done + i) % count));
  }
}

/**
 * Returns the combination in a list of names: exactly one name of each list. The names may include others that are in no list.
 */
export function combinationIn(lists: Lists, names: readonly Name[]): Combination | undefined {
  const found = lists.map((list) => names.filter((name) => list.includes(name)));
  const isOne = lists.length > 0 && found.every(({ length }) => length === 1);
  return isOne ? found.flat() : undefined;
}
