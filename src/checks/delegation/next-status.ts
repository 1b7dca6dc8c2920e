// The only place that decides a status from a check (docs/rules.md "Statuses"). Only a confirmed judgement changes a
// status, with two exceptions that depend only on time: a pending domain that no check ever saw, and a leaving domain whose
// grace period has ended.
//
//   pending ─ match ─▶ active ─ 3 misses in a row over MOVED_AFTER ─▶ moved ─ match ─▶ active
//      │                                                                └ MOVED_GRACE over, none of ours ─▶ disabled
//      └ PENDING_MAX over, none of ours; or 90 d, never anything conclusive ─▶ disabled
//   leaving ─ none of ours, or MOVED_GRACE over ─▶ left
//   ended ─ match, within 90 d ─▶ pending
//
// The checker has disabled a domain that is `ended`. Only exclusive sets count for it (docs/rules.md "Claims").
//
// A clock that jumps forward can shorten the time by at most its jump, but never adds a miss: three consecutive checks must
// still see it. A clock that jumps back restarts the time span of the misses.

import type { CheckState } from './check-state.ts';
import type { Finding } from './finding.ts';
import { FINDINGS } from './findings.ts';
import { nextSteadiness } from './steadiness.ts';
import type { Judgement, Verdict } from './verdict.ts';

/** How long a domain stays pending if every check is `unknown`. This is not a setting. */
export const UNKNOWN_PENDING_MAX_MS = 90 * 86_400_000;

const MISSES_TO_MOVE = 3;
/** How long a domain that the checker disabled can be enabled again automatically. */
export const RETURN_MS = 90 * 86_400_000;
const MISSES: ReadonlySet<Verdict> = new Set(['foreign', 'not_delegated', 'unregistered', 'alias']);

export interface Rules {
  readonly movedAfterMs: number;
  readonly movedGraceMs: number;
  readonly pendingMaxMs: number;
  readonly unknownPendingMaxMs: number;
}

export interface Decision {
  /** `left`: a leaving domain to which no resolver is sent any longer. */
  readonly to: 'pending' | 'active' | 'moved' | 'leaving' | 'disabled' | 'left' | 'ended';
  /** The state to store. For `left`, which is not checked, it keeps the previous status. */
  readonly state: CheckState;
  /** All findings of this check: those of the judgement and those of the status. */
  readonly findings: readonly Finding[];
  /** True if the breaker prevented a move. */
  readonly frozen: boolean;
}

/** `frozen`: the breaker holds every move to `moved` and `disabled`, but misses are still counted. */
export function nextStatus(
  state: CheckState,
  judgement: Judgement,
  at: number,
  rules: Rules,
  frozen: boolean,
): Decision {
  const { oursShown, othersShown } = judgement;
  const counts = oursShown !== undefined && (judgement.confirmed || judgement.soleWitness);
  const seen: CheckState = {
    ...state,
    witnessAt: nextWitnessAt(state.witnessAt, judgement, at),
    misses: state.status === 'active' ? nextMisses(state.misses, judgement, at) : undefined,
    conclusive: counts ? { at, oursShown, othersShown: othersShown === true } : state.conclusive,
    steadiness: nextSteadiness(state.steadiness, judgement, at),
  };
  const wanted = wantedStatus(seen, judgement, at, rules);
  const isEnd = wanted !== state.status && (wanted === 'moved' || wanted === 'disabled');
  const held = frozen && isEnd;
  const waits = judgement.rootFault === true && isEnd;
  const to = held || waits ? state.status : wanted;
  return {
    to,
    state: to === state.status || to === 'left' ? seen : enter(seen, to === 'disabled' ? 'ended' : to, at),
    findings:
      state.status === 'ended'
        ? []
        : [
            ...judgement.findings,
            ...(held ? [FINDINGS.MOVES_HELD()] : []),
            ...(waits ? [FINDINGS.ROOT_FAULT()] : []),
          ],
    frozen: held,
  };
}

/** True if the verdict, when confirmed, counts as a miss of an active domain. */
export function isMiss(verdict: Verdict): boolean {
  return MISSES.has(verdict);
}

function enter(state: CheckState, status: CheckState['status'], at: number): CheckState {
  const conclusive = status === 'pending' ? undefined : state.conclusive;
  return { ...state, status, since: at, misses: undefined, conclusive, witnessAt: undefined };
}

function wantedStatus(state: CheckState, judgement: Judgement, at: number, rules: Rules): Decision['to'] {
  const { status, since } = state;
  const isSeen = judgement.confirmed || isWitnessed(state, judgement, at);
  const isMatch = isSeen && judgement.verdict === 'match' && !judgement.staleDs;
  const isGone = judgement.confirmed && judgement.oursShown === false;
  const isOver = (spanMs: number) => at - since >= spanMs;
  switch (status) {
    case 'pending': {
      if (isMatch) return 'active';
      if (isGone && isOver(rules.pendingMaxMs)) return 'disabled';
      // a domain that shows names of its set gets twice the time
      if (judgement.confirmed && isOver(2 * rules.pendingMaxMs)) return 'disabled';
      const neverSeen = judgement.verdict === 'unknown' && state.conclusive === undefined;
      return neverSeen && isOver(rules.unknownPendingMaxMs) ? 'disabled' : 'pending';
    }
    case 'active':
      return isGone && isLongMissed(state.misses, rules) ? 'moved' : 'active';
    case 'moved':
      if (isMatch) return 'active';
      return isGone && isOver(rules.movedGraceMs) ? 'disabled' : 'moved';
    case 'leaving':
      return isGone || isOver(rules.movedGraceMs) ? 'left' : 'leaving';
    case 'ended':
      return isMatch && !isOver(RETURN_MS) ? 'pending' : 'ended';
    default:
      return status satisfies never;
  }
}

/**
 * If every other address fails or is silent, a single address proves a claim by showing the same set in two checks
 * (docs/rules.md "Proof").
 */
const WITNESS_MS = 60_000;

function isWitnessed({ status, witnessAt }: CheckState, { soleWitness }: Judgement, at: number): boolean {
  return status === 'pending' && soleWitness && witnessAt !== undefined && at - witnessAt >= WITNESS_MS;
}

function nextWitnessAt(
  before: number | undefined,
  { verdict, soleWitness, findings }: Judgement,
  at: number,
): number | undefined {
  // Another address disagrees, so the witness may be lying.
  if (findings.some(({ code }) => code === 'PARENTS_DISAGREE')) return undefined;
  if (verdict === 'unknown') return before;
  if (!soleWitness || verdict !== 'match') return undefined;
  return before === undefined || before > at ? at : before;
}

/**
 * Returns the misses after a check. Only a confirmed miss counts. A check that shows one of our servers, confirmed or not,
 * resets them. All other checks change nothing.
 */
function nextMisses(misses: CheckState['misses'], judgement: Judgement, at: number): CheckState['misses'] {
  if (judgement.oursShown === true) return undefined;
  if (!judgement.confirmed || !isMiss(judgement.verdict)) return misses;
  if (misses === undefined) return { count: 1, firstAt: at, lastAt: at };
  const wentBack = at < misses.lastAt;
  return { count: misses.count + 1, firstAt: wentBack ? at : misses.firstAt, lastAt: at };
}

function isLongMissed(misses: CheckState['misses'], { movedAfterMs }: Rules): boolean {
  if (misses === undefined || misses.count < MISSES_TO_MOVE) return false;
  return misses.lastAt - misses.firstAt >= movedAfterMs;
}
