// Adds, removes and lists consumed catalogs, and confirms versions that are held.

import { sql } from 'kysely';
import { lockNamesAround } from '../../store/change/lock-domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { allowLong } from '../../store/postgres/deadlines.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { unloadZones } from '../../store/zones/save-zones.ts';
import { lockZones } from '../../store/zones/write-zone.ts';
import { HAS_MOVED } from '../../zone/catalog/compare-members.ts';
import { addSecondary, lockPrimaries } from '../secondaries/sql-manage.ts';
import type { ConsumerFinding } from './rules-consume.ts';
import { removeCopies } from './sql-consume.ts';
import { findConflict } from './sql-manage.ts';

interface CatalogToConsume {
  /** In stored form. */
  readonly name: string;
  /** Names of peers, in the order in which they are asked. */
  readonly from: readonly string[];
  /** Local policies, by group. */
  readonly policies: Readonly<Record<string, string>>;
  /** Undefined for the default, or to keep the limit of a catalog that is consumed already. */
  readonly maxMembers: number | undefined;
}

type Consumed =
  | { readonly kind: 'added' | 'changed' }
  | { readonly kind: 'refused'; readonly message: string };

/** Adds a catalog, or replaces the primaries and policies of one that is consumed already, and of its members. */
export async function consumeCatalog(db: Database, catalog: CatalogToConsume): Promise<Consumed> {
  const { name, from, policies, maxMembers } = catalog;
  const refuse = (message: string) => rollBackTo({ kind: 'refused', message } satisfies Consumed);
  return await inTransaction<Consumed>(db, async (trx) => {
    await allowLong(trx);
    const missing = await findMissingPolicies(trx, Object.values(policies));
    if (missing.length > 0) refuse(`no such policy: ${missing.join(', ')}`);
    const { rows } = await sql<{ id: number; role: string }>`
      select id, role from catalogs where name = ${name} for no key update`.execute(trx);
    const [known] = rows;
    if (known?.role === 'producer') refuse('exists');
    if (known === undefined) {
      await lockNamesAround(trx, name);
      const conflict = await findConflict(trx, name);
      if (conflict !== undefined) refuse(conflict);
      const added = await addSecondary(trx, { zone: name, from, maxRecords: null });
      if (added.kind === 'refused') refuse(added.message);
      await sql`
        insert into catalogs (name, role, policies, max_members)
        values (${name}, 'consumer', ${JSON.stringify(policies)}, ${maxMembers ?? MAX_MEMBERS})`.execute(trx);
      return { kind: 'added' };
    }
    const primaries = await lockPrimaries(trx, from);
    if (primaries.kind === 'refused') return primaries;
    // A worker that has claimed the catalog uses the former policies, so it loses the claim.
    await sql`
      update catalogs set policies = ${JSON.stringify(policies)}, version = null, next_at = clock_timestamp(),
        lease = lease + 1, leased_until = null,
        max_members = coalesce(${maxMembers ?? null}::integer, max_members)
      where id = ${known.id}`.execute(trx);
    const ids = [...primaries.ids];
    await sql`
      update secondaries set peers = ${ids}::bigint[], seq = seq + 1, due_at = clock_timestamp()
      where (zone_name = ${name} or catalog_id = ${known.id}) and peers <> ${ids}::bigint[]`.execute(trx);
    // The next comparison gives the members the policies of their groups again.
    await sql`
      update catalog_members set group_name = null
      where catalog_id = ${known.id} and group_name is not null`.execute(trx);
    return { kind: 'changed' };
  });
}

const MAX_MEMBERS = 100_000;

