// What webhooks were told and are to be told: read by customers, done by workers.

import { sql } from 'kysely';
import { retrySeconds } from '../../edge/webhooks/retries.ts';
import type { WebhookEvent } from '../../edge/webhooks/webhook-event.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { keyBoxesOf } from '../secrets/database-keys.ts';
import { aboutWebhook } from './webhooks.ts';

export interface StoredDelivery {
  readonly id: number;
  readonly event: WebhookEvent;
  readonly eventId: string;
  readonly createdAt: Date;
  /** Null: it is over. */
  readonly dueAt: Date | null;
  readonly attempts: number;
  readonly triedAt: Date | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly delivered: boolean;
}

const MOST_LISTED = 100;

/** The newest first. */
export async function listDeliveries(db: Database, webhookId: number): Promise<StoredDelivery[]> {
  const { rows } = await sql<StoredDelivery>`
    select id, event, event_id as "eventId", created_at as "createdAt", due_at as "dueAt", attempts,
      tried_at as "triedAt", status, error, delivered
    from webhook_deliveries where webhook_id = ${webhookId} order by id desc limit ${MOST_LISTED}`.execute(
    db,
  );
  return rows;
}

interface DeliveryWork {
  readonly id: number;
  /** Whose the domain was when it was ordered. */
  readonly accountId: number;
  readonly webhookId: number;
  readonly event: WebhookEvent;
  readonly url: string;
  readonly body: string;
  readonly secret: string;
  readonly attempts: number;
  /** The database's clock. */
  readonly now: Date;
}

/** Undefined: it is over, or gone. */
export async function loadDelivery(db: Database, id: number): Promise<DeliveryWork | undefined> {
  const { rows } = await sql<
    Omit<DeliveryWork, 'secret'> & { domainId: number; boxId: number; sealed: Buffer }
  >`
    select t.id, t.account_id as "accountId", t.webhook_id as "webhookId", t.event, w.url, t.body, t.attempts, clock_timestamp() as now,
      w.domain_id as "domainId", w.box_id as "boxId", w.sealed
    from webhook_deliveries t join webhooks w on w.id = t.webhook_id
    where t.id = ${id} and t.due_at is not null`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const boxes = keyBoxesOf(db);
  if (boxes === undefined) throw new Error('KEY_SECRETS is not set in this process');
  const { domainId, boxId, sealed, ...work } = row;
  const secret = await boxes.unseal(db, { boxId, sealed }, aboutWebhook(work.webhookId, domainId));
  return { ...work, secret: secret.toString() };
}

/** Nothing was sent: it is tried a little later, and this does not count. */
export async function putOffDelivery(db: Database, id: number): Promise<void> {
  await sql`
    update webhook_deliveries set claimed_until = null,
      due_at = clock_timestamp() + make_interval(secs => 10 + 20 * random())
    where id = ${id} and due_at is not null`.execute(db);
}

interface Tried {
  /** Absent: nothing was answered. */
  readonly status?: number;
  readonly error?: string;
}

export type SavedTry = 'delivered' | 'again' | 'given_up' | 'disabled' | 'absent';

/**
 * What a try came to. `disabled`: nothing was answered as it should be for as long as calls are tried, so the webhook is called no
 * more, and what else it was to be told is given up.
 */
export async function saveTry(db: Database, id: number, { status, error }: Tried): Promise<SavedTry> {
  return await inTransaction<SavedTry>(db, async (trx) => {
    const { rows } = await sql<{ webhookId: number; event: WebhookEvent; attempts: number; age: number }>`
      update webhook_deliveries set attempts = attempts + 1, tried_at = clock_timestamp(), claimed_until = null,
        status = ${status ?? null}, error = ${error ?? null}
      where id = ${id} and due_at is not null
      returning webhook_id as "webhookId", event, attempts,
        extract(epoch from clock_timestamp() - created_at)::float8 as age`.execute(trx);
    const [tried] = rows;
    if (tried === undefined) return 'absent';
    const { webhookId, event, attempts, age } = tried;
    if (status !== undefined && status >= 200 && status < 300) {
      await sql`update webhook_deliveries set delivered = true, due_at = null where id = ${id}`.execute(trx);
      await sql`
        update webhooks set answered_at = clock_timestamp(), disabled_at = null where id = ${webhookId}`.execute(
        trx,
      );
      return 'delivered';
    }
    // whoever tests looks at the answer, and tests again
    const seconds = event === 'test' ? undefined : retrySeconds({ attempts, ageSeconds: age });
    await sql`
      update webhook_deliveries set due_at = clock_timestamp() + make_interval(secs => ${seconds ?? null}::float8)
      where id = ${id}`.execute(trx);
    if (seconds !== undefined) return 'again';
    return event !== 'test' && (await disableSilent(trx, webhookId, id)) ? 'disabled' : 'given_up';
  });
}

/** Unless it answered since the delivery was ordered. */
async function disableSilent(trx: Database, webhookId: number, deliveryId: number): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update webhooks w set disabled_at = clock_timestamp() from webhook_deliveries t
    where w.id = ${webhookId} and t.id = ${deliveryId} and w.disabled_at is null
      and (w.answered_at is null or w.answered_at < t.created_at)`.execute(trx);
  if (numAffectedRows === 0n) return false;
  await sql`
    update webhook_deliveries set due_at = null where webhook_id = ${webhookId} and due_at is not null`.execute(
    trx,
  );
  return true;
}
