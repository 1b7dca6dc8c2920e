// Figures of the fleet: rates of all nodes over recent samples, and waiting jobs.

import type { QueueState } from './find-problems.ts';
import type { Rates } from './node-rates.ts';

/** Ten minutes of samples, one every 10 seconds. */
const MOST_LOOKS = 60;

/** Undefined if no node reports it. */
export function sumOfRates(rates: ReadonlyMap<string, Rates>): Rates | undefined {
  if (rates.size === 0) return undefined;
  const all = [...rates.values()];
  return {
    answered: all.reduce((sum, { answered }) => sum + answered, 0),
    dropped: all.reduce((sum, { dropped }) => sum + dropped, 0),
  };
}

/** Appends a sample and removes old ones. Sorted oldest first. */
export function withLook(looks: readonly Rates[], look: Rates): readonly Rates[] {
  return [...looks, look].slice(-MOST_LOOKS);
}

/** Queues that do not respond are not counted; they are reported as problems. */
export function jobsIn(queues: readonly QueueState[]): { readonly waiting: number; readonly dead: number } {
  const sum = (of: 'waiting' | 'dead') => queues.reduce((total, { [of]: jobs = 0 }) => total + jobs, 0);
  return { waiting: sum('waiting'), dead: sum('dead') };
}
