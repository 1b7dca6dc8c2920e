// Evaluates the prerequisites of an update (RFC 2136 §3.2).

import { RCODE } from '../../dns/message/rcodes.ts';
import { refuseUpdate, type UpdateRecord, type UpdateRefusal } from '../../dns/message/update.ts';
import { isWithin, type Name, printName } from '../../dns/name.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import { describeSet } from '../zone-problem.ts';
import { hasValidRdata } from './prescan.ts';
import { recordKey, type SetsByName } from './sets-by-name.ts';

/** Returns undefined if all prerequisites are met. `sets` must contain all sets of their owners. */
export function judgePrerequisites(
  apex: Name,
  prerequisites: readonly UpdateRecord[],
  sets: SetsByName,
): UpdateRefusal | undefined {
  const required = new Map<string, UpdateRecord[]>();
  for (const record of prerequisites) {
    const refused = judgeOne(apex, record, sets);
    if (refused !== undefined) return refused;
    if (record.class !== CLASS.IN) continue;
    const key = `${record.type} ${record.owner}`;
    const ofSet = required.get(key);
    if (ofSet === undefined) required.set(key, [record]);
    else ofSet.push(record);
  }
  for (const records of required.values()) {
    const { owner, type } = records[0] as UpdateRecord;
    if (!isSameSet(type, records, sets.get(owner)?.get(type)?.rdata ?? []))
      return refuseUpdate(RCODE.NXRRSET, `${describeSet(owner, type)} has other records`);
  }
  return undefined;
}

function judgeOne(apex: Name, record: UpdateRecord, sets: SetsByName): UpdateRefusal | undefined {
  const { owner, type, ttl, rdata } = record;
  if (ttl !== 0) return refuseUpdate(RCODE.FORMERR, 'the TTL of a prerequisite must be 0');
  if (!isWithin(owner, apex))
    return refuseUpdate(RCODE.NOTZONE, `${printName(owner)} is not in the zone ${printName(apex)}`);
  if (record.class === CLASS.IN) {
    return hasValidRdata(record)
      ? undefined
      : refuseUpdate(RCODE.FORMERR, `a prerequisite has invalid rdata: ${describeSet(owner, type)}`);
  }
  if (record.class !== CLASS.ANY && record.class !== CLASS.NONE)
    return refuseUpdate(RCODE.FORMERR, 'the class of a prerequisite must be IN, ANY or NONE');
  if (rdata.length > 0)
    return refuseUpdate(RCODE.FORMERR, 'a prerequisite of class ANY or NONE must have no rdata');
  const held = sets.get(owner);
  const mustExist = record.class === CLASS.ANY;
  if (type === TYPE.ANY) {
    // A name is in use if it has a record (§2.4.4): not an empty non-terminal, nor a name that matches a wildcard.
    const isInUse = held !== undefined && held.size > 0;
    if (isInUse === mustExist) return undefined;
    return mustExist
      ? refuseUpdate(RCODE.NXDOMAIN, `${printName(owner)} has no records`)
      : refuseUpdate(RCODE.YXDOMAIN, `${printName(owner)} has records`);
  }
  if ((held?.has(type) === true) === mustExist) return undefined;
  return mustExist
    ? refuseUpdate(RCODE.NXRRSET, `${describeSet(owner, type)} does not exist`)
    : refuseUpdate(RCODE.YXRRSET, `${describeSet(owner, type)} exists`);
}

/** Compares two sets in any order, without TTLs (§3.2.3). */
function isSameSet(type: number, required: readonly UpdateRecord[], held: readonly Uint8Array[]): boolean {
  const wanted = new Set(required.map(({ rdata }) => recordKey(type, rdata)));
  const there = new Set(held.map((rdata) => recordKey(type, rdata)));
  return wanted.size === there.size && [...wanted].every((key) => there.has(key));
}
