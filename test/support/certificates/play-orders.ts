// Processes certificate orders like the workers' queue, without the queue.

import { setTimeout as pause } from 'node:timers/promises';
import { type CertificateOutcome, createIssuer } from '../../../src/features/certificates/job-issue.ts';
import { claimDueOrders } from '../../../src/features/certificates/sql-orders.ts';

/** Repeats until an order has one of these outcomes, and returns it. `beside` runs between two attempts. */
export async function playOrders(
  options: Omit<Parameters<typeof createIssuer>[0], 'onOutcome'>,
  ends: readonly CertificateOutcome['kind'][],
  beside: () => Promise<unknown> = () => Promise.resolve(),
): Promise<CertificateOutcome> {
  const { db } = options;
  const outcomes: CertificateOutcome[] = [];
  const job = createIssuer({ ...options, onOutcome: (outcome) => void outcomes.push(outcome) });
  const deadline = AbortSignal.timeout(120_000);
  for (;;) {
    if (deadline.aborted) throw new Error(`no end: ${JSON.stringify(outcomes.slice(-5))}`);
    const { rows } = await claimDueOrders(db, { limit: 1 });
    if (rows.length === 0) await pause(20);
    for (const { id } of rows) await job({ orderId: id }, { signal: deadline, again: false });
    await beside();
    const ended = outcomes.find(({ kind }) => ends.includes(kind));
    if (ended !== undefined) return ended;
  }
}
