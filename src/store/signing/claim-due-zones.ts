// Takes signed zones whose time has come. A lease keeps others from a zone; one whose worker was lost, or that could not be
// written, is due again when it is over.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { DenialChange } from '../postgres/tables/schema.ts';

const LEASE_SECONDS = 120;

export interface DueZone {
  readonly id: number;
  /** As stored. */
  readonly name: string;
}

const CLAIMED = sql`id, coalesce(zone_name, (select name from domains where id = domain_id)) as name`;

/** Zones with signatures to be made anew: those whose first signature ends next, and in that order. */
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
 * Large zones that are to be signed, or unsigned, in pieces, or whose other chain of denials comes or goes so. A chain is not
 * begun while other keys sign the zone anew, and the next step of its keys waits for the chain. Those with ids behind `after` come
 * first: an owner who changes his mind again and again delays nobody else.
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

/** Keeps the lease of a zone that takes long. */
export async function renewLease(db: Database, id: number): Promise<void> {
  await sql`
    update signed_zones set leased_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS})
    where id = ${id}`.execute(db);
}

export async function endLease(db: Database, id: number): Promise<void> {
  await sql`update signed_zones set leased_until = null where id = ${id}`.execute(db);
}
