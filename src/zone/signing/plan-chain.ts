// The chain of the other kind of a signed zone (NSEC beside NSEC3, or NSEC3 beside NSEC), which no answer uses before the
// NSEC3PARAM at the apex comes or goes: what is to be written so that it is whole (RFC 5155 §10.4, §10.5). All else of the zone
// stays as it is.

import { coveredType } from '../../dns/record/covered-type.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../zone.ts';
import { denialType } from './denial-records.ts';
import type { PlannedRows, Signers } from './plan-rows.ts';
import { planOf, planSigning, type SigningPlan } from './plan-signing.ts';
import { type DenialKind, isMade } from './signed-types.ts';
import { recordsByOwner } from './standing.ts';

interface ChainOrder extends Signers {
  /** Of the chain that is to be. */
  readonly denial: DenialKind;
}

/** `records`: all of the zone. Owners at which the chain is as it has to be are left out, but for an apex with NSEC3PARAM. */
export function planChain(
  records: readonly ZoneRecord[],
  { denial, apex, keys, remakeBefore }: ChainOrder,
): SigningPlan {
  const wanted = recordsByOwner(records.filter(({ type }) => !isMade(type)));
  const planning = planSigning({ denial, apex, keys, remakeBefore, wanted, whole: true });
  planning.next(); // it asks for the whole zone at once
  const step = planning.next(records);
  if (!step.done) throw new Error('a plan of a whole zone wants more than the zone');
  const type = denialType(denial);
  const standing = new Set(records.filter((record) => record.type === type).map(({ owner }) => owner));
  const isOfChain = ({ owner, records: made }: PlannedRows) =>
    standing.has(owner) || made.some((record) => record.type === type);
  const types = [TYPE.RRSIG, type];
  // a plan with NSEC wants no NSEC3PARAM, which stands signed until answers use the new chain
  const stays = ({ owner, type: own, rdata }: ZoneRecord) =>
    owner === apex && own === TYPE.RRSIG && coveredType(rdata) === TYPE.NSEC3PARAM;
  const ofParameters = records.filter(stays);
  return planOf(
    step.value.planned.filter(isOfChain).map(({ owner, records: made, toSign }) => {
      // signatures over the other sets are as they stand, or due and made anew
      const chained = made.filter((record) => types.includes(record.type));
      return { owner, types, records: owner === apex ? [...chained, ...ofParameters] : chained, toSign };
    }),
  );
}
