import { expect, it } from 'vitest';
import { NoTurn, Turns } from '../../../src/api/calls/turns.ts';

function piece() {
  let finish: (value: string) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const done = new Promise<string>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { done, finish, fail };
}

it('work of one domain is done in the order of the calls, one at a time', async () => {
  const turns = new Turns();
  const begun: number[] = [];
  const pieces = [piece(), piece(), piece()];
  const results = pieces.map(({ done }, i) =>
    turns.run(7, () => {
      begun.push(i);
      return done;
    }),
  );
  await Promise.resolve();
  await Promise.resolve();
  expect(begun).toEqual([0]);
  pieces[1]?.finish('second');
  pieces[0]?.fail(new Error('broken'));
  await expect(results[0]).rejects.toThrow('broken');
  expect(await results[1]).toBe('second');
  pieces[2]?.finish('third');
  expect(await results[2]).toBe('third');
  expect(begun).toEqual([0, 1, 2]);
  expect(turns.busy).toBe(0);
});

it('domains do not wait for each other', async () => {
  const turns = new Turns();
  const held = piece();
  const waiting = turns.run(1, () => held.done);
  expect(await turns.run(2, async () => 'at once')).toBe('at once');
  held.finish('later');
  expect(await waiting).toBe('later');
});

it('a call that waits too long is refused, and the order of the others stays', async () => {
  const turns = new Turns({ waitMs: 20, waiting: 10 });
  const hung = piece();
  const first = turns.run(1, () => hung.done);
  const begun: string[] = [];
  const late = turns.run(1, async () => begun.push('late'));
  await expect(late).rejects.toBeInstanceOf(NoTurn); // while the first still hangs
  const next = turns.run(1, async () => begun.push('next'));
  hung.finish('at last');
  expect(await first).toBe('at last');
  await next;
  expect(begun).toEqual(['next']);
  expect(turns.busy).toBe(0);
});

it('only so many wait for one domain; others have their own queue', async () => {
  const turns = new Turns({ waitMs: 60_000, waiting: 2 });
  const held = piece();
  const works = [1, 2, 3].map((i) => turns.run(1, async () => (i === 1 ? await held.done : `${i}`)));
  await expect(turns.run(1, async () => 'too many')).rejects.toBeInstanceOf(NoTurn);
  expect(await turns.run(2, async () => 'another domain')).toBe('another domain');
  held.finish('1');
  expect(await Promise.all(works)).toEqual(['1', '2', '3']);
});
