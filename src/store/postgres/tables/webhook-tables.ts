// The tables of webhooks, as Kysely sees them.

import type { Generated, GeneratedAlways } from 'kysely';

interface WebhooksTable {
  id: Generated<number>;
  domain_id: number;
  url: string;
  box_id: number;
  sealed: Buffer;
  created_at: Generated<Date>;
  answered_at: Date | null;
  disabled_at: Date | null;
}

interface WebhookDeliveriesTable {
  id: GeneratedAlways<number>;
  webhook_id: number;
  account_id: number;
  event: string;
  event_id: string;
  body: string;
  created_at: Generated<Date>;
  /** Null: it is over. */
  due_at: Generated<Date | null>;
  claimed_until: Date | null;
  attempts: Generated<number>;
  tried_at: Date | null;
  status: number | null;
  error: string | null;
  delivered: Generated<boolean>;
}

interface WebhookCallsTable {
  id: GeneratedAlways<number>;
  target: string;
  begun_at: Generated<Date>;
  ended_at: Date | null;
}

export interface WebhookTables {
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  webhook_calls: WebhookCallsTable;
}
