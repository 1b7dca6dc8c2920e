// The observers elsewhere: their keys, their networks, and when each last asked for jobs.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

export interface StoredVantage {
  readonly name: string;
  /** The operator's label. */
  readonly network: string;
  readonly publicKey: string;
  /** What the operator says, else where it connects from; null: not known. */
  readonly address: string | null;
  readonly createdAt: Date;
  readonly seenAt: Date | null;
  /** The time of the database when it was read. */
  readonly now: Date;
  readonly answers: number;
  readonly dropped: number;
}

/** Enough for every network that matters, and a bound for what one check makes. */
export const MOST_VANTAGES = 32;
/** How often it is written that a vantage is there. */
const SEEN_EACH_SECONDS = 5;

export async function listVantages(db: Database): Promise<StoredVantage[]> {
  const { rows } = await sql<StoredVantage>`
    select name, network, public_key as "publicKey", coalesce(given_address, seen_address) as address,
      created_at as "createdAt", seen_at as "seenAt", clock_timestamp() as now, answers, dropped
    from vantages order by network, name`.execute(db);
  return rows;
}

/** `address`: where the operator says that it is; null: where it connects from. */
export async function addVantage(
  db: Database,
  {
    name,
    network,
    publicKey,
    address,
  }: {
    readonly name: string;
    readonly network: string;
    readonly publicKey: string;
    readonly address: string | null;
  },
): Promise<'added' | 'exists' | 'too_many'> {
  const { rows } = await sql<{ there: boolean; isFull: boolean }>`
    select exists (select 1 from vantages where name = ${name}) as there,
      (select count(*) from vantages) >= ${MOST_VANTAGES} as "isFull"`.execute(db);
  if (rows[0]?.there === true) return 'exists';
  if (rows[0]?.isFull === true) return 'too_many';
  const { numAffectedRows } = await sql`
    insert into vantages (name, network, public_key, given_address)
    values (${name}, ${network}, ${publicKey}, ${address}) on conflict (name) do nothing`.execute(db);
  return numAffectedRows === 1n ? 'added' : 'exists';
}

/** False: there is none of that name. Its open jobs go with it. */
export async function removeVantage(db: Database, name: string): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from vantages where name = ${name}`.execute(db);
  return numAffectedRows === 1n;
}

/** Notes that it asks for jobs. `address`: where it connects from; null: that says nothing. */
export async function noteVantageSeen(db: Database, name: string, address: string | null): Promise<void> {
  await sql`
    update vantages set seen_at = clock_timestamp(), seen_address = coalesce(${address}, seen_address)
    where name = ${name} and (seen_at is null
      or seen_at < clock_timestamp() - make_interval(secs => ${SEEN_EACH_SECONDS})
      or seen_address is distinct from coalesce(${address}, seen_address))`.execute(db);
}

/** How long a nonce is remembered: longer than its time is accepted, on either side of ours. */
const NONCE_SECONDS = 150;

/** False: this vantage has sent the nonce before. */
export async function useNonce(db: Database, vantage: string, nonce: string): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into vantage_nonces (vantage, nonce, at) values (${vantage}, ${nonce}, clock_timestamp())
    on conflict do nothing`.execute(db);
  return numAffectedRows === 1n;
}

export async function purgeNonces(db: Database): Promise<void> {
  await sql`
    delete from vantage_nonces
    where at < clock_timestamp() - make_interval(secs => ${NONCE_SECONDS})`.execute(db);
}
