// Computes what a check changes in the rows of its domain.

import type { Selectable } from 'kysely';
import type { CheckState } from '../../checks/delegation/check-state.ts';
import type { Evidence } from '../../checks/delegation/evidence.ts';
import { encodeNames } from '../../checks/delegation/evidence-json.ts';
import { FINDING_CODES } from '../../checks/delegation/finding.ts';
import type { Decision } from '../../checks/delegation/next-status.ts';
import type { VoiceView } from '../../checks/delegation/seen.ts';
import type { Judgement, Verdict } from '../../checks/delegation/verdict.ts';
import type { DomainRow } from '../domains/domain-row.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import type { CheckKind, Schema, StoredFinding, StoredSet } from '../postgres/tables/schema.ts';
import { encodeFinding, hashOf } from './check-runs.ts';

/** A check to save. Times are milliseconds since 1970. */
export interface CheckOrder {
  readonly domainId: number;
  /** `domain_checks.seq` when the name was loaded. */
  readonly seq: number;
  readonly kind: CheckKind;
  /** A UUID by which the caller finds the run. */
  readonly request?: string | undefined;
  readonly evidence: Evidence;
  readonly judgement: Judgement;
  readonly decision: Decision;
  /** True if all records of the domain may be served before the claim is proved. */
  readonly open: boolean;
  /** The sets that prove the domain from now on. Undefined if they do not change. */
  readonly setsAfter?: readonly StoredSet[] | undefined;
  readonly takeoverSeenAt: number | undefined;
  /** False if the check ran for another claim of the name. It is then logged for this domain only if its outcome is new. */
  readonly isOwnTime: boolean;
  /** `at` is undefined if there is no next check. */
  readonly nextCheckAt: {
    readonly at: number | undefined;
    readonly intervalSeconds: number;
    readonly unknowns: number;
  };
  readonly startedAt: number;
  readonly finishedAt: number;
  /** Observations of the vantage points. Undefined if none was queried. */
  readonly vantages?: readonly VoiceView[] | undefined;
}

/** The outcome as columns. Undefined columns keep their values. */
export interface CheckOutcome {
  readonly to: Decision['to'];
  readonly state: CheckState;
  readonly verdict: Verdict;
  /** Cause of an `unknown` verdict, in a comparable form. Undefined for other verdicts. */
  readonly cause: readonly string[] | undefined;
  readonly findings: readonly StoredFinding[];
  readonly currentNs: string[] | undefined;
  readonly matchedNs: string[] | undefined;
  readonly delegatedNs: string[] | null | undefined;
  readonly parent: string | undefined;
  readonly oursAt: Date | undefined;
  readonly finishedAt: Date;
  readonly open: boolean;
  readonly setsAfter: readonly StoredSet[] | undefined;
  readonly takeoverSeenAt: number | undefined;
  readonly nextAt: Date | null;
  readonly intervalSeconds: number;
  readonly unknowns: number;
}

export function outcomeOf({
  judgement,
  decision,
  evidence,
  nextCheckAt,
  finishedAt,
  open,
  setsAfter,
  takeoverSeenAt,
}: CheckOrder): CheckOutcome {
  const { verdict, observed, matched, oursShown } = judgement;
  return {
    to: decision.to,
    state: decision.state,
    verdict,
    cause: verdict === 'unknown' ? causeOf(evidence) : undefined,
    findings: decision.findings.map(encodeFinding),
    currentNs: observed && encodeNames(observed),
    matchedNs: matched && encodeNames(matched),
    delegatedNs: delegatedAfter(judgement, decision.to),
    parent: evidence.parent && encodeNameColumn(evidence.parent),
    oursAt: oursShown ? new Date(finishedAt) : undefined,
    finishedAt: new Date(finishedAt),
    open,
    setsAfter,
    takeoverSeenAt,
    nextAt: dateOf(nextCheckAt.at),
    intervalSeconds: nextCheckAt.intervalSeconds,
    unknowns: nextCheckAt.unknowns,
  };
}

/**
 * Returns the set that the parent delegates to. While the domain counts as delegated, only another set replaces it:
 * clients that still use the old delegation find the nameserver names that sent them here.
 */
function delegatedAfter({ matched, oursShown }: Judgement, to: Decision['to']): string[] | null | undefined {
  if (isEnd(to)) return null;
  if (matched !== undefined) return encodeNames(matched);
  return (to === 'pending' || to === 'moved' || to === 'ended') && oursShown === false ? null : undefined;
}

/** Returns true if the domain is no longer checked in this status. */
export function isEnd(to: Decision['to']): to is 'disabled' | 'left' {
  return to === 'disabled' || to === 'left';
}

