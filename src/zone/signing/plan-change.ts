// Plans a change of a signed zone in any state: a broken ring is rebuilt as a whole.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../zone.ts';
import { BrokenRing } from './link-denials.ts';
import { type Needed, planSigning, type SigningOrder, type SigningPlan } from './plan-signing.ts';
import { recordsByOwner } from './standing.ts';

const WHOLE: Needed = { whole: true, owners: [], before: [], below: [], anyBelow: [] };

export type Planning = Generator<Needed, SigningPlan, readonly ZoneRecord[]>;

/** @param missing NSEC records that are missing at changed names, although the preceding ones point to them */
export function* planChange(order: SigningOrder, missing?: ReadonlyMap<Name, ZoneRecord>): Planning {
  try {
    return yield* planWith(order, missing);
  } catch (error) {
    // The existing records are inconsistent: all of them are read and written again, and valid signatures are kept.
    if (!(error instanceof BrokenRing) || order.whole === true) throw error;
  }
  const rows = yield WHOLE;
  const wanted = new Map<Name, readonly ZoneRecord[]>([...recordsByOwner(rows), ...order.wanted]);
  const planning = planSigning({ ...order, wanted, whole: true });
  for (let step = planning.next(); ; step = planning.next(rows)) if (step.done) return step.value;
}

function* planWith(order: SigningOrder, missing?: ReadonlyMap<Name, ZoneRecord>): Planning {
  const planning = planSigning(order);
  let isFirst = true;
  for (let step = planning.next(); ; isFirst = false) {
    if (step.done) return step.value;
    const rows = yield step.value;
    step = planning.next(isFirst && missing !== undefined ? [...rows, ...absent(rows, missing)] : rows);
  }
}

function absent(rows: readonly ZoneRecord[], missing: ReadonlyMap<Name, ZoneRecord>): ZoneRecord[] {
  const there = new Set(rows.filter(({ type }) => type === TYPE.NSEC).map(({ owner }) => owner));
  return [...missing.values()].filter(({ owner }) => !there.has(owner));
}
