// Grants: the names and types that TSIG keys may change by dynamic update, in customers' domains and in operator zones.

import { type RawBuilder, sql } from 'kysely';
import { foldCase, type Name, parentOf, ROOT } from '../../dns/name.ts';
import type { UpdateGrant } from '../../zone/update/update-grant.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { lockKeys } from '../transfers/keys.ts';

/** Maximum number of grants of one domain or zone. Those of the operator and of the owner are counted separately. */
export const MOST_GRANTS = 50;
/** Maximum number of types of one grant. */
export const MOST_GRANT_TYPES = 64;

interface GrantOfKey extends UpdateGrant {
  readonly keyId: number;
}

export interface StoredUpdateGrant extends GrantOfKey {
  readonly id: number;
  /** Folded text with the final dot. */
  readonly keyName: string;
  /** Null in an operator zone. */
  readonly domainId: number | null;
  /** The domain or the operator zone. */
  readonly apex: Name;
}

interface GrantRow extends Omit<StoredUpdateGrant, 'owner' | 'apex'> {
  readonly owner: string;
  readonly apex: string;
}

async function listGrants(db: Database, where: RawBuilder<unknown>): Promise<StoredUpdateGrant[]> {
  const { rows } = await sql<GrantRow>`
    select g.id, g.key_id as "keyId", k.name as "keyName", g.domain_id as "domainId",
      coalesce(d.name, z.name) as apex, g.match, g.owner, g.types,
      g.edits_origin as "editsOrigin"
    from update_grants g join tsig_keys k on k.id = g.key_id
      left join domains d on d.id = g.domain_id left join zones z on z.id = g.zone_id
    where k.revoked_at is null and ${where} order by g.id`.execute(db);
  return rows.map(({ owner, apex, ...row }) => ({
    ...row,
    owner: decodeNameColumn(owner),
    apex: decodeNameColumn(apex),
  }));
}

/** Lists the grants of keys of the domain's owner, in the order in which they were made. */
export async function listDomainGrants(db: Database, domainId: number): Promise<StoredUpdateGrant[]> {
  return await listGrants(db, sql`d.id = ${domainId} and k.account_id = d.account_id`);
}

/** Lists all grants of keys of the operator. */
export async function listOperatorGrants(db: Database): Promise<StoredUpdateGrant[]> {
  return await listGrants(db, sql`k.account_id is null`);
}

type ReplacedGrants =
  | { readonly kind: 'replaced' }
  /** The domain has been deleted, or has another owner. */
  | { readonly kind: 'absent' }
  /** The key of this item does not belong to the owner, or is the imported key of a primary. */
  | { readonly kind: 'unknown_key'; readonly index: number };

/** Replaces the grants of keys of the domain's owner. Unchanged grants keep their ids. */
export async function replaceDomainGrants(
  trx: Database,
  { id: domainId, accountId }: { readonly id: number; readonly accountId: number },
  wanted: readonly GrantOfKey[],
): Promise<ReplacedGrants> {
  const { rows: domains } = await sql`
    select from domains where id = ${domainId} and account_id = ${accountId} and deleted_at is null
    for no key update`.execute(trx);
  if (domains.length === 0) return { kind: 'absent' };
  const keys = await lockKeys(
    trx,
    accountId,
    wanted.map(({ keyId }) => keyId),
  );
  const index = wanted.findIndex(({ keyId }) => keys.get(keyId) !== 'serve');
  if (index >= 0) return { kind: 'unknown_key', index };
  const removed = new Map((await listDomainGrants(trx, domainId)).map((each) => [identityOf(each), each.id]));
  const added = new Map(wanted.map((each) => [identityOf(each), each]));
  for (const identity of [...removed.keys()]) if (added.delete(identity)) removed.delete(identity);
  await deleteGrants(trx, [...removed.values()]);
  for (const grant of added.values()) await insertGrant(trx, { domainId }, grant);
  return { kind: 'replaced' };
}

function identityOf({ keyId, match, owner, types, editsOrigin }: GrantOfKey): string {
  return JSON.stringify([keyId, match, owner, types && [...types].sort((a, b) => a - b), editsOrigin]);
}

/** A domain or an operator zone. */
export type GrantLocation = { readonly domainId: number } | { readonly zoneId: number };

