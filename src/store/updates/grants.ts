// Grants: the names and types that TSIG keys may change by dynamic update, in customers' domains and in operator zones.

import { type RawBuilder, sql } from 'kysely';
import { foldCase, type Name, parentOf, ROOT } from '../../dns/name.ts';
import type { UpdateGrant } from '../../zone/update/update-grant.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { lockDomainKeys, type UnusableKeys } from '../transfers/keys.ts';

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
  /** Email of the domain's owner. Null in an operator zone. */
  readonly account: string | null;
}

interface GrantRow extends Omit<StoredUpdateGrant, 'owner' | 'apex'> {
  readonly owner: string;
  readonly apex: string;
}

async function listGrants(db: Database, where: RawBuilder<unknown>): Promise<StoredUpdateGrant[]> {
  const { rows } = await sql<GrantRow>`
    select g.id, g.key_id as "keyId", k.name as "keyName", g.domain_id as "domainId",
      coalesce(d.name, z.name) as apex, a.email as account, g.match, g.owner, g.types,
      g.edits_origin as "editsOrigin"
    from update_grants g join tsig_keys k on k.id = g.key_id
      left join domains d on d.id = g.domain_id left join zones z on z.id = g.zone_id
      left join accounts a on a.id = d.account_id
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

/** Replaces the grants of keys of the domain's owner. Unchanged grants keep their ids. */
export async function replaceDomainGrants(
  trx: Database,
  domain: { readonly id: number; readonly accountId: number },
  wanted: readonly GrantOfKey[],
): Promise<{ readonly kind: 'replaced' } | UnusableKeys> {
  const unusable = await lockDomainKeys(
    trx,
    domain,
    wanted.map(({ keyId }) => keyId),
  );
  if (unusable !== undefined) return unusable;
  const removed = new Map(
    (await listDomainGrants(trx, domain.id)).map((each) => [identityOf(each), each.id]),
  );
  const added = new Map(wanted.map((each) => [identityOf(each), each]));
  for (const identity of [...removed.keys()]) if (added.delete(identity)) removed.delete(identity);
  await deleteGrants(trx, [...removed.values()]);
  for (const grant of added.values()) await insertGrant(trx, { domainId: domain.id }, grant);
  return { kind: 'replaced' };
}

function identityOf({ keyId, match, owner, types, editsOrigin }: GrantOfKey): string {
  return JSON.stringify([keyId, match, owner, types && [...types].sort((a, b) => a - b), editsOrigin]);
}

/** A domain or an operator zone. */
export type GrantLocation = { readonly domainId: number } | { readonly zoneId: number };

/** A domain or operator zone that contains a name. */
export type GrantTarget = {
  readonly apex: Name;
  /** Email of the domain's owner. Null for an operator zone. */
  readonly account: string | null;
} & GrantLocation;

/**
 * Finds the longest operator zone or domain that contains a name. Returns several domains if several accounts have this
 * domain. With `accountId`, only domains of this account are considered.
 */
export async function findTargets(db: Database, name: Name, accountId?: number): Promise<GrantTarget[]> {
  const names = [encodeNameColumn(ROOT)];
  for (let each = foldCase(name); each !== ROOT; each = parentOf(each)) names.push(encodeNameColumn(each));
  const within = sql`any((select ${names}::text[])::text[])`;
  const { rows } = await sql<{
    zoneId: number | null;
    domainId: number | null;
    name: string;
    account: string | null;
  }>`
    select id as "zoneId", null as "domainId", name, null as account from zones
    where name = ${within} and kind = 'operator' and deleted_at is null and ${accountId === undefined}
    union all
    select null, d.id, d.name, a.email from domains d join accounts a on a.id = d.account_id
    where d.name = ${within} and d.deleted_at is null
      and d.account_id = coalesce(${accountId ?? null}::bigint, d.account_id)
    order by "zoneId", "domainId"`.execute(db);
  const longest = Math.max(...rows.map(({ name }) => name.length));
  return rows
    .filter(({ name }) => name.length === longest)
    .map(({ zoneId, domainId, name, account }) => ({
      apex: decodeNameColumn(name),
      account,
      ...(zoneId === null ? { domainId: domainId as number } : { zoneId }),
    }));
}

/** Returns false if the target was deleted meanwhile. */
export async function lockTarget(trx: Database, target: GrantTarget): Promise<boolean> {
  const locked =
    'domainId' in target
      ? sql`select from domains where id = ${target.domainId} and deleted_at is null for no key update`
      : sql`
          select from zones where id = ${target.zoneId} and kind = 'operator' and deleted_at is null
          for no key update`;
  return (await locked.execute(trx)).rows.length > 0;
}

/**
 * Grants a key of the operator a name in a locked domain or zone. Replaces the key's other grants for the name. Returns
 * undefined if the target has the maximum number of grants.
 */
export async function allowName(
  trx: Database,
  target: GrantLocation,
  grant: GrantOfKey,
): Promise<{ readonly id: number } | undefined> {
  const isOfOwner = sql`k.account_id is not distinct from (select account_id from tsig_keys where id = ${grant.keyId})`;
  const held = await listGrants(trx, sql`${isGrantIn(target)} and ${isOfOwner}`);
  const replaced = held.filter(
    ({ keyId, owner }) => keyId === grant.keyId && owner === foldCase(grant.owner),
  );
  if (held.length - replaced.length >= MOST_GRANTS) return undefined;
  await deleteGrants(
    trx,
    replaced.map(({ id }) => id),
  );
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
