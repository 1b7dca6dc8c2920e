// Creates, changes and removes catalogs that this fleet produces. Workers write their members.

import { sql } from 'kysely';
import { isWildcard, ROOT } from '../../dns/name.ts';
import { isBelow } from '../../store/change/claim-name.ts';
import { lockNamesAround } from '../../store/change/lock-domain.ts';
import { currentTime } from '../../store/postgres/current-time.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { setZonePolicies } from '../../store/transfers/policies.ts';
import { saveZones, unloadZones } from '../../store/zones/save-zones.ts';
import { emptyCatalog, hasRoomForMembers } from '../../zone/catalog/print-catalog.ts';
import { isListedSuffix } from '../../zone/domain/public-suffix.ts';
import { timedSerial } from '../../zone/serial.ts';
import { findOccupants } from './sql-occupants.ts';

export interface CatalogToCreate {
  /** In stored form. */
  readonly name: string;
  /** Undefined for a catalog whose members are added by hand. */
  readonly selects:
    | { readonly kind: 'all' }
    | { readonly kind: 'account'; readonly accountId: number }
    | undefined;
  /** Undefined for the default policy. */
  readonly policy: string | undefined;
  readonly isGroupedByPolicy: boolean;
  readonly maxMembers: number;
}

type CreatedCatalog =
  | {
      readonly kind: 'created';
      /** True if a peer that may transfer the catalog signs with a key. */
      readonly hasKey: boolean;
    }
  /** `why` is a predicate whose subject is the catalog. */
  | { readonly kind: 'refused'; readonly why: string };

/** Nodes apply a policy within 5 seconds. Until then, peers of the default policy could read the members of a catalog. */
const POLICY_APPLIES = sql`interval '10 seconds'`;

/** Creates a catalog without members. Workers add them in their next round. */
export async function createCatalog(
  db: Database,
  catalog: CatalogToCreate,
  actor: string,
): Promise<CreatedCatalog> {
  const { name, selects, policy, isGroupedByPolicy, maxMembers } = catalog;
  const apex = decodeNameColumn(name);
  const refuse = (why: string) => rollBackTo({ kind: 'refused', why } satisfies CreatedCatalog);
  return await inTransaction<CreatedCatalog>(db, async (trx) => {
    if (!hasRoomForMembers(apex)) refuse('cannot be the name of a catalog');
    await lockNamesAround(trx, name);
    const taken = await findConflict(trx, name);
    if (taken !== undefined) refuse(taken);
    const accountId = selects?.kind === 'account' ? selects.accountId : null;
    const found = await sql`select from accounts where id = ${accountId}`.execute(trx);
    if (accountId !== null && found.rows.length === 0)
      refuse(`cannot select account ${accountId}, which does not exist`);
    const records = emptyCatalog(apex, timedSerial(0, await currentTime(trx)));
    const [saved] = await saveZones(trx, [{ apex, records }], { source: 'cli', actor });
    if (saved?.outcome !== 'created') refuse('exists'); // it was loaded meanwhile
    const given = await setZonePolicies(trx, [name], policy);
    if (given.kind === 'absent') refuse(`cannot have the policy ${policy}, which does not exist`);
    // Workers publish nothing until then.
    const publishedAt = policy === undefined ? null : sql`clock_timestamp() + ${POLICY_APPLIES}`;
    await sql`
      insert into catalogs (name, role, selects, account_id, group_by_policy, max_members, published_at)
      values (${name}, 'producer', ${selects?.kind ?? null}, ${accountId}, ${isGroupedByPolicy}, ${maxMembers},
        ${publishedAt})`.execute(trx);
    await compareAll(trx);
    return { kind: 'created', hasKey: await hasPeerWithKey(trx, name) };
  });
}

/** Returns why no catalog can have this name, as a predicate. It must not hide records or reserve names of others. */
export async function findConflict(trx: Database, name: string): Promise<string | undefined> {
  const apex = decodeNameColumn(name);
  if (apex === ROOT || isWildcard(apex)) return 'cannot be the name of a catalog';
  // Customers cannot claim names below a catalog.
  if (isListedSuffix(apex)) return 'is a public suffix';
  const occupants = (await findOccupants(trx, name, [name])).get(name) ?? [];
  if (occupants.some((other) => other.name === name)) return 'exists';
  const signed = await sql`
    select from signed_zones where zone_name = ${name} and phase <> 'off'`.execute(trx);
  if (signed.rows.length > 0) return 'is signed by this fleet: remove its signatures first (dnssec disable)';
  const [above] = occupants;
  if (above?.kind === 'domain') return `is below the customer's domain ${above.name}`;
  if (above !== undefined && (await hasRecordsAt(trx, above.name, name)))
    return `is a name at or above records of the zone ${above.name}`;
  const { rows } = await sql<{ name: string }>`
    select d.name from (
      select name from domains where deleted_at is null
      union all select name from zones where kind = 'operator' and deleted_at is null
      union all select zone_name from secondaries where zone_name is not null) d
    where ${isBelow(name)} limit 1`.execute(trx);
  return rows[0] && `is above the zone ${rows[0].name}`;
}

