// A domain of an account with the simulated name: the columns that the rules read.

import type { NamedDomain } from '../../../../src/checks/claims/answered.ts';
import type { ClaimSet } from '../../../../src/checks/claims/name-claims.ts';
import type {
  CheckedStatus,
  CheckState,
  NameserverSet,
} from '../../../../src/checks/delegation/check-state.ts';
import type { Verdict } from '../../../../src/checks/delegation/verdict.ts';

export interface SimulatedClaim {
  id: number;
  accountId: number;
  /** Disabled by the checker, a takeover or another claim. Other causes do not occur here. */
  status: 'pending' | 'unverified' | 'active' | 'moved' | 'disabled';
  external: boolean;
  leaving: boolean;
  claimedAt: number;
  since: number;
  movedAt: number | undefined;
  misses: CheckState['misses'];
  conclusive: CheckState['conclusive'];
  witnessAt: CheckState['witnessAt'];
  takeoverSeenAt: number | undefined;
  lastVerdict: Verdict | undefined;
  unknowns: number;
  /** `every`: each static set proves it. */
  sets: readonly ClaimSet[] | 'every';
  delegated: NameserverSet | undefined;
  open: boolean;
  turnAskedAt: number | undefined;
  turnLastAskedAt: number;
  turn: { readonly from: number; readonly until: number } | undefined;
}

export function newClaim({
  id,
  accountId,
  at,
  sets,
  external,
}: Pick<SimulatedClaim, 'id' | 'accountId' | 'sets' | 'external'> & { readonly at: number }): SimulatedClaim {
  return {
    id,
    accountId,
    status: external ? 'unverified' : 'pending',
    external,
    leaving: false,
    claimedAt: at,
    since: at,
    movedAt: undefined,
    misses: undefined,
    conclusive: undefined,
    witnessAt: undefined,
    takeoverSeenAt: undefined,
    lastVerdict: undefined,
    unknowns: 0,
    sets,
    delegated: undefined,
    open: false,
    turnAskedAt: external ? undefined : at,
    turnLastAskedAt: external ? Number.NEGATIVE_INFINITY : at,
    turn: undefined,
  };
}

export function checkedStatusOf({ status, external, leaving }: SimulatedClaim): CheckedStatus | undefined {
  if (leaving) return 'leaving';
  if (external || status === 'unverified') return undefined;
  return status === 'disabled' ? 'ended' : status;
}

export function stageOf({ status, external, leaving }: SimulatedClaim): NamedDomain['stage'] {
  if (status === 'disabled') return 'off';
  if (leaving) return 'holding';
  if (status === 'unverified') return 'unverified';
  if (status === 'pending') return 'waiting';
  return external ? 'holdingElsewhere' : 'holding';
}
