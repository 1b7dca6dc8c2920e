// The vantage points: their keys, their networks, and when each last requested jobs.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';

export interface StoredVantage {
  readonly name: string;
  /** The operator's label. */
  readonly network: string;
  readonly publicKey: string;
  /** The address given by the operator, otherwise the one that it connects from. Null if unknown. */
  readonly address: string | null;
  readonly createdAt: Date;
  readonly seenAt: Date | null;
  /** The database's time when the row was read. */
  readonly now: Date;
  readonly answers: number;
  readonly dropped: number;
}

/** Enough for all relevant networks. It limits the cost of a check. */
export const MOST_VANTAGES = 32;
/** Minimum interval between updates of `seen_at`. */
const SEEN_EACH_SECONDS = 5;

export async function listVantages(db: Database): Promise<StoredVantage[]> {
  const { rows } = await sql<StoredVantage>`
    select name, network, public_key as "publicKey", coalesce(given_address, seen_address) as address,
      created_at as "createdAt", seen_at as "seenAt", clock_timestamp() as now, answers, dropped
    from vantages order by network, name`.execute(db);
  return rows;
}

/** @param address the location given by the operator, or null */
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

/** Removes a vantage point and its open jobs. Returns false if it does not exist. */
export async function removeVantage(db: Database, name: string): Promise<boolean> {
  const { numAffectedRows } = await sql`delete from vantages where name = ${name}`.execute(db);
  return numAffectedRows === 1n;
}

/** Records that the vantage point requested jobs. If `address` is null, the stored address does not change. */
export async function noteVantageSeen(db: Database, name: string, address: string | null): Promise<void> {
  await sql`
    update vantages set seen_at = clock_timestamp(), seen_address = coalesce(${address}, seen_address)
    where name = ${name} and (seen_at is null
      or seen_at < clock_timestamp() - make_interval(secs => ${SEEN_EACH_SECONDS})
      or seen_address is distinct from coalesce(${address}, seen_address))`.execute(db);
}

/** Nonces are stored longer than their time is accepted, both before and after the fleet's. */
const NONCE_SECONDS = 150;

/** Returns false if this vantage point has already used the nonce. */
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
