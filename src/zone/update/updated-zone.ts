// The zone to which an update applies, at the owners of the update's records: an operator zone, or a customer's domain.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { CustomerRecord } from '../records/customer-record.ts';
import { ANAME_CODE, isAddressLike, wireTypeCode } from '../records/customer-types.ts';
import type { ZoneRecord } from '../zone.ts';
import { type SetsByName, setsByName } from './sets-by-name.ts';
import { covers, type UpdateGrant } from './update-grant.ts';

export interface UpdatedZone {
  readonly apex: Name;
  readonly isCustomers: boolean;
  /** Record sets that the update tests and changes. */
  readonly sets: SetsByName;
  /** Records in `sets` that the service wrote for a customer. The update tests them, and never changes them. */
  readonly managed: SetsByName;
  /** Names at which the service publishes A and AAAA for records of the customer, and the types of these records. */
  readonly guarded: ReadonlyMap<Name, ReadonlySet<number>>;
  /** The guarded names that are proxied. At the others, an ANAME provides the addresses. */
  readonly proxied: ReadonlySet<Name>;
}

const NO_SETS: SetsByName = new Map();

/** Returns an operator zone. `records` are all its records at the owners of the update's records. */
export function operatorZone(apex: Name, records: Iterable<ZoneRecord>): UpdatedZone {
  const sets = setsByName(records);
  return { apex, isCustomers: false, sets, managed: NO_SETS, guarded: new Map(), proxied: new Set() };
}

interface CustomersNames {
  readonly apex: Name;
  /** The domain's records at the owners of the update's records, including managed ones. */
  readonly records: readonly CustomerRecord[];
  /** The records of the domain's zone at these names. */
  readonly published: Iterable<ZoneRecord>;
  readonly grants: readonly UpdateGrant[];
}

/**
 * Returns the domain's records, and the records that the service publishes at its apex. At a name that is proxied or has an
 * ANAME, the sets of A, AAAA and CNAME are the published ones, or the customer's if a grant with `editsOrigin` includes the
 * type.
 */
export function customersZone({ apex, records, published, grants }: CustomersNames): UpdatedZone {
  const guarded = new Map<Name, Set<number>>();
  const proxied = new Set<Name>();
  for (const { name, type, proxied: isProxied } of records) {
    if (isProxied) proxied.add(name);
    if (isProxied || type === 'ANAME') guarded.set(name, new Set());
  }
  const shown: ZoneRecord[] = [];
  const managed: ZoneRecord[] = [];
  const written = new Set<string>();
  const showsOrigin = (name: Name, type: number) =>
    !guarded.has(name) || grants.some((grant) => grant.editsOrigin && covers(grant, name, type));
  for (const record of records) {
    const { name: owner, ttl, rdata } = record;
    const type = typeCodeOf(record);
    if (isAddressLike(record.type)) guarded.get(owner)?.add(type);
    const one = { owner, type, ttl, rdata };
    if (record.managed === true) managed.push(one);
    if (isAddressLike(record.type) && !showsOrigin(owner, type)) continue;
    written.add(`${type} ${owner}`);
    shown.push(one);
  }
  for (const record of published) {
    const { owner, type } = record;
    const isAddress = type === TYPE.A || type === TYPE.AAAA;
    const isOthers = isAddress ? !showsOrigin(owner, type) : !written.has(`${type} ${owner}`);
    if (isOthers) shown.push(record);
  }
  const sets = setsByName(shown);
  return { apex, isCustomers: true, sets, managed: setsByName(managed), guarded, proxied };
}

function typeCodeOf({ type }: CustomerRecord): number {
  return type === 'ANAME' ? ANAME_CODE : wireTypeCode(type);
}

/** Returns true for the types that locate a host. */
export function isGuardedType(type: number): boolean {
  return type === TYPE.A || type === TYPE.AAAA || type === TYPE.CNAME || type === ANAME_CODE;
}