/** The domain or operator zone that contains a name. */
export type GrantTarget = { readonly apex: Name } & GrantLocation;

/** Finds the longest operator zone or domain that contains a name, and locks it. */
export async function lockTargetOf(trx: Database, name: Name): Promise<GrantTarget | undefined> {
  const names = [encodeNameColumn(ROOT)];
  for (let each = foldCase(name); each !== ROOT; each = parentOf(each)) names.push(encodeNameColumn(each));
  const { rows } = await sql<{ id: number; name: string; domainId: number | null }>`
    select z.id, z.name, d.id as "domainId"
    from zones z left join domains d on d.zone_id = z.id
    where z.name = any((select ${names}::text[])::text[])
      and (z.kind = 'operator' and z.deleted_at is null or d.deleted_at is null and d.id is not null)
    order by length(z.name) desc limit 1`.execute(trx);
  const [row] = rows;
  if (row === undefined) return undefined;
  const apex = decodeNameColumn(row.name);
  const { id, domainId } = row;
  // Lock in a second step, because the result determines which table is locked.
  if (domainId !== null) {
    const locked = await sql`
      select from domains where id = ${domainId} and deleted_at is null for no key update`.execute(trx);
    return locked.rows.length === 0 ? undefined : { apex, domainId };
  }
  const locked = await sql`
    select from zones where id = ${id} and kind = 'operator' and deleted_at is null for no key update`.execute(
    trx,
  );
  return locked.rows.length === 0 ? undefined : { apex, zoneId: id };
}

/**
 * Grants a key of the operator a name in a locked domain or zone. Replaces the types and the origin of an existing grant.
 * Returns undefined if the target has the maximum number of grants.
 */
export async function allowName(
  trx: Database,
  target: GrantTarget,
  grant: GrantOfKey,
): Promise<{ readonly id: number } | undefined> {
  const isOfOwner = sql`k.account_id is not distinct from (select account_id from tsig_keys where id = ${grant.keyId})`;
  const others = await listGrants(trx, sql`${isGrantIn(target)} and ${isOfOwner}`);
  const equal = others.find(
    ({ keyId, match, owner }) =>
      keyId === grant.keyId && match === grant.match && owner === foldCase(grant.owner),
  );
  if (equal === undefined && others.length >= MOST_GRANTS) return undefined;
  if (equal !== undefined) await deleteGrants(trx, [equal.id]);
  return { id: await insertGrant(trx, target, grant) };
}

/** Deletes a key's grants of these names, or all its grants if `owners` is empty. The key belongs to the operator. */
export async function revokeGrants(
  trx: Database,
  keyName: string,
  owners: readonly Name[],
): Promise<StoredUpdateGrant[]> {
  const folded = owners.map(foldCase);
  const found = (await listOperatorGrants(trx)).filter(
    (grant) => grant.keyName === keyName && (folded.length === 0 || folded.includes(grant.owner)),
  );
  await deleteGrants(
    trx,
    found.map(({ id }) => id),
  );
  return found;
}

/** Returns a SQL condition: the grant `g` is in this domain or zone. */
export function isGrantIn(target: GrantLocation): RawBuilder<unknown> {
  return 'domainId' in target ? sql`g.domain_id = ${target.domainId}` : sql`g.zone_id = ${target.zoneId}`;
}

async function insertGrant(
  trx: Database,
  target: GrantLocation,
  { keyId, match, owner, types, editsOrigin }: GrantOfKey,
): Promise<number> {
  const [domainId, zoneId] = 'domainId' in target ? [target.domainId, null] : [null, target.zoneId];
  const { rows } = await sql<{ id: number }>`
    insert into update_grants (key_id, domain_id, zone_id, match, owner, types, edits_origin)
    values (${keyId}, ${domainId}, ${zoneId}, ${match}, ${encodeNameColumn(owner)},
      ${types === null ? null : [...types]}::integer[], ${editsOrigin})
    returning id`.execute(trx);
  return (rows[0] as { id: number }).id;
}

async function deleteGrants(trx: Database, ids: readonly number[]): Promise<void> {
  if (ids.length > 0) await sql`delete from update_grants where id = any(${[...ids]}::bigint[])`.execute(trx);
}
