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

/** An order for a check. Times are milliseconds since 1970. */
export interface CheckOrder {
  readonly domainId: number;
  /** The number from `loadCheckedName`. */
  readonly seq: number;
  readonly kind: CheckKind;
  /** A UUID by which the caller finds the run. */
  readonly request?: string | undefined;
  readonly evidence: Evidence;
  readonly judgement: Judgement;
  readonly decision: Decision;
  /** Before proof the domain may be answered whole. */
  readonly open: boolean;
  /** The sets that prove the domain from now on; undefined: they stay. */
  readonly setsAfter?: readonly StoredSet[] | undefined;
  readonly takeoverSeenAt: number | undefined;
  /** False: the check came by another claim of the name, and is counted in this domain's log only if it saw something new. */
  readonly isOwnTime: boolean;
  /** `at` is undefined when there is no next check. */
  readonly nextCheckAt: {
    readonly at: number | undefined;
    readonly intervalSeconds: number;
    readonly unknowns: number;
  };
  readonly startedAt: number;
  readonly finishedAt: number;
  /** What observers elsewhere saw; undefined: none was asked. */
  readonly vantages?: readonly VoiceView[] | undefined;
}

/** The outcome as columns; `undefined`: the column stays as it is. */
export interface CheckOutcome {
  readonly to: Decision['to'];
  readonly state: CheckState;
  readonly verdict: Verdict;
  /** Why the verdict is `unknown`, in a form that can be compared; undefined for all others. */
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
 * The set that the parent delegates to. While the domain counts as delegated here, only another set replaces it:
 * clients that come by what is left of the old delegation find the nameserver names that sent them here.
 */
function delegatedAfter({ matched, oursShown }: Judgement, to: Decision['to']): string[] | null | undefined {
  if (isEnd(to)) return null;
  if (matched !== undefined) return encodeNames(matched);
  return (to === 'pending' || to === 'moved' || to === 'ended') && oursShown === false ? null : undefined;
}

/** Whether the domain is no longer checked in this status. */
export function isEnd(to: Decision['to']): to is 'disabled' | 'left' {
  return to === 'disabled' || to === 'left';
}

/** A hash of the outcome: equal outcomes in a row are counted as one run. */
export function outcomeHash({ to, state, verdict, cause, findings, ...seen }: CheckOutcome): string {
  const { currentNs, matchedNs, parent } = seen;
  const since = to === 'active' ? undefined : state.since; // a later life of the domain is another row
  // A packet that is lost now and then makes no new outcome.
  const lasting = findings
    .filter(({ code }) => code !== 'PARENT_FAILS')
    // Its sentence tells which addresses were asked, which differ from check to check; the cause has what they said.
    .map((finding) => (finding.code === 'PARENTS_DISAGREE' ? finding.code : finding));
  const isUnknown = cause === undefined ? [] : [cause];
  return hashOf([to, since, verdict, lasting, currentNs, matchedNs, parent, ...isUnknown]);
}

/** Everything that was said, whoever said it and how many did. */
function causeOf({ parent, failure, servers }: Evidence): string[] {
  if (failure !== undefined) return [failure.reason, encodeNameColumn(failure.zone)];
  // The same as a silence that is remembered.
  const isSilent = servers.every(({ outcome }) => outcome === 'timeout');
  if (isSilent && parent !== undefined) return ['unreachable', encodeNameColumn(parent)];
  const said = servers.map(({ outcome, ns }) => [outcome, ...encodeNames(ns)].join(' '));
  return [...new Set(said)].sort();
}

interface Column {
  readonly type: 'boolean' | 'integer' | 'text' | 'text[]' | 'timestamptz' | 'timestamptz[]';
  /** The check may not have seen it: the column stays as it is then, and no check makes it null. */
  readonly mayStay?: true;
}

/** The columns of `domain_checks` that every check sets, whatever the domain's status becomes. */
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
    // in external mode that is for the other kind of check to say
    next_at: isUnseen(state) ? null : outcome.nextAt,
    interval_seconds: isUnseen(state) ? null : outcome.intervalSeconds,
    unknowns: outcome.unknowns,
  };
}

/** The columns of the domain's own row that a check sets, besides its status and findings: what is published by them. */
export function publishedColumns({ delegatedNs, open, setsAfter }: CheckOutcome) {
  return {
    delegated_ns: delegatedNs,
    open,
    ...(setsAfter !== undefined && { ns_sets: JSON.stringify(setsAfter) }),
  };
}

/** Of a domain that is leaving or ended, its owner is told nothing about checks. */
function isUnseen({ status }: CheckState): boolean {
  return status === 'leaving' || status === 'ended';
}

function dateOf(ms: number | undefined): Date | null {
  return ms === undefined ? null : new Date(ms);
}

/** The findings after a check: it writes its own anew and keeps those of other writers. */
export function findingsAfter(
  { findings: before }: Pick<DomainRow, 'findings'>,
  { findings, to }: CheckOutcome,
): string {
  if (to === 'ended') return JSON.stringify(before); // why it ended
  const kept = before.filter(({ code }) => !CODES.includes(code));
  return JSON.stringify([...kept, ...findings]);
}

export const CODES: readonly string[] = FINDING_CODES;
