// Webhooks: URLs that receive a call when an event happens to a domain (docs/api.md "Webhooks").

import { grants } from '../../store/roles/role-privileges.ts';
import type { Feature } from '../feature.ts';
import { CALL_WEBHOOK } from './rules.ts';

export const webhooks: Feature = {
  name: 'webhooks',
  schema: ['tables.sql'],
  privileges: {
    tables: {
      webhooks: grants('', 'siud', 'su'),
      webhook_deliveries: grants('', 'si', 'siud'),
      webhook_calls: grants('', '', 'siud'),
    },
    sequences: { webhooks_id_seq: ['zonefleet_api'] },
  },
  retention: {
    webhook_deliveries: `created_at < now() - interval '7 days'`,
    webhook_calls: `begun_at < now() - interval '5 minutes'`,
  },
  queues: [CALL_WEBHOOK],
  tags: { Webhooks: 'URLs that are called when an event happens to a domain.' },
  services: async () => (await import('./services.ts')).openWebhookServices,
  routes: async () => (await import('./routes.ts')).WEBHOOK_ROUTES,
  jobs: async () => [(await import('./job.ts')).openWebhookJob],
};
