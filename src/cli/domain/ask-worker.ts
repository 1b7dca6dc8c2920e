// Has a worker do a job ahead of all others, and waits for what it wrote.

import { randomUUID } from 'node:crypto';
import type { Waiting } from '../../store/postgres/wait-for-row.ts';
import type { Refusal } from '../terminal/print-refusal.ts';

/** A job ends within 20 s, and others may run before it. */
const WAIT_MS = 60_000;

interface WorkerOrder<Written> {
  readonly enqueue: (request: string) => Promise<void>;
  /** Finds what the worker wrote for that request. */
  readonly wait: (request: string, waiting: Waiting) => Promise<Written | undefined>;
  readonly signal: AbortSignal;
  readonly waitMs?: number;
  /** What the worker has not done when it does not answer: `made the check`. */
  readonly undone: string;
  /** What an interrupt came before: `its check was made`. */
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
    : `no worker has ${undone}; do workers run, and do they reach the queue?`;
  return { kind: 'refused', code: 'no_answer', message };
}
