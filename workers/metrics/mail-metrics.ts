// The Prometheus metric of mails.

import { Counter, type Registry } from 'prom-client';
import type { MailOutcome } from '../jobs/send-mail.ts';

export function createMailMetrics(registry: Registry): (outcome: MailOutcome) => void {
  const mails = new Counter({
    name: 'zonefleet_mails_total',
    help: 'Mails by how a try ended: sent, dropped (nobody has the email), delayed (tried again), given_up, absent.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  return ({ kind }) => mails.inc({ outcome: kind });
}
