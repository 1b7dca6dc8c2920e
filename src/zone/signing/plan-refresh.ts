// Signatures that are made anew before they end, or with other keys, with nothing else of the zone touched: what is signed now
// is signed by exactly the keys that sign now. So a change of algorithm adds signatures, and drops them in the end (RFC 6781
// §4.1.4).

import { TYPE } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../zone.ts';
import { type PlannedRows, planSignatures, type Signers } from './plan-rows.ts';
import { planOf, type SigningPlan } from './plan-signing.ts';
import { groupRecords, recordsByOwner } from './standing.ts';

/** `rows`: all rows of each owner. Signatures that are not due stay; owners at which nothing changes are left out. */
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
    const stood = records.filter(({ type }) => type === TYPE.RRSIG).length;
    if (toSign.length + Math.abs(stood - kept.length) > 0)
      planned.push({ owner, types: [TYPE.RRSIG], records: kept, toSign });
  }
  return planOf(planned);
}
