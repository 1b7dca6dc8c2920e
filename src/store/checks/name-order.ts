// Builds the order that saves an evaluated check of a name.

import type { JudgedClaim, JudgedName } from '../../checks/claims/judge-name.ts';
import { holdersOf, isSameSet, type NameClaims } from '../../checks/claims/name-claims.ts';
import { isNewSighting } from '../../checks/claims/sightings.ts';
import { EXTERNAL_HOLDER_WARNING } from '../../checks/claims/takeover.ts';
import type { Evidence } from '../../checks/delegation/evidence.ts';
import type { VoiceView } from '../../checks/delegation/seen.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import type { CheckKind, StoredSet } from '../postgres/tables/schema.ts';
import type { CheckOrder } from './check-outcome.ts';
import { encodeFinding } from './check-runs.ts';
import type { CheckedName, SavedState } from './load-checked-name.ts';
import type { NameOrder } from './save-check.ts';

interface CheckJob {
  readonly domainId: number;
  readonly kind: CheckKind;
  readonly request?: string | undefined;
}

/**
 * @param substitutes by claim, the set that replaces used-up sets, with the right to it
 * @param vantages observations of the vantage points, if they were queried
 */
export function nameOrder(
  { nameText, saved, sightings, claims }: CheckedName,
  job: CheckJob,
  evidence: Evidence,
  judged: JudgedName,
  substitutes: ReadonlyMap<number, StoredSet>,
  vantages?: readonly VoiceView[],
): NameOrder {
  const orders = judged.claims.map((claim) => ({
    ...orderOf(claim, saved.get(claim.claim.id) as SavedState, evidence, substitutes.get(claim.claim.id)),
    vantages,
    ...(claim.claim.id === job.domainId
      ? { kind: job.kind, ...(job.request !== undefined && { request: job.request }) }
      : { kind: 'background' as const }),
  }));
  orders.sort((a, b) => Number(b.domainId === job.domainId) - Number(a.domainId === job.domainId));
  const names = judged.sighted?.map(encodeNameColumn).sort() ?? [];
  return {
    nameText,
    orders: orders as [CheckOrder, ...CheckOrder[]],
    holders: holdersOf(claims),
    sighting: isNewSighting(sightings, names, evidence.finishedAt) ? names : undefined,
    lostExternal: judged.lostExternal,
    givenUp: judged.claims.flatMap(givenUpBy),
    isTakeover: judged.isTakeover,
    warned: warnedBy(claims, judged),
  };
}

/** Lists the owners to warn that another account's claim was proved: once, until no claim is proved any longer. */
function warnedBy({ claims, externalHolder }: NameClaims, judged: JudgedName): NameOrder['warned'] {
  const isOn = claims.some(({ takeoverSeenAt }) => takeoverSeenAt !== undefined);
  if (isOn || judged.claims.every(({ takeoverSeenAt }) => takeoverSeenAt === undefined)) return [];
  const told = judged.claims.flatMap(({ claim, decision }) => {
    const seen = decision.findings.find(({ code }) => code === 'TAKEOVER_SEEN');
    return seen === undefined ? [] : [{ domainId: claim.id, message: encodeFinding(seen).message }];
  });
  if (externalHolder === undefined) return told;
  return [...told, { domainId: externalHolder.id, message: EXTERNAL_HOLDER_WARNING }];
}

function orderOf(
  { claim, judgement, decision, setsAfter, takeoverSeenAt, open, nextCheckAt, isOwnTime }: JudgedClaim,
  { seq }: SavedState,
  evidence: Evidence,
  substitute: StoredSet | undefined,
): Omit<CheckOrder, 'kind' | 'request'> {
  const { startedAt, finishedAt } = evidence;
  return {
    domainId: claim.id,
    seq,
    evidence,
    judgement,
    decision,
    open,
    setsAfter: setsAfter?.map((set) => {
      const names = set.map(encodeNameColumn);
      if (substitute?.names.join() === names.join()) return substitute;
      return { names, exclusive: claim.sets.some((known) => known.exclusive && isSameSet(known.names, set)) };
    }),
    takeoverSeenAt,
    nextCheckAt,
    isOwnTime,
    startedAt,
    finishedAt,
  };
}

function givenUpBy({ claim, setsAfter }: JudgedClaim): NameOrder['givenUp'] {
  if (setsAfter === undefined) return [];
  const gone = claim.sets.filter(({ names }) => !setsAfter.some((set) => isSameSet(set, names)));
  return [{ accountId: claim.accountId, sets: gone.map(({ names }) => names.map(encodeNameColumn)) }];
}
