// How often users may ask for certificates: failed validations and new orders are counted by authorities, for the whole service, and
// each costs them work. What was asked is remembered beside the order, so that taking that away forgets nothing.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

const AFTER_FAILURE_SECONDS = 300;
const OF_ACCOUNT = { most: 300, seconds: 3600 };
/** The first that is reached counts. */
const OF_NAME = [
  { most: 5, seconds: 3600 },
  { most: 20, seconds: 86_400 },
] as const;
/** Rows that are too old to count go with each call. */
const FORGOTTEN_AT_ONCE = 100;

export interface Limited {
  readonly kind: 'failed' | 'name' | 'account';
  readonly retryAfterSeconds: number;
}

interface Asking {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
}

/** Under the lock of the domain. Where an order is under way nothing is asked anew, and nothing is limited. */
export async function judgeAsking(
  trx: Database,
  { id, accountId, name }: Asking,
): Promise<Limited | undefined> {
  const { rows } = await sql<LimitRow>`
    select
      exists (select from acme_orders o where o.domain_id = ${id} and (o.step <> 'resting' or o.wanted)) as "isUnderWay",
      (select ceil(${AFTER_FAILURE_SECONDS} - extract(epoch from clock_timestamp() - o.asked_at))::integer
        from acme_orders o where o.domain_id = ${id} and o.step = 'resting' and o.attempts > 0) as "afterFailure",
      array(select ceil(extract(epoch from clock_timestamp() - a.asked_at))::integer from acme_asks a
        where a.name = ${name} order by a.asked_at desc limit ${OF_NAME[1].most}) as ages,
      (select count(*)::integer from acme_asks a where a.account_id = ${accountId}
        and a.asked_at > clock_timestamp() - make_interval(secs => ${OF_ACCOUNT.seconds})) as "ofAccount"`.execute(
    trx,
  );
  const { isUnderWay, afterFailure, ages, ofAccount } = rows[0] as LimitRow;
  if (isUnderWay) return undefined;
  if (afterFailure !== null && afterFailure > 0) return { kind: 'failed', retryAfterSeconds: afterFailure };
  for (const { most, seconds } of OF_NAME) {
    const age = ages[most - 1]; // of the one that has to leave the window first
    if (age !== undefined && age < seconds) return { kind: 'name', retryAfterSeconds: seconds - age };
  }
  return ofAccount < OF_ACCOUNT.most ? undefined : { kind: 'account', retryAfterSeconds: 600 };
}

interface LimitRow {
  readonly isUnderWay: boolean;
  readonly afterFailure: number | null;
  readonly ages: readonly number[];
  readonly ofAccount: number;
}

export async function noteAsking(trx: Database, { accountId, name }: Asking): Promise<void> {
  await sql`
    with forgotten as (
      delete from acme_asks where id in (
        select id from acme_asks where asked_at < clock_timestamp() - make_interval(secs => ${OF_NAME[1].seconds})
        limit ${FORGOTTEN_AT_ONCE} for update skip locked))
    insert into acme_asks (account_id, name) values (${accountId}, ${name})`.execute(trx);
}
