// Starts a thread of ours, written in TypeScript. Its two sides define their messages.

import { pathToFileURL } from 'node:url';
import { type ResourceLimits, type TransferListItem, Worker } from 'node:worker_threads';
import { compiledFile } from './compiled.ts';

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