/** Returns a hash of the outcome. Consecutive checks with equal outcomes are counted as one run. */
export function outcomeHash({ to, state, verdict, cause, findings, ...seen }: CheckOutcome): string {
  const { currentNs, matchedNs, parent } = seen;
  const since = to === 'active' ? undefined : state.since; // a restarted domain gets another run
  // An occasional lost packet does not make a new outcome.
  const lasting = findings
    .filter(({ code }) => code !== 'PARENT_FAILS')
    // The message names the queried addresses, which differ between checks. The cause has the replies.
    .map((finding) => (finding.code === 'PARENTS_DISAGREE' ? finding.code : finding));
  const isUnknown = cause === undefined ? [] : [cause];
  return hashOf([to, since, verdict, lasting, currentNs, matchedNs, parent, ...isUnknown]);
}

/** Returns the distinct replies, regardless of which servers sent them and how many. */
function causeOf({ parent, failure, servers }: Evidence): string[] {
  if (failure !== undefined) return [failure.reason, encodeNameColumn(failure.zone)];
  // Equal to the cause of a remembered timeout.
  const isSilent = servers.every(({ outcome }) => outcome === 'timeout');
  if (isSilent && parent !== undefined) return ['unreachable', encodeNameColumn(parent)];
  const said = servers.map(({ outcome, ns }) => [outcome, ...encodeNames(ns)].join(' '));
  return [...new Set(said)].sort();
}

interface Column {
  readonly type: 'boolean' | 'integer' | 'text' | 'text[]' | 'timestamptz' | 'timestamptz[]';
  /** If the check did not see it, the column keeps its value. No check sets it to null. */
  readonly mayStay?: true;
}

/** The columns of `domain_checks` that every check sets, for any resulting status. */
export const REMEMBERED = {
  parent: { type: 'text', mayStay: true },
  current_ns: { type: 'text[]', mayStay: true },
  ours_at: { type: 'timestamptz', mayStay: true },
  miss_count: { type: 'integer' },
  first_miss_at: { type: 'timestamptz' },
  last_miss_at: { type: 'timestamptz' },
  conclusive_at: { type: 'timestamptz' },
  conclusive_ours: { type: 'boolean' },
  conclusive_others: { type: 'boolean' },
  takeover_seen_at: { type: 'timestamptz' },
  witness_at: { type: 'timestamptz' },
  seen_ns: { type: 'integer' },
  ns_changed_at: { type: 'timestamptz[]' },
  due_at: { type: 'timestamptz' },
  next_at: { type: 'timestamptz' },
  interval_seconds: { type: 'integer' },
  unknowns: { type: 'integer' },
} as const satisfies Partial<Record<keyof Schema['domain_checks'], Column>>;

type Remembered = {
  readonly [C in keyof typeof REMEMBERED]: (typeof REMEMBERED)[C] extends { mayStay: true }
    ? NonNullable<Selectable<Schema['domain_checks']>[C]> | undefined
    : Selectable<Schema['domain_checks']>[C];
};

export function rememberedColumns({
  state,
  currentNs,
  parent,
  oursAt,
  ...outcome
}: CheckOutcome): Remembered {
  const { misses, conclusive } = state;
  return {
    parent,
    current_ns: currentNs,
    ours_at: oursAt,
    miss_count: misses?.count ?? 0,
    first_miss_at: dateOf(misses?.firstAt),
    last_miss_at: dateOf(misses?.lastAt),
    conclusive_at: dateOf(conclusive?.at),
    conclusive_ours: conclusive?.oursShown ?? null,
    conclusive_others: conclusive?.othersShown ?? null,
    takeover_seen_at: dateOf(outcome.takeoverSeenAt),
    witness_at: dateOf(state.witnessAt),
    seen_ns: state.steadiness?.seen ?? null,
    ns_changed_at: state.steadiness?.changedAt.map((at) => new Date(at)) ?? null,
    due_at: outcome.nextAt,
    // In external mode the other kind of check sets these.
    next_at: isUnseen(state) ? null : outcome.nextAt,
    interval_seconds: isUnseen(state) ? null : outcome.intervalSeconds,
    unknowns: outcome.unknowns,
  };
}

/** Columns of the domain's row that affect what is published. Status and findings are set separately. */
export function publishedColumns({ delegatedNs, open, setsAfter }: CheckOutcome) {
  return {
    delegated_ns: delegatedNs,
    open,
    ...(setsAfter !== undefined && { ns_sets: JSON.stringify(setsAfter) }),
  };
}

/** Checks of a domain that is leaving or has ended are not shown to its owner. */
function isUnseen({ status }: CheckState): boolean {
  return status === 'leaving' || status === 'ended';
}

function dateOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}

/** Replaces the findings of checks, and keeps those of other writers. */
export function findingsAfter(
  { findings: before }: Pick<DomainRow, 'findings'>,
  { findings, to }: CheckOutcome,
): string {
  if (to === 'ended') return JSON.stringify(before); // keep the reason
  const kept = before.filter(({ code }) => !CODES.includes(code));
  return JSON.stringify([...kept, ...findings]);
}

export const CODES: readonly string[] = FINDING_CODES;
