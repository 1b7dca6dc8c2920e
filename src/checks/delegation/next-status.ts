// The only place that decides a status from a check (docs/rules.md "Statuses"). Only a confirmed judgement changes a
// status, with two exceptions that depend on time alone: a pending domain that no check ever saw, and a leaving one
// whose grace is over.
//
//   pending ─ match ─▶ active ─ 3 misses in a row over MOVED_AFTER ─▶ moved ─ match ─▶ active
//      │                                                                └ MOVED_GRACE over, none of ours ─▶ disabled
//      └ PENDING_MAX over, none of ours; or 90 d, never anything conclusive ─▶ disabled
//   leaving ─ none of ours, or MOVED_GRACE over ─▶ left
//
// A clock that jumps forward can shorten the time at most by its jump, but never adds a miss: three checks in a row
// must still see it. A clock that jumps back starts the span of the misses again.

import type { CheckState, Expected, Preset } from './check-state.ts';
import { FINDINGS, type Finding } from './findings.ts';
import { nextPreset, setsLeft } from './preset.ts';
import type { Judgement, Verdict } from './verdict.ts';

/** How long a domain stays pending when every check was `unknown`; this is not a setting. */
export const UNKNOWN_PENDING_MAX_MS = 90 * 86_400_000;

const MISSES_TO_MOVE = 3;
/** Findings about sets that a standing preset took: its own finding says all that the owner has to change. */
const ABOUT_OTHER_SETS: ReadonlySet<string> = new Set(['NS_MISSING', 'NS_EXTRA', 'NS_MIXED']);
const MISSES: ReadonlySet<Verdict> = new Set(['foreign', 'not_delegated', 'unregistered', 'alias']);

export interface Rules {
  readonly movedAfterMs: number;
  readonly movedGraceMs: number;
  readonly pendingMaxMs: number;
  readonly unknownPendingMaxMs: number;
}

export interface Decision {
  /** `left`: a leaving domain that no resolver is sent to any more. */
  readonly to: 'pending' | 'active' | 'moved' | 'leaving' | 'disabled' | 'left';
  /** The state to remember; for `disabled` and `left`, which are not checked, with the status before. */
  readonly state: CheckState;
  /** All findings of this check: those of the judgement, and those of the status. */
  readonly findings: readonly Finding[];
  /** The breaker held a move back. */
  readonly frozen: boolean;
  /** The domain may be answered in full from now on, and sets that were taken are given back. */
  readonly presetEnded: boolean;
}

/** `frozen`: the breaker holds every move to `moved` and `disabled`; misses are still counted. */
export function nextStatus(
  state: CheckState,
  judgement: Judgement,
  at: number,
  rules: Rules,
  frozen: boolean,
  expected: Expected,
): Decision {
  const preset = nextPreset(state.preset, judgement, expected);
  const seen: CheckState = {
    ...state,
    preset,
    misses: state.status === 'active' ? nextMisses(state.misses, judgement, at) : undefined,
    conclusive: judgement.oursShown === undefined ? state.conclusive : { at, oursShown: judgement.oursShown },
  };
  const wanted = wantedStatus(seen, judgement, at, rules);
  const isEnd = wanted !== state.status && (wanted === 'moved' || wanted === 'disabled');
  const held = frozen && isEnd;
  const waits = judgement.rootFault === true && isEnd;
  const to = held || waits ? state.status : wanted;
  return {
    to,
    state: to === state.status || to === 'disabled' || to === 'left' ? seen : enter(seen, to, at),
    findings: [
      ...judgement.findings.filter(({ code }) => preset.kind !== 'standing' || !ABOUT_OTHER_SETS.has(code)),
      ...presetFindings(preset, expected),
      ...(held ? [FINDINGS.MOVES_HELD()] : []),
      ...(waits ? [FINDINGS.ROOT_FAULT()] : []),
    ],
    frozen: held,
    presetEnded: state.preset.kind !== 'clear' && preset.kind === 'clear',
  };
}

/** Whether the verdict, when confirmed, counts as a miss of an active domain. */
export function isMiss(verdict: Verdict): boolean {
  return MISSES.has(verdict);
}

function enter(state: CheckState, status: CheckState['status'], at: number): CheckState {
  return { ...state, status, since: at, misses: undefined };
}

function wantedStatus(state: CheckState, judgement: Judgement, at: number, rules: Rules): Decision['to'] {
  const { status, since, preset } = state;
  const isMatch = judgement.confirmed && judgement.verdict === 'match' && !judgement.staleDs;
  const isGone = judgement.confirmed && judgement.oursShown === false;
  const isOver = (spanMs: number) => at - since >= spanMs;
  switch (status) {
    case 'pending': {
      if (isMatch && preset.kind === 'clear') return 'active';
      if (isGone && isOver(rules.pendingMaxMs)) return 'disabled';
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
    default:
      return status satisfies never;
  }
}

/**
 * The misses after a check. Only a confirmed miss counts; a check that shows a server of ours, confirmed or not, ends
 * the row; all others change nothing.
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

function presetFindings(preset: Preset, expected: Expected): readonly Finding[] {
  if (preset.kind !== 'standing') return [];
  return [FINDINGS.PRESET_DELEGATION(preset.taken, setsLeft(preset, expected))];
}
