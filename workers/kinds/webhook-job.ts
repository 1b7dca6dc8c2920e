// Describes the job that calls a webhook: its queue, metrics and log lines.

import { Counter, type Registry } from 'prom-client';
import type { Network } from '../../src/dns/record/network.ts';
import { fillByClaims, type Job, type JobLog, type JobTools } from '../../src/jobs/job.ts';
import { CALL_WEBHOOK, type WebhookJob } from '../../src/jobs/jobs.ts';
import { claimDueDeliveries } from '../../src/store/webhooks/claim-due-deliveries.ts';
import { createWebhookCaller, type WebhookOutcome } from '../jobs/call-webhooks.ts';
import { findReceiver } from '../jobs/find-receiver.ts';

/** Each job takes at most five seconds. */
const AT_ONCE = 32;

export function webhookJob(
  { db, resolver, registry }: JobTools,
  allowed: readonly Network[],
): Job<WebhookJob, WebhookOutcome> {
  let after: number | undefined;
  return {
    kind: CALL_WEBHOOK,
    atOnce: AT_ONCE,
    open: (onOutcome) => createWebhookCaller({ db, allowed, addressesOf: findReceiver(resolver), onOutcome }),
    fill: fillByClaims({
      room: 2 * AT_ONCE,
      async claim(limit) {
        const claimed = await claimDueDeliveries(db, limit, after);
        after = claimed.after;
        return claimed.jobs;
      },
    }),
    count: createWebhookMetrics(registry),
    log: logWebhook,
  };
}

function createWebhookMetrics(registry: Registry): (outcome: WebhookOutcome) => void {
  const calls = new Counter({
    name: 'zonefleet_webhook_calls_total',
    help: 'Calls of webhooks by how a try ended: delivered, again (tried later), given_up, disabled (it never answered, and is called no more), busy (the receiver is called enough; put off), absent.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return ({ kind }) => calls.inc({ outcome: kind });
}

/** Does not log the URL, which may contain a secret. */
function logWebhook(log: JobLog, outcome: WebhookOutcome): void {
  if (outcome.kind === 'disabled')
    log.warn({ webhook: outcome.webhookId, why: outcome.why }, 'a webhook is called no more');
}
