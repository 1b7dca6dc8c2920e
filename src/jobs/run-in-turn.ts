// Runs the members of a job that has several, one after another.

import { SLOW_AFTER_MS } from '../checks/shares/slots.ts';

/**
 * Runs the members one after another, so that a job needs one slot. The next member does not wait for a slow one. If a
 * member fails, the others run nevertheless, and the promise is rejected at the end, so that the job is repeated.
 */
export async function runInTurn(
  ids: readonly number[],
  runOne: (id: number) => Promise<void>,
  signal: AbortSignal,
  slowAfterMs: number = SLOW_AFTER_MS,
): Promise<void> {
  const runs: Promise<PromiseSettledResult<void>[]>[] = [];
  for (const id of ids) {
    if (signal.aborted) break;
    const run = Promise.allSettled([runOne(id)]);
    runs.push(run);
    await endOrSlow(run, slowAfterMs);
  }
  const results = (await Promise.all(runs)).flat();
  signal.throwIfAborted();
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

async function endOrSlow(run: Promise<unknown>, slowAfterMs: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const slow = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, slowAfterMs);
  });
  await Promise.race([run, slow]);
  clearTimeout(timer);
}
