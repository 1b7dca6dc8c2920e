import { expect, it } from 'vitest';
import { askWorker } from '../../../src/cli/domain/ask-worker.ts';

const ORDER = {
  signal: new AbortController().signal,
  undone: 'run the check',
  before: 'the check was run',
};

it('returns the result of the request that it queued', async () => {
  const queued: string[] = [];
  const enqueue = async (request: string) => void queued.push(request);
  const wait = async (request: string) => `for ${request}`;
  expect(await askWorker({ ...ORDER, enqueue, wait })).toEqual({
    kind: 'written',
    written: `for ${queued[0]}`,
  });
  await askWorker({ ...ORDER, enqueue, wait });
  expect(new Set(queued).size).toBe(2);
});

it('distinguishes a missing worker from an interrupt', async () => {
  const waited: number[] = [];
  const enqueue = async () => {};
  const wait = async (_request: string, { timeoutMs }: { timeoutMs: number }) => void waited.push(timeoutMs);
  expect(await askWorker({ ...ORDER, enqueue, wait, waitMs: 50 })).toEqual({
    kind: 'refused',
    code: 'no_answer',
    message: 'no worker has run the check; check that workers are running and can reach the queue',
  });
  expect(await askWorker({ ...ORDER, enqueue, wait, signal: AbortSignal.abort() })).toEqual({
    kind: 'refused',
    code: 'no_answer',
    message: 'interrupted before the check was run',
  });
  expect(waited).toEqual([50, 60_000]);
});
