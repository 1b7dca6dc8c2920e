// Plans the renewal of signatures before they expire, or with other keys, without other changes of the zone. Sets that
// are signed now will be signed by exactly the current keys. An algorithm rollover thus adds signatures, and removes
// the old ones at the end (RFC 6781 §4.1.4).

import { TYPE } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../zone.ts';
import { type PlannedRows, planSignatures, type Signers } from './plan-rows.ts';
import { planOf, type SigningPlan } from './plan-signing.ts';
import { groupRecords, recordsByOwner } from './standing.ts';

/** @param rows all rows of each owner. Signatures that are not due are kept. Owners without changes are omitted. */
export function planRefresh(rows: Iterable<ZoneRecord>, signers: Signers): SigningPlan {
  const planned: PlannedRows[] = [];
  for (const [owner, records] of recordsByOwner(rows)) {
    const standing = groupRecords(owner, records);
    const plans = [...standing.signatures.keys()].flatMap((type) => {
      const set = standing.sets.get(type);
      return set === undefined ? [] : [planSignatures(set, standing, signers)];
    });
    const kept = plans.flatMap((plan) => plan.kept);
    const toSign = plans.flatMap((plan) => plan.toSign);
    const existing = records.filter(({ type }) => type === TYPE.RRSIG).length;
    if (toSign.length + Math.abs(existing - kept.length) > 0)
      planned.push({ owner, types: [TYPE.RRSIG], records: kept, toSign });
  }
  return planOf(planned);
}
