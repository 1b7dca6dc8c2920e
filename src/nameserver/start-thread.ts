// Starts a thread of ours, written in TypeScript. What it is given and says is the matter of its two sides.

import { type TransferListItem, Worker } from 'node:worker_threads';

/** The thread finds `given` in `workerData`. */
export function startThread(
  name: string,
  entry: URL,
  given: object,
  transferList: TransferListItem[] = [],
): Worker {
  return new Worker(new URL('./thread.mjs', import.meta.url), {
    name,
    workerData: { ...given, entry: entry.href },
    transferList,
  });
}
