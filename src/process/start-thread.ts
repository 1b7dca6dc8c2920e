// Starts a thread written in TypeScript, and waits for its end. The two sides define their messages.

import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { type ResourceLimits, type TransferListItem, Worker } from 'node:worker_threads';
import { compiledFile } from './compiled.ts';

/** Time limit for a thread to end. */
export const END_TIMEOUT_MS = 2000;

/** MiB in each half of a thread's young generation, from the start, so that the thread does not grow for hours. */
const HALF_MIB = 2;
/** A thread whose caller sets no limit copies few objects. V8's default of 48 would only keep memory. */
const YOUNG_GENERATION_MIB = 3 * HALF_MIB;

setFlagsFromString(`--min-semi-space-size=${HALF_MIB}`);
// The flag of the command line (start/node-flags.ts) would override the limits of threads.
setFlagsFromString('--max-semi-space-size=0');

/** The thread receives `given` in `workerData`. */
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
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB, ...resourceLimits },
  });
}

/** True while the thread runs. After it has ended, it has no id. */
export function isRunning(worker: Worker): boolean {
  return worker.threadId > 0;
}

/**
 * Resolves when the thread has ended or could not be ended. The thread is first requested to end: terminating it while it
 * loads would leave files open.
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
