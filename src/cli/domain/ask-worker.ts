// Has a worker run one job ahead of all others, and waits for the result.

import { randomUUID } from 'node:crypto';
import type { Waiting } from '../../store/postgres/wait-for-row.ts';
import type { Refusal } from '../terminal/print-refusal.ts';

/** A job takes up to 20 s, and others may run before it. */
const WAIT_MS = 60_000;

interface WorkerOrder<Written> {
  readonly enqueue: (request: string) => Promise<void>;
  /** Finds the result that the worker wrote for this request. */
  readonly wait: (request: string, waiting: Waiting) => Promise<Written | undefined>;
  readonly signal: AbortSignal;
  readonly waitMs?: number;
  /** Work that is reported as not done if the worker does not respond, such as `made the check`. */
  readonly undone: string;
  /** Text for an interrupt, such as `its check was made`. */
  readonly before: string;
}

type Answered<Written> = { readonly kind: 'written'; readonly written: Written } | Refusal;

export async function askWorker<Written>(order: WorkerOrder<Written>): Promise<Answered<Written>> {
  const { enqueue, wait, signal, waitMs = WAIT_MS, undone, before } = order;
  const request = randomUUID();
  await enqueue(request);
  const written = await wait(request, { timeoutMs: waitMs, signal });
  if (written !== undefined) return { kind: 'written', written };
  const message = signal.aborted
    ? `interrupted before ${before}`
    : `no worker has ${undone}; check that workers are running and can reach the queue`;
  return { kind: 'refused', code: 'no_answer', message };
}
