// Adds, removes and changes members of consumed catalogs in chunks. The transaction of each chunk renews the claim.

import { sql } from 'kysely';
import { isWithin, type Name } from '../../dns/name.ts';
import { lockNamesAroundAll } from '../../store/change/lock-domain.ts';
import { allOurNameservers, loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction, rollBackTo } from '../../store/postgres/transaction.ts';
import { unloadZones } from '../../store/zones/save-zones.ts';
import { lockZones } from '../../store/zones/write-zone.ts';
import {
  judgeMember,
  type Occupant,
  type StoredMember,
  type WantedMember,
  whyNeverMember,
} from '../../zone/catalog/compare-members.ts';
import { type ClaimedCatalog, type Lost, renewClaim } from './sql-claim.ts';
import { findOccupants } from './sql-occupants.ts';

/** Removes members. `version` is the compared one: a zone that has changed meanwhile may list them again. */
export async function removeMembers(
  db: Database,
  catalog: ClaimedCatalog,
  version: number,
  members: readonly StoredMember[],
): Promise<Lost | undefined> {
  return await inTransaction<Lost | undefined>(db, async (trx) => {
    await renewClaim(trx, catalog);
    await requireVersion(trx, catalog, version);
    await removeCopies(
      trx,
      catalog.id,
      members.flatMap(({ name, isSkipped }) => (isSkipped ? [] : [name])),
    );
    await sql`
      delete from catalog_members
      where catalog_id = ${catalog.id} and name = any(${members.map(({ name }) => name)}::text[])`.execute(
      trx,
    );
    return undefined;
  });
}

async function requireVersion(trx: Database, { name }: ClaimedCatalog, version: number): Promise<void> {
  const { rows } = await sql`
    select from zones where name = ${name} and version = ${version} and deleted_at is null`.execute(trx);
  if (rows.length === 0) rollBackTo('lost' satisfies Lost);
}

/** Ends the transfers of these members, and removes their zones. */
export async function removeCopies(
  trx: Database,
  catalogId: number,
  names: readonly string[],
): Promise<void> {
  const locked = await lockZones(trx, names, false);
  const { rows } = await sql<{ name: string }>`
    delete from secondaries where zone_name = any(${names}::text[]) and catalog_id = ${catalogId}
    returning zone_name as name`.execute(trx);
  const removed = rows.flatMap(({ name }) => locked.get(name) ?? []);
  const copied = removed.filter(({ kind, deleted }) => kind === 'operator' && !deleted);
  await unloadZones(
    trx,
    copied.map(({ name }) => decodeNameColumn(name)),
    { source: 'catalog' },
  );
  await sql`
    update zones set policy_id = null
    where id = any(${removed.map(({ id }) => id)}::bigint[]) and policy_id is not null`.execute(trx);
}

/** Changes the groups of copied members and their new catalogs. */
export async function updateMembers(
  db: Database,
  catalog: ClaimedCatalog,
  members: readonly WantedMember[],
): Promise<Lost | undefined> {
  return await inTransaction<Lost | undefined>(db, async (trx) => {
    await renewClaim(trx, catalog);
    await lockZones(
      trx,
      members.map(({ name }) => name),
      false,
    );
    await writeMembers(
      trx,
      catalog.id,
      members.map((member) => ({ ...member, skipped: null })),
    );
    await setPolicies(trx, catalog, members);
    return undefined;
  });
}

/**
 * Copies members from the primaries of the catalog, and skips those whose names are taken. With `resets`, the version
 * whose copies are removed first.
 */
export async function joinMembers(
  db: Database,
  catalog: ClaimedCatalog,
  members: readonly WantedMember[],
  { resets }: { readonly resets?: number } = {},
): Promise<Lost | undefined> {
  return await inTransaction<Lost | undefined>(db, async (trx) => {
    await renewClaim(trx, catalog);
    if (resets !== undefined) await requireVersion(trx, catalog, resets);
    const names = members.map(({ name }) => name);
    await lockNamesAroundAll(trx, names); // no customer claims a name around them meanwhile
    if (resets !== undefined) await removeCopies(trx, catalog.id, names);
    const claims = await claimNames(trx, catalog, members);
    const taken = (name: string) => {
      const claim = claims.get(name);
      return claim?.kind === 'taken' ? claim.why : null;
    };
    const free = names.filter((name) => taken(name) === null);
    await lockZones(trx, free, true); // before rows of secondaries, as in `saveTransfer`
    const moving = members.filter(({ name }) => claims.get(name)?.kind === 'moves');
    await moveMembers(trx, catalog, moving);
    const copied = await copyZones(trx, catalog, free);
    const written = members.map((member) => ({
      ...member,
      skipped: taken(member.name) ?? (copied.has(member.name) ? null : 'is a zone of this fleet'),
    }));
    await writeMembers(trx, catalog.id, written);
    await setPolicies(
      trx,
      catalog,
      written.filter(({ skipped }) => skipped === null),
    );
    return undefined;
  });
}

