// Stores webhooks, and orders deliveries of events.

import { randomBytes, randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type CountRule, countInWindow } from '../../store/accounts/rate-windows.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import type { About } from '../../store/secrets/key-boxes.ts';
import { keyBoxesOf } from '../../store/secrets/key-boxes.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { type WebhookEvent, webhookBody } from './rules.ts';

export interface StoredWebhook {
  readonly id: number;
  readonly url: string;
  readonly createdAt: Date;
  /** When it last accepted an event. */
  readonly answeredAt: Date | null;
  readonly disabledAt: Date | null;
}

type CreatedWebhook =
  | { readonly kind: 'created'; readonly webhook: StoredWebhook; readonly secret: string }
  | { readonly kind: 'full' }
  /** This process has no key to encrypt the secret. */
  | { readonly kind: 'unavailable' };

export const MOST_WEBHOOKS = 5;
const SECRET_OCTETS = 32;

export async function createWebhook(db: Database, domainId: number, url: string): Promise<CreatedWebhook> {
  const boxes = keyBoxesOf(db);
  if (boxes === undefined) return { kind: 'unavailable' };
  return await inTransaction<CreatedWebhook>(db, async (trx) => {
    await sql`select from domains where id = ${domainId} for no key update`.execute(trx); // one creation at a time
    if ((await listWebhooks(trx, domainId)).length >= MOST_WEBHOOKS) return { kind: 'full' };
    const { rows: ids } = await sql<{ id: number }>`select nextval('webhooks_id_seq') as id`.execute(trx);
    const { id } = ids[0] as { id: number };
    const secret = `whsec_${randomBytes(SECRET_OCTETS).toString('base64url')}`;
    const { boxId, sealed } = await boxes.seal(trx, aboutWebhook(id, domainId), Buffer.from(secret));
    const { rows } = await sql<StoredWebhook>`
      insert into webhooks (id, domain_id, url, box_id, sealed)
      values (${id}, ${domainId}, ${url}, ${boxId}, ${sealed}) returning ${COLUMNS}`.execute(trx);
    return { kind: 'created', webhook: rows[0] as StoredWebhook, secret };
  });
}

/** Lists the oldest webhooks first. */
export async function listWebhooks(db: Database, domainId: number): Promise<StoredWebhook[]> {
  const { rows } = await sql<StoredWebhook>`
    select ${COLUMNS} from webhooks where domain_id = ${domainId} order by id`.execute(db);
  return rows;
}

export async function loadWebhook(
  db: Database,
  domainId: number,
  id: number,
): Promise<StoredWebhook | undefined> {
  const { rows } = await sql<StoredWebhook>`
    select ${COLUMNS} from webhooks where domain_id = ${domainId} and id = ${id}`.execute(db);
  return rows[0];
}

/** Deletes a webhook and its deliveries. */
export async function deleteWebhook(db: Database, domainId: number, id: number): Promise<void> {
  await sql`delete from webhooks where domain_id = ${domainId} and id = ${id}`.execute(db);
}

export function aboutWebhook(id: number, domainId: number): About {
  return ['webhook secret', String(id), String(domainId)];
}

const COLUMNS = sql.raw(
  `id, url, created_at as "createdAt", answered_at as "answeredAt", disabled_at as "disabledAt"`,
);

interface OrderedEvent {
  readonly domainId: number;
  readonly event: WebhookEvent;
  readonly data: object;
  /** Only this webhook, even if it is disabled. Undefined for all enabled webhooks. */
  readonly webhookId?: number;
}

/** Maximum number of pending deliveries of a webhook. Further events are dropped. */
const MOST_OPEN = 100;

/** Orders deliveries of an event. Returns their number. */
export async function orderEvent(
  db: Database,
  { domainId, event, data, webhookId }: OrderedEvent,
): Promise<number> {
  const { rows } = await sql<{ name: string; now: Date }>`
    select name, clock_timestamp() as now from domains where id = ${domainId}`.execute(db);
  const [domain] = rows;
  if (domain === undefined) return 0;
  const id = randomUUID();
  const body = webhookBody({
    id,
    event,
    domain: printWithoutDot(decodeNameColumn(domain.name)),
    at: domain.now,
    data,
  });
  const { numAffectedRows } = await sql`
    insert into webhook_deliveries (webhook_id, account_id, event, event_id, body)
    select w.id, d.account_id, ${event}, ${id}, ${body}
    from webhooks w join domains d on d.id = w.domain_id
    where w.domain_id = ${domainId}
      and case when ${webhookId ?? null}::bigint is null then w.disabled_at is null else w.id = ${webhookId ?? null} end
      and (select count(*) from (select from webhook_deliveries o
        where o.webhook_id = w.id and o.due_at is not null limit ${MOST_OPEN}) o) < ${MOST_OPEN}`.execute(db);
  return Number(numAffectedRows);
}

const A_MINUTE: CountRule = { limit: 5, seconds: 60 };
const A_DAY: CountRule = { limit: 50, seconds: 86_400 };
const OPEN_RETRY_SECONDS = 60;

type OrderedTest = { readonly deliveryId: number } | { readonly retrySeconds: number };

/** Tests are counted per domain, because webhooks can be created again without limit. */
export async function orderTest(db: Database, domainId: number, webhookId: number): Promise<OrderedTest> {
  return await inTransaction<OrderedTest>(db, async (trx) => {
    const retrySeconds =
      (await countInWindow(trx, `webhook tests in a minute:${domainId}`, A_MINUTE)) ??
      (await countInWindow(trx, `webhook tests in a day:${domainId}`, A_DAY));
    if (retrySeconds !== undefined) return rollBackTo({ retrySeconds });
    if ((await orderEvent(trx, { domainId, event: 'test', data: {}, webhookId })) === 0)
      return rollBackTo({ retrySeconds: OPEN_RETRY_SECONDS });
    const { rows } = await sql<{ id: number }>`
      select max(id) as id from webhook_deliveries where webhook_id = ${webhookId}`.execute(trx);
    return { deliveryId: (rows[0] as { id: number }).id };
  });
}
