// Starts a thread of ours, written in TypeScript, and waits for its end. Its two sides define their messages.

import { pathToFileURL } from 'node:url';
import { type ResourceLimits, type TransferListItem, Worker } from 'node:worker_threads';
import { compiledFile } from './compiled.ts';

/** How long a thread may take to end. */
export const END_TIMEOUT_MS = 2000;

/** The thread finds `given` in `workerData`. */
export function startThread(
  name: string,
  entry: URL,
  given: object,
  transferList: TransferListItem[] = [],
  resourceLimits: ResourceLimits = {},
): Worker {
  const compiled = compiledFile(entry);
  const program = compiled === undefined ? new URL('./thread.mjs', import.meta.url) : pathToFileURL(compiled);
  return new Worker(program, {
    name,
    workerData: { ...given, entry: entry.href },
    transferList,
    resourceLimits,
  });
}

/** Whether the thread still runs: one that has ended has no id any more. */
export function isRunning(worker: Worker): boolean {
  return worker.threadId > 0;
}

/**
 * Resolves when the thread is gone, or could not be ended. The thread is first asked to end: if it were terminated
 * while it loads, the files that it reads would stay open.
 */
export async function untilThreadEnds(worker: Worker): Promise<void> {
  const timers: NodeJS.Timeout[] = [];
  await new Promise<void>((done) => {
    worker.once('exit', () => done());
    timers.push(setTimeout(() => void worker.terminate(), END_TIMEOUT_MS / 2));
    timers.push(setTimeout(done, END_TIMEOUT_MS));
  });
  timers.forEach(clearTimeout);
}
