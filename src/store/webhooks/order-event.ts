// Orders that the webhooks of a domain are told of an event. Workers call them; whoever orders does not wait.

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type WebhookEvent, webhookBody } from '../../edge/webhooks/webhook-event.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { type CountRule, countInWindow } from '../postgres/count-in-window.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';

interface OrderedEvent {
  readonly domainId: number;
  readonly event: WebhookEvent;
  readonly data: object;
  /** Only this one, also when it is disabled; undefined: all that are not. */
  readonly webhookId?: number;
}

/** What one webhook has still to be told; beyond that nothing is added, so that a dead receiver costs no more. */
const MOST_OPEN = 100;

/** Gives how many are told. */
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

/** Tests are counted by the domain: webhooks are made anew as often as somebody likes. */
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
