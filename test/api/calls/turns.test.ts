import { expect, it } from 'vitest';
import { NoTurn, Turns } from '../../../src/api/calls/turns.ts';
import { DatabaseSilence } from '../../../src/store/postgres/bounded-client.ts';

function piece() {
  let finish: (value: string) => void = () => {};
  let fail: (error: Error) => void = () => {};
  const done = new Promise<string>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { done, finish, fail };
}

it('runs the work of one domain in the order of the calls, one at a time', async () => {
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

it('begins the next work when the work before leaves, and only that one', async () => {
  const turns = new Turns();
  const begun: number[] = [];
  const pieces = [piece(), piece(), piece()];
  const results = pieces.map(({ done }, i) =>
    turns.run(7, async (leave) => {
      begun.push(i);
      if (i === 0) leave();
      return await done;
    }),
  );
  await new Promise(setImmediate);
  expect(begun).toEqual([0, 1]);
  pieces[0]?.finish('first');
  expect(await results[0]).toBe('first');
  expect(begun).toEqual([0, 1]);
  pieces[1]?.fail(new Error('broken'));
  await expect(results[1]).rejects.toThrow('broken');
  pieces[2]?.finish('third');
  expect(await results[2]).toBe('third');
  expect(turns.busy).toBe(0);
});

it('does not make domains wait for each other', async () => {
  const turns = new Turns();
  const held = piece();
  const waiting = turns.run(1, () => held.done);
  expect(await turns.run(2, async () => 'at once')).toBe('at once');
  held.finish('later');
  expect(await waiting).toBe('later');
});

it('refuses a call that waits too long, and keeps the order of the others', async () => {
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

it('limits the waiting calls per domain, with a separate queue for each', async () => {
  const turns = new Turns({ waitMs: 60_000, waiting: 2 });
  const held = piece();
  const works = [1, 2, 3].map((i) => turns.run(1, async () => (i === 1 ? await held.done : `${i}`)));
  await expect(turns.run(1, async () => 'too many')).rejects.toBeInstanceOf(NoTurn);
  expect(await turns.run(2, async () => 'another domain')).toBe('another domain');
  held.finish('1');
  expect(await Promise.all(works)).toEqual(['1', '2', '3']);
});

it('fails the waiting calls if PostgreSQL does not answer the call before them, and runs later calls', async () => {
  const turns = new Turns();
  const silence = new DatabaseSilence('no answer');
  const first = piece();
  const others: string[] = [];
  const calls = [
    turns.run(1, () => first.done),
    turns.run(1, async () => others.push('second')),
    turns.run(1, async () => others.push('third')),
    turns.run(2, async () => others.push('another domain')),
  ];
  first.fail(silence);
  const results = await Promise.allSettled(calls);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'fulfilled']);
  const [reason, ...reasons] = results.flatMap((result) => ('reason' in result ? [result.reason] : []));
  expect(reason).toBe(silence);
  // A different error, because the original may belong to a commit with an unknown outcome.
  for (const each of reasons) expect(each).not.toBe(silence);
  expect(reasons).toEqual([silence, silence]);
  expect(turns.busy).toBe(0);
  expect(await turns.run(1, async () => 'later')).toBe('later');
  expect(others).toEqual(['another domain']);
});
