// Orders that the webhooks of a domain are told of an event. Workers call them; whoever orders does not wait.

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { type WebhookEvent, webhookBody } from '../../edge/webhooks/webhook-event.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

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

const TESTS_A_MINUTE = 5;
const TESTS_A_DAY = 50;

/** Undefined: the domain had enough of them. Otherwise the id of the delivery. */
export async function orderTest(
  trx: Database,
  domainId: number,
  webhookId: number,
): Promise<number | undefined> {
  await sql`select from domains where id = ${domainId} for no key update`.execute(trx); // one after the other
  const { rows: counts } = await sql<{ minute: number; day: number }>`
    select count(*) filter (where t.created_at > clock_timestamp() - interval '1 minute')::integer as minute,
      count(*)::integer as day
    from webhook_deliveries t join webhooks w on w.id = t.webhook_id
    where w.domain_id = ${domainId} and t.event = 'test' and t.created_at > clock_timestamp() - interval '1 day'`.execute(
    trx,
  );
  const { minute, day } = counts[0] as { minute: number; day: number };
  if (minute >= TESTS_A_MINUTE || day >= TESTS_A_DAY) return undefined;
  if ((await orderEvent(trx, { domainId, event: 'test', data: {}, webhookId })) === 0) return undefined;
  const { rows } = await sql<{ id: number }>`
    select max(id) as id from webhook_deliveries where webhook_id = ${webhookId}`.execute(trx);
  return rows[0]?.id;
}
