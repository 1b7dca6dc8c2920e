// Checks that a key may change every owner and type of an update section, and that no record has a type that updates
// cannot change.

import { RCODE } from '../../dns/message/rcodes.ts';
import { refuseUpdate, type UpdateRecord, type UpdateRefusal } from '../../dns/message/update.ts';
import { type Name, printName } from '../../dns/name.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { isApiType } from '../records/customer-types.ts';
import { EDGE_MARK_TYPE } from '../zone.ts';
import { describeSet } from '../zone-problem.ts';
import { DNSSEC_TYPES, deletesName, staysAtName } from './apply-update.ts';
import { covers, coversName, type UpdateGrant } from './update-grant.ts';
import { isGuardedType, type UpdatedZone } from './updated-zone.ts';

/** Returns how to refuse the update. Returns undefined if the grants allow all of it. `prescan` must have accepted it. */
export function judgeGrants(
  zone: UpdatedZone,
  updates: readonly UpdateRecord[],
  grants: readonly UpdateGrant[],
): UpdateRefusal | undefined {
  for (const record of updates) {
    const { owner, type } = record;
    const why = deletesName(record)
      ? whyNotName(zone, owner, grants)
      : (whyNeverWritten(zone, owner, type) ?? whyNotGranted(zone, owner, type, grants));
    if (why !== undefined) return refuseUpdate(RCODE.REFUSED, why);
  }
  return undefined;
}

/**
 * Deleting a name requires a grant for each type that exists there. Types that the update itself adds have been granted
 * already.
 */
function whyNotName(zone: UpdatedZone, owner: Name, grants: readonly UpdateGrant[]): string | undefined {
  if (!grants.some((grant) => coversName(grant, owner)))
    return `the key has no grant for ${printName(owner)}`;
  const types = new Set([...(zone.sets.get(owner)?.keys() ?? []), ...(zone.guarded.get(owner) ?? [])]);
  for (const type of types) {
    if (staysAtName(zone.apex, owner, type)) continue;
    const why = whyNotGranted(zone, owner, type, grants);
    if (why !== undefined) return why;
  }
  return undefined;
}

function whyNotGranted(
  zone: UpdatedZone,
  owner: Name,
  type: number,
  grants: readonly UpdateGrant[],
): string | undefined {
  const granted = grants.filter((grant) => covers(grant, owner, type));
  if (granted.length === 0) return `the key has no grant for ${describeSet(owner, type)}`;
  const isGuarded = zone.guarded.has(owner) && isGuardedType(type);
  if (!isGuarded || granted.some(({ editsOrigin }) => editsOrigin)) return undefined;
  return zone.proxied.has(owner)
    ? `${printName(owner)} is proxied: change it with the API`
    : `${printName(owner)} has an ANAME: change it with the API`;
}

function whyNeverWritten(zone: UpdatedZone, owner: Name, type: number): string | undefined {
  if (DNSSEC_TYPES.has(type)) return `${typeMnemonic(type)} records are made by the signer of the zone`;
  if (type === EDGE_MARK_TYPE) return `${typeMnemonic(type)} is reserved`;
  if (!zone.isCustomers) return undefined;
  if (owner === zone.apex && (type === TYPE.NS || type === TYPE.SOA))
    return `the ${typeMnemonic(type)} records of the domain itself are set by the service`;
  return isApiType(typeMnemonic(type)) ? undefined : `${typeMnemonic(type)} records cannot be changed`;
}