async function findMissingPolicies(trx: Database, names: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct n as name from unnest(${[...names]}::text[]) n
    where not exists (select from transfer_policies t where t.name = n) order by 1`.execute(trx);
  return rows.map(({ name }) => name);
}

type Confirmed = 'absent' | 'not_held' | 'confirmed';

/** Allows the removals of the version that is held. It is compared again, and applied if the zone still has it. */
export async function confirmVersion(trx: Database, name: string): Promise<Confirmed> {
  const { rows } = await sql<{ held: boolean }>`
    update catalogs c set confirmed_version = held_version, held_version = null, next_at = clock_timestamp(),
      version = case when held_version is null then version end,
      findings = case when held_version is null then findings else '[]' end
    from (select id, held_version is not null as held from catalogs
      where name = ${name} and role = 'consumer' for no key update) o
    where c.id = o.id returning o.held`.execute(trx);
  if (rows[0] === undefined) return 'absent';
  return rows[0].held ? 'confirmed' : 'not_held';
}

type RemovedCatalog =
  | { readonly kind: 'absent' }
  /** The caller must choose what happens with the members. */
  | { readonly kind: 'has_members'; readonly members: number }
  | { readonly kind: 'removed'; readonly members: number };

const UNLOADED_AT_ONCE = 500;

/** Ends the transfers of the catalog. Its members are removed, too, or they become copies that were added by hand. */
export async function removeConsumer(
  db: Database,
  name: string,
  members: 'keep' | 'unload' | undefined,
  actor: string,
): Promise<RemovedCatalog> {
  return await inTransaction<RemovedCatalog>(db, async (trx) => {
    await allowLong(trx);
    const { rows } = await sql<{ id: number }>`
      select id from catalogs where name = ${name} and role = 'consumer' for update`.execute(trx);
    const [catalog] = rows;
    if (catalog === undefined) return { kind: 'absent' };
    const copied = await sql<{ name: string }>`
      select zone_name as name from secondaries where catalog_id = ${catalog.id} order by 1`.execute(trx);
    const names = copied.rows.map((row) => row.name);
    if (names.length > 0 && members === undefined) return { kind: 'has_members', members: names.length };
    // Zones are locked in one order, and before rows of secondaries, as in `saveTransfer`.
    await lockZones(trx, members === 'unload' ? [name, ...names] : [name], false);
    if (members === 'unload')
      for (let at = 0; at < names.length; at += UNLOADED_AT_ONCE)
        await removeCopies(trx, catalog.id, names.slice(at, at + UNLOADED_AT_ONCE));
    await sql`delete from secondaries where zone_name = ${name}`.execute(trx);
    await unloadZones(trx, [decodeNameColumn(name)], { source: 'cli', actor });
    await sql`delete from catalogs where id = ${catalog.id}`.execute(trx);
    return { kind: 'removed', members: names.length };
  });
}

/**
 * `waiting`: no version was transferred, or one is being applied. `partial`: some members are skipped. `held`: a version
 * waits for a confirmation.
 */
type ConsumerState = 'waiting' | 'current' | 'partial' | 'held' | 'broken';

interface ListedConsumer {
  readonly catalog: string;
  readonly state: ConsumerState;
  /** Number of members that are copied. */
  readonly members: number;
  /** Number of members that are not. */
  readonly skipped: number;
  /** Names of the primaries. */
  readonly from: readonly string[];
  readonly findings: readonly (ConsumerFinding & {
    /** The first names concerned. */
    readonly names?: readonly string[];
  })[];
}

const SHOWN_NAMES = 100;
const IS_TAKEN = sql`m.skipped is not null and m.skipped <> ${HAS_MOVED}`;

type ConsumerRow = Omit<ListedConsumer, 'findings'> & {
  readonly findings: readonly ConsumerFinding[];
  readonly names: readonly string[];
};

export async function loadConsumers(db: Database): Promise<ListedConsumer[]> {
  const { rows } = await sql<ConsumerRow>`
    select c.name as catalog, t.copied as members, t.taken as skipped, c.findings,
      case when c.held_version is not null then 'held' when c.findings <> '[]' or s.expired_at is not null then 'broken'
        when s.serial is null or c.version is distinct from z.version then 'waiting'
        when t.taken > 0 then 'partial' else 'current' end as state,
      array(select p.name from unnest(s.peers) with ordinality u (id, place) join peers p on p.id = u.id
        order by u.place) as from,
      array(select m.name || ' ' || m.skipped from catalog_members m where m.catalog_id = c.id and ${IS_TAKEN}
        order by m.name limit ${SHOWN_NAMES}) as names
    from catalogs c left join secondaries s on s.zone_name = c.name
      left join zones z on z.name = c.name and z.deleted_at is null
      cross join lateral (
        select count(*) filter (where m.skipped is null)::integer as copied,
          count(*) filter (where ${IS_TAKEN})::integer as taken
        from catalog_members m where m.catalog_id = c.id) t
    where c.role = 'consumer' order by c.name`.execute(db);
  return rows.map(({ names, findings, ...row }) => {
    if (row.skipped === 0) return { ...row, findings };
    const message = `${row.skipped} members are not copied`;
    return { ...row, findings: [...findings, { code: 'CATALOG_NAME_TAKEN' as const, message, names }] };
  });
}

interface ConsumedMember {
  readonly zone: string;
  readonly label: string;
  readonly group: string | null;
  /** Why the member is not copied. Null if it is. */
  readonly skipped: string | null;
  /** The serial of the copy. Null before the first transfer. */
  readonly serial: number | null;
}

const PAGE = 1000;

/** Yields the members by name. */
export async function* listConsumedMembers(db: Database, catalog: string): AsyncGenerator<ConsumedMember> {
  for (let after = ''; ; ) {
    const { rows } = await sql<ConsumedMember>`
      select m.name as zone, m.label, m.group_name as "group", m.skipped, s.serial
      from catalogs c join catalog_members m on m.catalog_id = c.id
        left join secondaries s on s.zone_name = m.name and s.catalog_id = c.id
      where c.name = ${catalog} and m.name > ${after} order by m.name limit ${PAGE}`.execute(db);
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.zone;
  }
}
