// How often and how many at a time one receiver is called, by all workers together and for all customers, who can name anybody as
// their receiver: its host, and the address where it is, since one address has any number of names.

import { sql } from 'kysely';
import { addressOctets } from '../../dns/record/network.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';

interface CallBounds {
  readonly atOnce: number;
  readonly aMinute: number;
}

export const HOST_BOUNDS: CallBounds = { atOnce: 10, aMinute: 120 };
/** Many hosts may be at one address, as behind a CDN. */
export const ADDRESS_BOUNDS: CallBounds = { atOnce: 20, aMinute: 240 };

/** Half of a host's, so that no account has all calls of a receiver that many use. */
export const ACCOUNT_BOUNDS: CallBounds = { atOnce: 5, aMinute: 60 };

/** A call that was not ended is over then: its worker is gone. */
const LONGEST_SECONDS = 20;
const IPV6_SITE_OCTETS = 8;

export function hostTarget(host: string): string {
  return `host ${host}`;
}

export function accountTarget(accountId: number, host: string): string {
  return `account ${accountId} ${hostTarget(host)}`;
}

/** IPv6 by /64: whoever has one address there has all. */
export function addressTarget(address: string): string {
  const octets = addressOctets(address);
  if (octets === undefined) return `address ${address}`;
  const shared = octets.length === 16 ? octets.subarray(0, IPV6_SITE_OCTETS) : octets;
  return `address ${Buffer.from(shared).toString('hex')}`;
}

/** The id of the call, for `endCalls`; undefined: the receiver is called enough. */
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
