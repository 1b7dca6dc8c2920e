// The Prometheus metric of webhooks.

import { Counter, type Registry } from 'prom-client';
import type { WebhookOutcome } from '../jobs/call-webhooks.ts';

export function createWebhookMetrics(registry: Registry): (outcome: WebhookOutcome) => void {
  const calls = new Counter({
    name: 'zonefleet_webhook_calls_total',
    help: 'Calls of webhooks by how a try ended: delivered, again (tried later), given_up, disabled (it never answered, and is called no more), busy (the receiver is called enough; put off), absent.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return ({ kind }) => calls.inc({ outcome: kind });
}
