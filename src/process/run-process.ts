// Life cycle of a process. Under `npm start`, it reports to its parent when it is ready, or why it cannot start. It ends on
// a signal, when its parent has ended, or after a failed start, and closes its resources in reverse order.

import type { ListenAddress } from './listen-address.ts';
import { explainLimit, StartFault } from './start-fault.ts';

export interface ProcessLife {
  /** Aborted when the process must end, including during its start. */
  readonly stopping: AbortSignal;
  /** `close` is called when the process ends. */
  onStop(close: () => Promise<unknown>): void;
  /** `act` is called at each SIGHUP, which would otherwise end the process. */
  onHangup(act: () => void): void;
  /** Ends a process that cannot start or cannot continue. */
  fail(error: unknown): void;
  /** Ends a process that has finished its work. */
  end(): void;
  ready(told: { readonly addresses: readonly ListenAddress[] }): void;
}

const STOP_TIMEOUT_MS = 4000;

/** Returns immediately. The process ends when it has nothing left to do, or with our exit code. */
export function runProcess(
  start: (life: ProcessLife) => Promise<void>,
  { stopTimeoutMs = STOP_TIMEOUT_MS }: { readonly stopTimeoutMs?: number } = {},
): void {
  const opened: (() => Promise<unknown>)[] = [];
  const stopping = new AbortController();

  async function stop(code: number): Promise<void> {
    if (stopping.signal.aborted) return; // it is already ending
    stopping.abort();
    process.exitCode = code; // in case nothing keeps the process alive until `exit` below
    setTimeout(() => process.exit(1), stopTimeoutMs).unref();
    let exitCode = code;
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) {
      await close().catch((error: unknown) => {
        exitCode = 1;
        process.stderr.write(`zonefleet: error while stopping: ${explain(error)}\n`);
      });
    }
    process.exit(exitCode);
  }

  function fail(error: unknown): void {
    if (stopping.signal.aborted) return; // stopping has aborted the start
    const reason = explain(error);
    if (process.send === undefined) process.stderr.write(`zonefleet: ${reason}\n`);
    else process.send({ kind: 'failed', reason });
    void stop(1);
  }

  let hangUp = (): void => void stop(0);
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => stop(0));
  process.on('SIGHUP', () => hangUp());
  process.on('disconnect', () => stop(0));
  const life: ProcessLife = {
    stopping: stopping.signal,
    onStop: (close) => opened.push(close),
    onHangup: (act) => {
      hangUp = act;
    },
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
