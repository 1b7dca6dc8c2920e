// Plans the second denial chain of a signed zone (NSEC3 in addition to NSEC, or vice versa), which answers do not use
// until the NSEC3PARAM at the apex is added or removed. Lists the records that complete it (RFC 5155 §10.4, §10.5). The
// rest of the zone is unchanged.

import { coveredType } from '../../dns/record/covered-type.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../zone.ts';
import { denialType } from './denial-records.ts';
import type { PlannedRows, Signers } from './plan-rows.ts';
import { planOf, planSigning, type SigningPlan } from './plan-signing.ts';
import { type DenialKind, isMade } from './signed-types.ts';
import { recordsByOwner } from './standing.ts';

interface ChainOrder extends Signers {
  /** The kind of the new chain. */
  readonly denial: DenialKind;
}

/**
 * @param records all records of the zone. Owners whose chain is already correct are omitted, except an apex with NSEC3PARAM.
 */
export function planChain(
  records: readonly ZoneRecord[],
  { denial, apex, keys, remakeBefore }: ChainOrder,
): SigningPlan {
  const wanted = recordsByOwner(records.filter(({ type }) => !isMade(type)));
  const planning = planSigning({ denial, apex, keys, remakeBefore, wanted, whole: true });
  planning.next(); // requests the whole zone
  const step = planning.next(records);
  if (!step.done) throw new Error('the plan for a whole zone requested further rows');
  const type = denialType(denial);
  const standing = new Set(records.filter((record) => record.type === type).map(({ owner }) => owner));
  const isOfChain = ({ owner, records: made }: PlannedRows) =>
    standing.has(owner) || made.some((record) => record.type === type);
  const types = [TYPE.RRSIG, type];
  // a plan with NSEC removes NSEC3PARAM, which must stay signed until answers use the new chain
  const stays = ({ owner, type: own, rdata }: ZoneRecord) =>
    owner === apex && own === TYPE.RRSIG && coveredType(rdata) === TYPE.NSEC3PARAM;
  const ofParameters = records.filter(stays);
  return planOf(
    step.value.planned.filter(isOfChain).map(({ owner, records: made, toSign }) => {
      // signatures over the other sets stay, or are renewed if due
      const chained = made.filter((record) => types.includes(record.type));
      return { owner, types, records: owner === apex ? [...chained, ...ofParameters] : chained, toSign };
    }),
  );
}
