// The chain of the other kind of a signed zone (NSEC beside NSEC3, or NSEC3 beside NSEC), which no answer uses before the
// NSEC3PARAM at the apex comes or goes: what is to be written so that it is whole (RFC 5155 §10.4, §10.5). All else of the zone
// stays as it is.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../zone.ts';
import { denialType } from './denial-records.ts';
import type { OwnerRows, Signers } from './plan-rows.ts';
import { planSigning } from './plan-signing.ts';
import type { SetToSign } from './sign-set.ts';
import { type DenialKind, isMade } from './signed-types.ts';
import { recordsByOwner } from './standing.ts';

interface ChainOrder extends Signers {
  /** Of the chain that is to be. */
  readonly denial: DenialKind;
}

interface ChainPlan {
  /** One signature is to be made for each. */
  readonly toSign: readonly SetToSign[];
  /** What is written, with these signatures in the order of `toSign`. */
  rows(signatures: readonly Uint8Array[]): OwnerRows[];
  /** The NSEC of every name that has one in the whole chain: an edit by the other chain takes that of its name along. */
  links(rows: readonly OwnerRows[]): Map<Name, ZoneRecord>;
}

/** `records`: all of the zone. */
export function planChain(records: readonly ZoneRecord[], { denial, ...signers }: ChainOrder): ChainPlan {
  const wanted = recordsByOwner(records.filter(({ type }) => !isMade(type)));
  const planning = planSigning({ ...signers, denial, wanted, whole: true });
  planning.next(); // it asks for the whole zone at once
  const step = planning.next(records);
  if (!step.done) throw new Error('a plan of a whole zone wants more than the zone');
  const plan = step.value;
  const type = denialType(denial);
  const standing = new Map(records.filter((record) => record.type === type).map((one) => [one.owner, one]));
  return {
    toSign: plan.toSign,
    rows(signatures) {
      const rows: OwnerRows[] = [];
      for (const { owner, records: made } of plan.rows(signatures)) {
        const isOfChain = standing.has(owner) || made.some((record) => record.type === type);
        if (isOfChain) rows.push(ofChain(owner, made, type));
      }
      return rows;
    },
    links(rows) {
      const links = new Map(denial === 'nsec' ? standing : []);
      for (const { owner, records: made } of rows) {
        const link = made.find((record) => record.type === TYPE.NSEC);
        if (link === undefined) links.delete(owner);
        else links.set(owner, link);
      }
      return links;
    },
  };
}

/** Signatures over the other sets are as they stand, or due and made anew. */
function ofChain(owner: Name, made: readonly ZoneRecord[], type: number): OwnerRows {
  const types = [TYPE.RRSIG, type];
  return { owner, types, records: made.filter((record) => types.includes(record.type)) };
}
