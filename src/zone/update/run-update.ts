// Carries out an update on record sets, in the order of RFC 2136 §3. The caller has verified that the key has a grant in
// the zone: otherwise prerequisites could be used to read it.
//
//     prerequisites → prescan → grants → names and hosts → changed sets → Edit of a domain, or plan of an operator zone

import type { Update, UpdateRecord, UpdateRefusal } from '../../dns/message/update.ts';
import { CLASS, typeMnemonic } from '../../dns/type-codes.ts';
import { type Edit, NO_EDIT } from '../edit/edit.ts';
import { ANAME_CODE, type ApiType, MAX_TTL_SECONDS, MIN_TTL_SECONDS } from '../records/customer-types.ts';
import type { RecordSet } from '../zone.ts';
import { applyUpdate } from './apply-update.ts';
import { judgeCustomersRecords } from './judge-customers-records.ts';
import { judgeGrants } from './judge-grants.ts';
import { judgePrerequisites } from './judge-prerequisites.ts';
import { prescan } from './prescan.ts';
import { recordKey } from './sets-by-name.ts';
import type { UpdateGrant } from './update-grant.ts';
import type { UpdatedZone } from './updated-zone.ts';

export type UpdateResult =
  | UpdateRefusal
  /** The new content of each changed set. A deleted set has no rdata. Empty if the update changes nothing. */
  | { readonly kind: 'changes'; readonly sets: readonly RecordSet[] };

/** Runs an update. `zone` must contain all sets at the names that `ownersOf` returns. */
export function runUpdate(
  zone: UpdatedZone,
  { prerequisites, updates }: Pick<Update, 'prerequisites' | 'updates'>,
  grants: readonly UpdateGrant[],
): UpdateResult {
  const refused =
    judgePrerequisites(zone.apex, prerequisites, zone.sets) ??
    prescan(zone.apex, updates) ??
    judgeGrants(zone, updates, grants) ??
    (zone.isCustomers ? judgeCustomersRecords(zone.apex, updates) : undefined);
  if (refused !== undefined) return refused;
  return {
    kind: 'changes',
    sets: applyUpdate(zone, zone.isCustomers ? updates.map(withTtlInRange) : updates),
  };
}

function withTtlInRange(record: UpdateRecord): UpdateRecord {
  if (record.class !== CLASS.IN) return record;
  return { ...record, ttl: Math.min(Math.max(record.ttl, MIN_TTL_SECONDS), MAX_TTL_SECONDS) };
}

/** Returns the edit of a customer's domain that makes these changes. Managed records stay as they are. */
export function editOfChanges(zone: UpdatedZone, sets: readonly RecordSet[]): Edit {
  const replaces = sets.map(({ owner: name, type, ttl, rdata }) => {
    const managed = new Set(
      zone.managed
        .get(name)
        ?.get(type)
        ?.rdata.map((held) => recordKey(type, held)),
    );
    const own = rdata.filter((one) => !managed.has(recordKey(type, one)));
    return {
      name,
      type: apiTypeOf(type),
      ...(own.length > 0 && { ttl }),
      records: own.map((one) => ({ rdata: one })),
    };
  });
  return { ...NO_EDIT, replaces };
}

/** Returns the API's name of a type. `judgeGrants` has accepted only types that customers may write. */
function apiTypeOf(type: number): ApiType {
  return (type === ANAME_CODE ? 'ANAME' : typeMnemonic(type)) as ApiType;
}
