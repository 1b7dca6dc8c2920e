import { expect, it } from 'vitest';
import { boundSignal } from '../../src/process/bound-signal.ts';
import { collectGarbage } from '../support/tests/heap-octets.ts';

const aborted = (signal: AbortSignal) =>
  new Promise<Error>((resolve) =>
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true }),
  );

it('ends after its time, whatever was collected since it began', async () => {
  const ended = aborted(boundSignal(new AbortController().signal, 100));
  for (let i = 0; i < 2; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  expect((await ended).name).toBe('TimeoutError');
});

it('ends with the signal, for its reason, also when that has ended before', async () => {
  const outer = new AbortController();
  const ended = aborted(boundSignal(outer.signal, 60_000));
  outer.abort(new Error('the client is gone'));
  expect((await ended).message).toBe('the client is gone');
  expect(boundSignal(outer.signal, 60_000).reason.message).toBe('the client is gone');
});
