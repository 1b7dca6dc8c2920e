// The combinations of a pool: one name of each list. They are counted from 0; the last list's name changes fastest.

import type { Name } from '../../dns/name.ts';

type Lists = readonly (readonly Name[])[];
/** One name of each list, in the order of the lists. */
export type Combination = readonly Name[];

export function combinationCount(lists: Lists): number {
  return lists.reduce((count, names) => count * names.length, lists.length === 0 ? 0 : 1);
}

/** The combination of a number from 0 up to, not including, `combinationCount`. */
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
 * The combinations to try when one is wanted that has a certain property, in batches: random ones first, which is enough
 * while many have it, then every one, from a random one on. `random` gives a number from 0 up to, not including, 1.
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
