// When a thread stands still: counted in looks, so no clock is read.

import { describe, expect, it } from 'vitest';
import {
  type Doing,
  ImageProgress,
  StandstillWatch,
} from '../../../src/nameserver/threads/image-progress.ts';

const MAX_LOOKS = 60;

/** How often it was said in so many looks, between each of which something happens. */
function told(looks: number, doing: Doing, between: (progress: ImageProgress, look: number) => void): number {
  const progress = new ImageProgress();
  const watch = new StandstillWatch();
  progress.begin(doing);
  let count = 0;
  for (let look = 0; look < looks; look++) {
    if (watch.look({ doing: progress.doing, steps: progress.steps, beats: look % 2 })) count++;
    between(progress, look);
  }
  return count;
}

describe('a thread', () => {
  it('that has work and takes no step stands still, which is said once', () => {
    expect(told(MAX_LOOKS, 'building zones', () => undefined)).toBe(0);
    expect(told(5 * MAX_LOOKS, 'building zones', () => undefined)).toBe(1);
  });

  it('that takes a step now and then never does, however long its work is', () => {
    const seldom = (progress: ImageProgress, look: number) => {
      if (look % (MAX_LOOKS - 1) === 0) progress.step();
    };
    expect(told(100 * MAX_LOOKS, 'reading the snapshot', seldom)).toBe(0);
  });

  it('that waits for the database does not, as long as its event loop turns', () => {
    expect(told(100 * MAX_LOOKS, 'waiting', () => undefined)).toBe(0);
    const watch = new StandstillWatch();
    const still = { doing: 'waiting', steps: 4, beats: 9 } as const;
    expect(Array.from({ length: MAX_LOOKS + 1 }, () => watch.look(still)).at(-1)).toBe(true);
  });
});

it('what is being done, and how far it is, is told through shared memory', () => {
  const inThread = new ImageProgress();
  const outside = new ImageProgress(inThread.buffer);
  expect(outside.doing).toBe('starting');
  inThread.begin('reading the snapshot');
  inThread.reach(3, 8);
  expect([outside.doing, outside.done, outside.total]).toEqual(['reading the snapshot', 3, 8]);
  expect(outside.steps).toBeGreaterThan(1);
});
