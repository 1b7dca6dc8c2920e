// Checks the form of an update section before anything is changed (RFC 2136 §3.4.1).

import { WireError } from '../../dns/errors.ts';
import { RCODE } from '../../dns/message/rcodes.ts';
import { refuseUpdate, type UpdateRecord, type UpdateRefusal } from '../../dns/message/update.ts';
import { isWithin, type Name, printName } from '../../dns/name.ts';
import { checkRdata } from '../../dns/record/rdata.ts';
import { CLASS, TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { isMetaType } from '../collect-records.ts';
import { describeSet } from '../zone-problem.ts';

/** Returns undefined if each record has a valid form. */
export function prescan(apex: Name, updates: readonly UpdateRecord[]): UpdateRefusal | undefined {
  for (const record of updates) {
    const { owner, type } = record;
    if (!isWithin(owner, apex))
      return refuseUpdate(RCODE.NOTZONE, `${printName(owner)} is not in the zone ${printName(apex)}`);
    const fault = faultOf(record);
    if (fault !== undefined) return refuseUpdate(RCODE.FORMERR, `${describeSet(owner, type)}: ${fault}`);
  }
  return undefined;
}

function faultOf(record: UpdateRecord): string | undefined {
  const { type, ttl, rdata } = record;
  const isDeletion = record.class === CLASS.ANY || record.class === CLASS.NONE;
  if (record.class !== CLASS.IN && !isDeletion) return 'the class must be IN, ANY or NONE';
  const isWholeName = record.class === CLASS.ANY && type === TYPE.ANY;
  if (isMetaType(type) && !isWholeName) return `no record has the type ${typeMnemonic(type)}`;
  if (isDeletion && ttl !== 0) return 'the TTL of a deletion must be 0';
  if (record.class === CLASS.ANY)
    return rdata.length > 0 ? 'a deletion of sets must have no rdata' : undefined;
  return hasValidRdata(record) ? undefined : 'the rdata is not valid';
}

export function hasValidRdata({ type, rdata }: Pick<UpdateRecord, 'type' | 'rdata'>): boolean {
  try {
    checkRdata(type, rdata);
    return true;
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return false;
  }
}