async function hasRecordsAt(trx: Database, zone: string, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from (
      select r.owner as name from zone_records r join zones z on z.id = r.zone_id
      where z.name = ${zone} and not r.removed) d
    where d.name = ${name} or ${isBelow(name)} limit 1`.execute(trx);
  return rows.length > 0;
}

async function hasPeerWithKey(trx: Database, name: string): Promise<boolean> {
  const { rows } = await sql`
    select from zones z join policy_peers l
        on l.policy_id = coalesce(z.policy_id, (select id from transfer_policies where is_default))
      join peers p on p.id = l.peer_id join tsig_keys k on k.id = p.key_id
    where z.name = ${name} and l.transfers and k.revoked_at is null limit 1`.execute(trx);
  return rows.length > 0;
}

/** Makes the next round compare all zones. Locks the catalogs in the order of the rounds. */
async function compareAll(trx: Database): Promise<void> {
  await sql`
    update catalogs c set compared_at = null
    from (select id from catalogs where role = 'producer' order by id for update) o where c.id = o.id`.execute(
    trx,
  );
}

/** Removes the catalog, if this fleet produces it. Its members stay zones of the fleet. */
export async function removeProducer(
  db: Database,
  name: string,
  actor: string,
): Promise<{ readonly kind: 'absent' } | { readonly kind: 'removed' }> {
  return await inTransaction(db, async (trx) => {
    await compareAll(trx);
    const { numAffectedRows } = await sql`
      delete from catalogs where name = ${name} and role = 'producer'`.execute(trx);
    if (numAffectedRows === 0n) return { kind: 'absent' };
    await unloadZones(trx, [decodeNameColumn(name)], { source: 'cli', actor });
    return { kind: 'removed' };
  });
}

/** Returns the former limit, or undefined if this fleet does not produce the catalog. */
export async function setMaxMembers(
  trx: Database,
  name: string,
  maxMembers: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ before: number }>`
    update catalogs c set max_members = ${maxMembers}, compared_at = null
    from (select id, max_members from catalogs where name = ${name} and role = 'producer' for update) o
    where c.id = o.id returning o.max_members as before`.execute(trx);
  return rows[0]?.before;
}

/**
 * Adds names by hand, or removes them. An added name becomes a member when a zone of this name is served whole, even if
 * another catalog selects it. Returns undefined if this fleet does not produce the catalog, else the names that changed.
 */
export async function changeNames(
  trx: Database,
  catalog: string,
  verb: 'add' | 'remove',
  names: readonly string[],
): Promise<string[] | undefined> {
  const found = await sql<{ id: number }>`
    select id from catalogs where name = ${catalog} and role = 'producer' for update`.execute(trx);
  const [locked] = found.rows;
  if (locked === undefined) return undefined;
  const { id } = locked;
  const changed = sql`unnest(${[...names]}::text[])`;
  const change =
    verb === 'add'
      ? sql<{ name: string }>`
          insert into catalog_names as n (name, catalog_id) select name, ${id} from ${changed} t (name) order by name
          on conflict (name) do update set catalog_id = excluded.catalog_id
          where n.catalog_id <> excluded.catalog_id returning name`
      : sql<{ name: string }>`
          delete from catalog_names where catalog_id = ${id} and name in (select ${changed}) returning name`;
  const { rows } = await change.execute(trx);
  await sql`
    insert into catalog_changes (zone_id, reason)
    select id, 'changed' from zones where name in (select ${changed})`.execute(trx);
  return rows.map(({ name }) => name);
}

/** Returns the names that are not zones of the fleet. */
export async function findAbsent(db: Database, names: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`
    select name from unnest(${[...names]}::text[]) t (name)
    where not exists (select from zones z where z.name = t.name)`.execute(db);
  return new Set(rows.map(({ name }) => name));
}
