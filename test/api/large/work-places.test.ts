import { expect, it } from 'vitest';
import { WorkPlaces } from '../../../src/api/large/work-places.ts';

const SIZE = { places: 2, waiting: 5, waitingOfOne: 2 };
const HERE = new AbortController().signal;

/** Calls by name. `started` contains those that have a slot, in order. */
function stage() {
  const places = new WorkPlaces(SIZE);
  const started: string[] = [];
  const leaves = new Map<string, () => void>();
  const call = (name: string, accountId: number, domainId = accountId, gone = HERE) =>
    places.enter({ accountId, domainId, gone }).then((entered) => {
      if (entered.kind === 'entered') {
        started.push(name);
        leaves.set(name, entered.leave);
      }
      return entered.kind;
    });
  const leave = async (name: string) => {
    leaves.get(name)?.();
    await Promise.resolve()
      .then(() => undefined)
      .then(() => undefined);
  };
  return { places, started, call, leave };
}

it('two calls run concurrently, and the others wait in the order of their arrival', async () => {
  const { started, call, leave, places } = stage();
  const calls = [call('a', 1), call('b', 2), call('c', 3), call('d', 4)];
  await Promise.all(calls.slice(0, 2));
  expect([started, places.waiting]).toEqual([['a', 'b'], 2]);
  await leave('b');
  expect(started).toEqual(['a', 'b', 'c']);
  await leave('a');
  expect(started).toEqual(['a', 'b', 'c', 'd']);
});

it('an account has one running call, and its waiting ones do not block other accounts', async () => {
  const { started, call, leave } = stage();
  await call('a1', 1);
  void call('a2', 1);
  void call('a3', 1);
  await call('b', 2);
  expect(started).toEqual(['a1', 'b']);
  await leave('b');
  expect(started).toEqual(['a1', 'b']);
  await leave('a1');
  expect(started).toEqual(['a1', 'b', 'a2']);
});

it('a domain has one running call, from any account', async () => {
  const { started, call } = stage();
  await call('a', 1, 7);
  void call('b', 2, 7);
  await call('c', 3, 8);
  expect(started).toEqual(['a', 'c']);
});

it('an account with two waiting calls is refused, while other accounts may still wait', async () => {
  const { call, places } = stage();
  await Promise.all([call('a', 1), call('b', 2)]);
  void call('a2', 1);
  void call('a3', 1);
  expect(await call('a4', 1)).toBe('full');
  void call('c', 3);
  void call('d', 4);
  void call('e', 5);
  expect([await call('f', 6), places.waiting]).toEqual(['full', 5]);
});

it('a call whose client disconnects gives its place in the queue to the next one', async () => {
  const { started, call, leave, places } = stage();
  await Promise.all([call('a', 1), call('b', 2)]);
  const gone = new AbortController();
  const waiting = call('c', 3, 3, gone.signal);
  void call('d', 4);
  gone.abort();
  expect([await waiting, places.waiting]).toEqual(['gone', 1]);
  await leave('a');
  expect(started).toEqual(['a', 'b', 'd']);
});

it('a slot is released once', async () => {
  const { started, call, leave, places } = stage();
  await Promise.all([call('a', 1), call('b', 2)]);
  void call('c', 3);
  void call('d', 4);
  await leave('a');
  await leave('a');
  expect([started, places.working]).toEqual([['a', 'b', 'c'], 2]);
});
