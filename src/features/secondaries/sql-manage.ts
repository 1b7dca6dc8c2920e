// Adds, removes and lists copies of operator zones, and requests refreshes.

import { sql } from 'kysely';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { lockOperatorZones, RefusedZonesError, unloadZones } from '../../store/zones/save-zones.ts';
import { lockZones } from '../../store/zones/write-zone.ts';
import { type SecondaryState, STATE } from './sql.ts';

interface SecondaryToAdd {
  /** In stored form. */
  readonly zone: string;
  /** Names of peers, in the order in which they are asked. */
  readonly from: readonly string[];
  /** Null for SECONDARY_MAX_RECORDS. */
  readonly maxRecords: number | null;
}

type AddedSecondary =
  | { readonly kind: 'added'; readonly id: number }
  | { readonly kind: 'refused'; readonly message: string };

/** Adds a zone that is copied from the peers. An existing operator zone is replaced by the first transfer. */
export async function addSecondary(
  db: Database,
  { zone, from, maxRecords }: SecondaryToAdd,
): Promise<AddedSecondary> {
  const refuse = (message: string): AddedSecondary => ({ kind: 'refused', message });
  return await inTransaction(db, async (trx) => {
    const primaries = await lockPrimaries(trx, from);
    if (primaries.kind === 'refused') return primaries;
    const { ids } = primaries;
    try {
      await lockOperatorZones(trx, [zone], { create: true });
    } catch (error) {
      if (!(error instanceof RefusedZonesError)) throw error;
      return rollBackTo(refuse(error.why));
    }
    const signed = await sql`
      select from signed_zones where zone_name = ${zone} and phase <> 'off'`.execute(trx);
    if (signed.rows.length > 0)
      return rollBackTo(refuse('is signed by this fleet: remove its signatures first (dnssec disable)'));
    const { rows } = await sql<{ id: number }>`
      insert into secondaries (zone_name, peers, max_records) values (${zone}, ${[...ids]}::bigint[], ${maxRecords})
      returning id`.execute(trx);
    return { kind: 'added', id: (rows[0] as { id: number }).id };
  });
}

type Primaries =
  | { readonly kind: 'found'; readonly ids: readonly number[] }
  | { readonly kind: 'refused'; readonly message: string };

/** Locks peers by their names, so that they are not removed. */
export async function lockPrimaries(trx: Database, from: readonly string[]): Promise<Primaries> {
  const refuse = (message: string): Primaries => ({ kind: 'refused', message });
  const { rows } = await sql<{ id: number; name: string; sends: boolean; isVerified: boolean }>`
    select id, name, cardinality(addresses) > 0 as sends,
      tls <> 'strict' or tls_name is not null or cardinality(tls_pins) > 0 as "isVerified"
    from peers where name = any(${[...from]}::text[]) order by id for share`.execute(trx);
  const ids: number[] = [];
  for (const name of from) {
    const peer = rows.find((each) => each.name === name);
    if (peer === undefined) return refuse(`no such peer: ${name}`);
    if (!peer.sends) return refuse(`the peer ${name} has no address to transfer from (peer add --to)`);
    if (!peer.isVerified)
      return refuse(`the peer ${name} cannot be verified: it has no --tls-name and no --tls-pin`);
    ids.push(peer.id);
  }
  return { kind: 'found', ids };
}

type RemovedSecondary =
  | 'absent'
  | 'kept'
  | 'unloaded'
  /** The zone is a catalog, or a member of a consumed one. */
  | 'of_catalog';

/**
 * Ends the transfers of a zone. Its copy stays as an operator zone, unless it has expired: then it is unloaded. `zone` is
 * in stored form.
 */
export async function removeSecondary(db: Database, zone: string, actor: string): Promise<RemovedSecondary> {
  return await inTransaction(db, async (trx) => {
    await lockZones(trx, [zone], false);
    const catalog = await sql`
      select from secondaries where zone_name = ${zone} and catalog_id is not null
      union all select from catalogs where name = ${zone}`.execute(trx);
    if (catalog.rows.length > 0) return 'of_catalog';
    const { rows } = await sql<{ isExpired: boolean }>`
      delete from secondaries where zone_name = ${zone} returning expired_at is not null as "isExpired"`.execute(
      trx,
    );
    if (rows[0] === undefined) return 'absent';
    if (!rows[0].isExpired) return 'kept';
    await unloadZones(trx, [decodeNameColumn(zone)], { source: 'cli', actor });
    return 'unloaded';
  });
}

/** Requests a transfer of these zones, whatever the serial of the primary. Returns those that exist, in stored form. */
export async function orderRetransfers(db: Database, zones: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ zone: string }>`
    update secondaries s set is_forced = true, due_at = clock_timestamp()
    from (
      select c.id, n.zone from secondaries c left join domains d on d.id = c.domain_id and d.deleted_at is null
        cross join lateral (select coalesce(c.zone_name, d.name) as zone) n
      where n.zone = any(${[...zones]}::text[])) n
    where s.id = n.id
    returning n.zone`.execute(db);
  return rows.map(({ zone }) => zone);
}

export interface ListedSecondary {
  readonly zone: string;
  readonly isDomain: boolean;
  /** The consumed catalog that lists the zone. */
  readonly catalog: string | null;
  readonly state: SecondaryState;
  /** Names of operators' peers; for a domain, the addresses of its primaries. */
  readonly from: readonly string[];
  readonly serial: number | null;
  readonly form: string | null;
  readonly transferredAt: Date | null;
  readonly refreshedAt: Date | null;
  readonly dueAt: Date;
  readonly expiresAt: Date | null;
  readonly expiredAt: Date | null;
  readonly maxRecords: number | null;
  readonly lastError: string | null;
  readonly lastMessage: string | null;
}

const PAGE = 1000;

/** Yields all secondaries by name. */
export async function* listSecondaries(db: Database): AsyncGenerator<ListedSecondary> {
  for (let after = ''; ; ) {
    const { rows } = await sql<ListedSecondary>`
      select n.zone, s.domain_id is not null as "isDomain",
        (select c.name from catalogs c where c.id = s.catalog_id) as catalog, ${STATE} as state, s.serial, s.form,
        array(select coalesce(p.name, host(p.addresses[1])) from unnest(s.peers) with ordinality u (id, place)
          join peers p on p.id = u.id order by u.place) as from,
        s.transferred_at as "transferredAt", s.refreshed_at as "refreshedAt", s.due_at as "dueAt",
        s.expires_at as "expiresAt", s.expired_at as "expiredAt", s.max_records as "maxRecords",
        s.last_error as "lastError", s.last_message as "lastMessage"
      from secondaries s left join domains d on d.id = s.domain_id and d.deleted_at is null
        cross join lateral (select coalesce(s.zone_name, d.name) as zone) n
      where n.zone > ${after} order by n.zone collate "C" limit ${PAGE}`.execute(db);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.zone;
  }
}
