import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, it } from 'vitest';
import { BodyTurns } from '../../../src/api/body/body-turns.ts';

const KIB = 1024;

let turns: BodyTurns;
beforeEach(() => {
  turns = new BodyTurns();
});

it('counts so much in a round of the event loop, in the order of the pieces', async () => {
  const counted: number[] = [];
  for (let piece = 0; piece < 6; piece++) turns.wait(64 * KIB, () => counted.push(piece));
  const rounds: number[][] = [];
  while (counted.length < 6 || rounds.length === 0) {
    rounds.push([...counted]);
    await setImmediate();
  }
  expect(rounds).toEqual([[], [0, 1], [0, 1, 2, 3]]);
  expect(counted).toEqual([0, 1, 2, 3, 4, 5]);
});

it('a piece larger than a round is counted alone', async () => {
  let counted = 0;
  turns.wait(1 << 20, () => counted++);
  turns.wait(1, () => counted++);
  await setImmediate();
  expect(counted).toBe(1);
  await setImmediate();
  expect(counted).toBe(2);
});

it('a round with room takes a piece at once, and none before those that wait', async () => {
  expect([turns.mayTake(64 * KIB), turns.mayTake(64 * KIB), turns.mayTake(1)]).toEqual([true, true, false]);
  turns.wait(1, () => {});
  expect(turns.mayTake(1)).toBe(false);
  await setImmediate();
  await setImmediate();
  expect(turns.mayTake(1)).toBe(true);
});

it('hundreds of tiny pieces are taken in one round, and not thousands', () => {
  let taken = 0;
  while (turns.mayTake(1)) taken++;
  expect(taken).toBe(Math.ceil((128 * KIB) / 257));
});
