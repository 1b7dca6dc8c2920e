// Loads the key, the zone and the grants by which a message is checked before its zone is locked.

import { sql } from 'kysely';
import type { TsigAlgorithm } from '../../dns/message/tsig.ts';
import type { Name } from '../../dns/name.ts';
import type { UpdateGrant } from '../../zone/update/update-grant.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { SealedTsigKey } from '../secrets/tsig-secrets.ts';
import { type GrantLocation, isGrantIn } from './grants.ts';
import { decodeSeen, type SeenJson, seenUpdate, type UpdateOutcome } from './seen.ts';

export interface UpdateKey extends SealedTsigKey {
  readonly id: number;
  /** Null for a key of the operator. */
  readonly accountId: number | null;
  readonly algorithm: TsigAlgorithm;
}

/** A zone that nodes serve. */
export interface TargetZone {
  readonly zoneId: number;
  /** Undefined for an operator zone. */
  readonly domain: { readonly id: number; readonly accountId: number } | undefined;
  /** True if the zone is copied from a primary. */
  readonly isCopy: boolean;
}

export interface UpdateTarget {
  /** Undefined if no valid key has the name. */
  readonly key: UpdateKey | undefined;
  /** Undefined if the zone is not served. */
  readonly zone: TargetZone | undefined;
  /** True if the key has a grant in the zone. */
  readonly hasGrant: boolean;
  /** The result of an earlier transmission of the message. */
  readonly seen: UpdateOutcome | undefined;
}

interface TargetRow {
  readonly keyId: number | null;
  readonly accountId: number | null;
  readonly name: string;
  readonly algorithm: TsigAlgorithm;
  readonly wrap: string;
  readonly sealed: Buffer;
  readonly zoneId: number | null;
  readonly kind: 'operator' | 'domain';
  readonly domainId: number | null;
  readonly ownerId: number;
  readonly served: string | null;
  readonly isCopy: boolean;
  readonly hasGrant: boolean;
  readonly seen: SeenJson | null;
}

/** Loads the target of the message with this key, zone and MAC. */
export async function loadUpdateTarget(
  db: Database,
  { keyName, zone, mac }: { readonly keyName: Name; readonly zone: Name; readonly mac: Uint8Array },
): Promise<UpdateTarget> {
  const { rows } = await sql<TargetRow>`
    select k.id as "keyId", k.account_id as "accountId", k.name, k.algorithm, k.wrap, k.sealed, z.id as "zoneId", z.kind,
      d.id as "domainId", d.account_id as "ownerId", d.served,
      exists (select from secondaries c where c.domain_id = d.id or c.zone_name = z.name) as "isCopy",
      exists (select from update_grants g where ${isGrantOf(sql`k`)}
        and (g.domain_id = d.id or z.kind = 'operator' and g.zone_id = z.id)) as "hasGrant",
      ${seenUpdate(mac)} as seen
    from (select) one
      left join tsig_keys k on k.name = ${encodeNameColumn(keyName)} and k.use = 'serve' and k.revoked_at is null
        and coalesce(k.expires_at > now(), true)
      left join zones z on z.name = ${encodeNameColumn(zone)} and z.deleted_at is null
      left join domains d on d.zone_id = z.id and d.deleted_at is null`.execute(db);
  const [row] = rows as [TargetRow];
  const { keyId, accountId, name, algorithm, wrap, sealed, seen, hasGrant } = row;
  return {
    key: keyId === null ? undefined : { id: keyId, accountId, name, algorithm, wrap, sealed },
    zone: zoneOf(row),
    hasGrant,
    seen: decodeSeen(seen),
  };
}

function zoneOf({ zoneId, kind, domainId, ownerId, served, isCopy }: TargetRow): TargetZone | undefined {
  if (zoneId === null) return undefined;
  if (kind === 'operator') return { zoneId, domain: undefined, isCopy };
  if (domainId === null || served === 'none') return undefined;
  return { zoneId, domain: { id: domainId, accountId: ownerId }, isCopy };
}

/** SQL condition: the grant `g` belongs to this key of the operator, or of the domain's owner, whose account is active. */
function isGrantOf(key: ReturnType<typeof sql>) {
  return sql`g.key_id = ${key}.id and (${key}.account_id is null or exists (
    select from domains o join accounts a on a.id = o.account_id
    where o.id = g.domain_id and o.account_id = ${key}.account_id and a.active))`;
}

interface GrantJson extends Omit<UpdateGrant, 'owner'> {
  readonly owner: string;
}

/** SQL expression: the valid grants of a key in a domain or operator zone as JSON for `decodeGrants`, or null. */
export function grantsOfKey(keyId: number, target: GrantLocation): ReturnType<typeof sql> {
  return sql`(select json_agg(json_build_object('match', g.match, 'owner', g.owner, 'types', g.types,
      'editsOrigin', g.edits_origin))
    from update_grants g join tsig_keys k on k.id = g.key_id and k.revoked_at is null
    where ${isGrantIn(target)} and g.key_id = ${keyId} and ${isGrantOf(sql`k`)})`;
}

export type GrantsJson = readonly GrantJson[] | null;

export function decodeGrants(grants: GrantsJson): UpdateGrant[] {
  return (grants ?? []).map(({ owner, ...grant }) => ({ ...grant, owner: decodeNameColumn(owner) }));
}