async function claimNames(trx: Database, catalog: ClaimedCatalog, members: readonly WantedMember[]) {
  const names = members.map(({ name }) => name);
  const occupants = await findOccupants(trx, catalog.name, names);
  const servers = [...new Set(allOurNameservers(await loadPublishSettings(trx)))];
  const claims = members.map((member) => {
    const name = decodeNameColumn(member.name);
    const never = whyNeverMember(name);
    const found = [...(occupants.get(member.name) ?? []), ...nameserversAround(name, servers)];
    const claim = never === undefined ? judgeMember(member, catalog.name, found) : undefined;
    return [member.name, claim ?? { kind: 'taken' as const, why: never as string }] as const;
  });
  return new Map(claims);
}

function nameserversAround(name: Name, servers: readonly Name[]): Occupant[] {
  const around = servers.find((server) => isWithin(server, name) || isWithin(name, server));
  return around === undefined ? [] : [{ kind: 'nameserver', name: encodeNameColumn(around) }];
}

/** Takes members from catalogs that give them away. A zone whose label differs is removed (RFC 9432 §4.3.1). */
async function moveMembers(
  trx: Database,
  { id, name: catalog }: ClaimedCatalog,
  members: readonly WantedMember[],
): Promise<void> {
  if (members.length === 0) return;
  const { rows } = await sql<{ catalogId: number; name: string; label: string }>`
    delete from catalog_members m using catalogs c
    where c.id = m.catalog_id and c.role = 'consumer' and c.id <> ${id} and m.skipped is null and m.coo = ${catalog}
      and m.name = any(${members.map(({ name }) => name)}::text[])
    returning c.id as "catalogId", m.name, m.label`.execute(trx);
  const labels = new Map(members.map(({ name, label }) => [name, label]));
  const namesOf = (moved: typeof rows) => moved.map(({ name }) => name);
  const kept = rows.filter(({ name, label }) => labels.get(name) === label);
  for (const former of new Set(rows.map(({ catalogId }) => catalogId))) {
    const reset = rows.filter((row) => row.catalogId === former && !kept.includes(row));
    await removeCopies(trx, former, namesOf(reset));
  }
  await sql`
    update secondaries set catalog_id = ${id}, peers = (select peers from secondaries where zone_name = ${catalog}),
      seq = seq + 1 where zone_name = any(${namesOf(kept)}::text[])`.execute(trx);
}

/** Adds secondaries. Returns the names that this catalog copies. */
async function copyZones(
  trx: Database,
  { id, name: catalog }: ClaimedCatalog,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const locked = await lockZones(trx, names, true);
  const free = names.filter((name) => {
    const zone = locked.get(name);
    return zone?.kind === 'operator' && zone.deleted;
  });
  await sql`
    insert into secondaries (zone_name, peers, catalog_id)
    select n, s.peers, ${id} from unnest(${free}::text[]) n, secondaries s where s.zone_name = ${catalog}
    on conflict (zone_name) do nothing`.execute(trx);
  const { rows } = await sql<{ name: string }>`
    select zone_name as name from secondaries where zone_name = any(${[...names]}::text[]) and catalog_id = ${id}`.execute(
    trx,
  );
  return new Set(rows.map(({ name }) => name));
}

async function writeMembers(
  trx: Database,
  catalogId: number,
  members: readonly (WantedMember & { readonly skipped: string | null })[],
): Promise<void> {
  await sql`
    insert into catalog_members (catalog_id, name, label, group_name, coo, skipped)
    select ${catalogId}, m.name, m.label, m."group", m.coo, m.skipped
    from jsonb_to_recordset(${JSON.stringify(members)}::jsonb)
      as m(name text, label text, "group" text, coo text, skipped text)
    on conflict (catalog_id, name) do update set label = excluded.label, group_name = excluded.group_name,
      coo = excluded.coo, skipped = excluded.skipped`.execute(trx);
}

/** Sets the policies of members to those of their groups. A member whose group has no policy gets the default policy. */
async function setPolicies(
  trx: Database,
  { policies }: Pick<ClaimedCatalog, 'policies'>,
  members: readonly WantedMember[],
): Promise<void> {
  await sql`
    update zones z set policy_id = t.id
    from jsonb_to_recordset(${JSON.stringify(members)}::jsonb) as m(name text, "group" text)
      left join transfer_policies t on t.name = ${JSON.stringify(policies)}::jsonb ->> m."group"
    where z.name = m.name and z.policy_id is distinct from t.id`.execute(trx);
}
