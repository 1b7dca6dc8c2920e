// Checks new records of a customer's domain by the rules of the API, which refuses some names and hosts that DNS allows.

import { RCODE } from '../../dns/message/rcodes.ts';
import { refuseUpdate, type UpdateRecord, type UpdateRefusal } from '../../dns/message/update.ts';
import type { Name } from '../../dns/name.ts';
import { CLASS, typeMnemonic } from '../../dns/type-codes.ts';
import type { WireType } from '../records/customer-types.ts';
import { parseDestination, printDestination } from '../records/destination.ts';
import { parseRecordName, printRecordName } from '../records/record-name.ts';
import { describeSet } from '../zone-problem.ts';

/** Returns undefined if the records are valid. `judgeGrants` must have accepted their types. */
export function judgeCustomersRecords(
  apex: Name,
  updates: readonly UpdateRecord[],
): UpdateRefusal | undefined {
  for (const record of updates) {
    const why = record.class === CLASS.IN ? whyNotInApi(apex, record) : undefined;
    if (why !== undefined)
      return refuseUpdate(RCODE.REFUSED, `${describeSet(record.owner, record.type)}: ${why}`);
  }
  return undefined;
}

function whyNotInApi(apex: Name, { owner, type: code, rdata }: UpdateRecord): string | undefined {
  const name = parseRecordName(printRecordName(owner, apex), apex);
  if (name.kind === 'problem') return name.message;
  const type = typeMnemonic(code) as WireType;
  const { destination, mxPriority } = printDestination(type, rdata);
  const read = parseDestination(type, destination, mxPriority, apex);
  return read.kind === 'problem' ? read.message : undefined;
}
