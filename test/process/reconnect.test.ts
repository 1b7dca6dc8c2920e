// Pauses and waits of loops that go on until the process stops.

import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { pauseUnless, Wakeup } from '../../src/process/reconnect.ts';

const LONG_MS = 3_600_000;

test('a pause ends when the process is to stop, also when that was said before', async () => {
  const stopping = new AbortController();
  const paused = pauseUnless(stopping.signal, LONG_MS);
  stopping.abort();
  await paused;
  await pauseUnless(stopping.signal, LONG_MS);
});

test('a pause until a time that has passed is none, and makes Node warn of nothing', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  await pauseUnless(new AbortController().signal, -1000);
  await setImmediate(); // warnings are told in the next turn of the event loop
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

test('a wait ends when it is woken, and one that was woken before it began is none', async () => {
  const wakeup = new Wakeup();
  const waited = wakeup.wait(LONG_MS);
  wakeup.wake();
  await waited;
  wakeup.wake();
  await wakeup.wait(LONG_MS);
});
