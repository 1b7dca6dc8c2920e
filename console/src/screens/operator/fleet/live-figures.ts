// The fleet in a few figures: what all nodes do a second, over the last looks, and what waits in the queues.

import type { QueueState } from './find-troubles.ts';
import type { Rates } from './node-rates.ts';

/** Ten minutes of looks every 10 seconds. */
const MOST_LOOKS = 60;

/** Undefined: no node tells. */
export function sumOfRates(rates: ReadonlyMap<string, Rates>): Rates | undefined {
  if (rates.size === 0) return undefined;
  const all = [...rates.values()];
  return {
    answered: all.reduce((sum, { answered }) => sum + answered, 0),
    dropped: all.reduce((sum, { dropped }) => sum + dropped, 0),
  };
}

/** The looks with one more, the oldest first; those that are too old are left out. */
export function withLook(looks: readonly Rates[], look: Rates): readonly Rates[] {
  return [...looks, look].slice(-MOST_LOOKS);
}

/** Queues that do not answer count for nothing: they are a trouble of their own. */
export function jobsIn(queues: readonly QueueState[]): { readonly waiting: number; readonly dead: number } {
  const sum = (of: 'waiting' | 'dead') => queues.reduce((total, { [of]: jobs = 0 }) => total + jobs, 0);
  return { waiting: sum('waiting'), dead: sum('dead') };
}
