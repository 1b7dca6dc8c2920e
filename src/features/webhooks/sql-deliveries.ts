// Stores deliveries of webhooks: which are due, which receivers may be called, and the result of each attempt.

import { sql } from 'kysely';
import { addressOctets } from '../../dns/record/network.ts';
import type { Database } from '../../store/postgres/database.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { keyBoxesOf } from '../../store/secrets/key-boxes.ts';
import { retrySeconds, type WebhookEvent } from './rules.ts';
import { aboutWebhook } from './sql.ts';

export interface StoredDelivery {
  readonly id: number;
  readonly event: WebhookEvent;
  readonly eventId: string;
  readonly createdAt: Date;
  /** Null if the delivery is finished. */
  readonly dueAt: Date | null;
  readonly attempts: number;
  readonly triedAt: Date | null;
  readonly status: number | null;
  readonly error: string | null;
  readonly delivered: boolean;
}

const MOST_LISTED = 100;

/** Lists the newest deliveries first. */
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
  /** Owner of the domain when the delivery was ordered. */
  readonly accountId: number;
  readonly webhookId: number;
  readonly event: WebhookEvent;
  readonly url: string;
  readonly body: string;
  readonly secret: string;
  readonly attempts: number;
  /** Time by the database's clock. */
  readonly now: Date;
}

/** Returns undefined if the delivery is finished or deleted. */
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

/** Postpones a delivery that was not sent. This does not count as an attempt. */
export async function putOffDelivery(db: Database, id: number): Promise<void> {
  await sql`
    update webhook_deliveries set claimed_until = null,
      due_at = clock_timestamp() + make_interval(secs => 10 + 20 * random())
    where id = ${id} and due_at is not null`.execute(db);
}

interface Tried {
  /** Absent if there was no response. */
  readonly status?: number;
  readonly error?: string;
}

export type SavedTry = 'delivered' | 'again' | 'given_up' | 'disabled' | 'absent';

/**
 * Saves the result of an attempt. If no attempt has succeeded for as long as deliveries are retried, the result is
 * `disabled`: the webhook is no longer called, and its other pending deliveries are given up.
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
    // A test is not retried: the caller sees the result and can test again.
    const seconds = event === 'test' ? undefined : retrySeconds({ attempts, ageSeconds: age });
    await sql`
      update webhook_deliveries set due_at = clock_timestamp() + make_interval(secs => ${seconds ?? null}::float8)
      where id = ${id}`.execute(trx);
    if (seconds !== undefined) return 'again';
    return event !== 'test' && (await disableSilent(trx, webhookId, id)) ? 'disabled' : 'given_up';
  });
}

/** Disables a webhook, unless it has accepted an event since the delivery was ordered. */
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

interface ClaimedDeliveries {
  readonly jobs: { readonly deliveryId: number }[];
  /** Account after which the next claim continues. Undefined to start at the first one. */
  readonly after: number | undefined;
}

/** Longer than a job waits in the queue. After this time, a lost job is due again. */
const LEASE_SECONDS = 60;
/** Maximum number of calls of one account that run or are queued, in all workers together. */
const MOST_OF_ACCOUNT = 8;
/** Number of accounts that one claim examines. */
const ACCOUNTS = 500;
const LOCK = 0x776562_686f6f6bn;

export async function claimDueDeliveries(db: Database, limit: number, after = 0): Promise<ClaimedDeliveries> {
  return await inTransaction(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(${LOCK.toString()}::bigint)`.execute(trx); // for exact counts
    const { rows } = await sql<{ id: number | null; last: number; accounts: number }>`
      with recursive turns as (
        (select account_id, 1 as n from webhook_deliveries where due_at is not null and account_id > ${after}
          order by account_id limit 1)
        union all
        select next.account_id, t.n + 1 from turns t cross join lateral (
          select account_id from webhook_deliveries where due_at is not null and account_id > t.account_id
          order by account_id limit 1) next
        where t.n < ${ACCOUNTS}),
      due as (
        select d.id, t.account_id, row_number() over (partition by t.account_id order by d.due_at) as turn,
          (select count(*) from webhook_deliveries c
            where c.account_id = t.account_id and c.claimed_until > clock_timestamp()) as claimed
        from turns t cross join lateral (
          select id, due_at from webhook_deliveries
          where account_id = t.account_id and due_at <= clock_timestamp()
          order by due_at limit ${MOST_OF_ACCOUNT}) d),
      chosen as (
        select id from due where turn + claimed <= ${MOST_OF_ACCOUNT} order by turn + claimed, account_id limit ${limit}),
      claimed as (
        update webhook_deliveries set due_at = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}),
          claimed_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
        where id in (select id from chosen) returning id)
      select c.id, s.last, s.accounts from (select max(account_id) as last, count(*)::integer as accounts from turns) s
      left join claimed c on true`.execute(trx);
    const [first] = rows;
    const jobs = rows.flatMap(({ id }) => (id === null ? [] : [{ deliveryId: id }]));
    return { jobs, after: first !== undefined && first.accounts >= ACCOUNTS ? first.last : undefined };
  });
}

interface CallBounds {
  readonly atOnce: number;
  readonly aMinute: number;
}

export const HOST_BOUNDS: CallBounds = { atOnce: 10, aMinute: 120 };
/** Many hosts may share one address, as behind a CDN. */
export const ADDRESS_BOUNDS: CallBounds = { atOnce: 20, aMinute: 240 };

/** Half of a host's limits, so that one account cannot use up a receiver that several accounts share. */
export const ACCOUNT_BOUNDS: CallBounds = { atOnce: 5, aMinute: 60 };

/** After this time, a call that was not ended counts as ended, because its worker was lost. */
const LONGEST_SECONDS = 20;
const IPV6_SITE_OCTETS = 8;

export function hostTarget(host: string): string {
  return `host ${host}`;
}

export function accountTarget(accountId: number, host: string): string {
  return `account ${accountId} ${hostTarget(host)}`;
}

/** Groups IPv6 addresses by /64, because the holder of one has all of them. */
export function addressTarget(address: string): string {
  const octets = addressOctets(address);
  if (octets === undefined) return `address ${address}`;
  const shared = octets.length === 16 ? octets.subarray(0, IPV6_SITE_OCTETS) : octets;
  return `address ${Buffer.from(shared).toString('hex')}`;
}

/** Reserves a call of the receiver. Returns its id for `endCalls`, or undefined if the receiver is at its limit. */
export async function takeCall(
  db: Database,
  target: string,
  { atOnce, aMinute }: CallBounds,
): Promise<number | undefined> {
  return await inTransaction(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${target}, 0))`.execute(trx);
    const { rows } = await sql<{ id: number }>`
      insert into webhook_calls (target)
      select ${target} from (
        select count(*) filter (
          where ended_at is null and begun_at > clock_timestamp() - make_interval(secs => ${LONGEST_SECONDS})) as running,
          count(*) as lately
        from webhook_calls where target = ${target} and begun_at > clock_timestamp() - interval '1 minute') c
      where c.running < ${atOnce} and c.lately < ${aMinute}
      returning id`.execute(trx);
    return rows[0]?.id;
  });
}

export async function endCalls(db: Database, ids: readonly number[]): Promise<void> {
  await sql`
    update webhook_calls set ended_at = clock_timestamp() where id = any(${[...ids]}::bigint[])`.execute(db);
}
