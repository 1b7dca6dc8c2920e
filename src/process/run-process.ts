// The life of a process of ours. Under `npm start` it tells its parent when it is ready or why it cannot be. It ends at
// a signal, when its parent is gone, or after a failed start, and closes what it opened in reverse order.

import type { ListenAddress } from './listen-address.ts';
import { explainLimit, StartFault } from './start-fault.ts';

export interface ProcessLife {
  /** Aborted as soon as the process is to end, also during its start. */
  readonly stopping: AbortSignal;
  /** `close` is called when the process ends. */
  onStop(close: () => Promise<unknown>): void;
  /** Ends a process that cannot go on, also after its start. */
  fail(error: unknown): void;
  /** Ends a process that has nothing more to do. */
  end(): void;
  ready(told: { readonly addresses: readonly ListenAddress[] }): void;
}

const STOP_TIMEOUT_MS = 4000;

/** Returns at once; the process ends by itself when nothing of it is left to run, or with an exit code of ours. */
export function runProcess(
  start: (life: ProcessLife) => Promise<void>,
  { stopTimeoutMs = STOP_TIMEOUT_MS }: { readonly stopTimeoutMs?: number } = {},
): void {
  const opened: (() => Promise<unknown>)[] = [];
  const stopping = new AbortController();

  async function stop(code: number): Promise<void> {
    if (stopping.signal.aborted) return; // it is ending already
    stopping.abort();
    process.exitCode = code; // in case that nothing keeps the process alive until `exit` below
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    let exitCode = code;
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
      await close().catch((error: unknown) => {
        exitCode = 1;
        process.stderr.write(`zonefleet: while it was stopped: ${explain(error)}\n`);
      });
    }
    process.exit(exitCode);
  }

  function fail(error: unknown): void {
    if (stopping.signal.aborted) return; // the stop has cut off what it waited for
    const reason = explain(error);
    if (process.send === undefined) process.stderr.write(`zonefleet: ${reason}\n`);
    else process.send({ kind: 'failed', reason });
    void stop(1);
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(0));
  process.on('disconnect', () => stop(0));
  const life: ProcessLife = {
    stopping: stopping.signal,
    onStop: (close) => opened.push(close),
    fail,
    end: () => void stop(0),
    ready: (told) => process.send?.({ kind: 'ready', ...told }),
  };
  (async () => start(life))().catch(fail);
}

function explain(error: unknown): string {
  if (error instanceof StartFault) return error.message;
  const limit = explainLimit(error);
  if (limit !== undefined) return limit;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
