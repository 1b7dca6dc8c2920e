// Claims signed zones that are due. A claim is a lease: a zone whose worker failed, or that could not be written, is
// due again when it ends.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { DenialChange } from '../postgres/tables/schema.ts';

const LEASE_SECONDS = 120;

export interface DueZone {
  readonly id: number;
  /** In stored form. */
  readonly name: string;
}

const CLAIMED = sql`id, coalesce(zone_name, (select name from domains where id = domain_id)) as name`;

/** Claims zones whose signatures must be renewed, those that expire first, in that order. */
export async function claimDueRefreshes(db: Database, limit: number): Promise<DueZone[]> {
  const { rows } = await sql<DueZone>`
    with claimed as (
      update signed_zones set leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
      where id = any(array(
        select id from signed_zones
        where resign_at <= clock_timestamp() and phase not in ('signing', 'unsigning', 'off')
          and (leased_until is null or leased_until <= clock_timestamp())
        order by expires_at limit ${limit} for no key update skip locked))
      returning ${CLAIMED}, expires_at)
    select id, name from claimed order by expires_at`.execute(db);
  return rows;
}

export type DuePieces = DueZone & { readonly work: 'signing' | 'unsigning' | DenialChange };

/**
 * Claims large zones that are signed or unsigned in pieces, or whose other denial chain is added or removed in pieces.
 * Adding a chain does not start while new keys sign the zone, and the next key step waits for the chain. Zones with ids
 * above `after` come first, so that repeated changes by one owner do not delay others.
 */
export async function claimDuePieces(db: Database, limit: number, after = 0): Promise<DuePieces[]> {
  const { rows } = await sql<DuePieces>`
    update signed_zones set leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = any(array(
      select id from signed_zones
      where (phase in ('signing', 'unsigning') or denial_change = 'removing'
          or denial_change = 'adding' and (machine is null or machine -> 'version' <> 'null'))
        and (leased_until is null or leased_until <= clock_timestamp())
        and not exists (select from domains d where d.id = domain_id and d.deleted_at is not null)
      order by id <= ${after}, id limit ${limit} for no key update skip locked))
    returning ${CLAIMED}, case when phase in ('signing', 'unsigning') then phase else denial_change end as work`.execute(
    db,
  );
  return rows;
}

/** Renews the lease of a zone that takes long. */
export async function renewLease(db: Database, id: number): Promise<void> {
  await sql`
    update signed_zones set leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = ${id}`.execute(db);
}

export async function endLease(db: Database, id: number): Promise<void> {
  await sql`update signed_zones set leased_until = null where id = ${id}`.execute(db);
}
