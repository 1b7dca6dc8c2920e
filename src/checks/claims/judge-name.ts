// Evaluates one check of a name for all of its claims: the verdict for each claim's sets, the resulting status, and if the
// name passes to another account (docs/rules.md "Proof", "Takeovers"). Only an account's own set at the parent assigns a
// name. Missing, expired or late data never assigns or releases one.

import type { Name } from '../../dns/name.ts';
import type { NameserverSet } from '../delegation/check-state.ts';
import type { Evidence } from '../delegation/evidence.ts';
import type { Finding } from '../delegation/finding.ts';
import { FINDINGS } from '../delegation/findings.ts';
import { judgeDelegation, unknown } from '../delegation/judge-delegation.ts';
import { nextCheckAt } from '../delegation/next-check-at.ts';
import { type Decision, nextStatus, type Rules } from '../delegation/next-status.ts';
import type { Judgement } from '../delegation/verdict.ts';
import { findingsOf } from './claim-findings.ts';
import { type CheckedClaim, holderBeside, isHolding, isSameSet, type NameClaims } from './name-claims.ts';
import { spentSets } from './spent-sets.ts';
import { nextTakeoverStep, SECOND_LOOK_MS } from './takeover.ts';

export interface JudgedName {
  readonly claims: readonly JudgedClaim[];
  /** The domain in external mode that loses the name to another account's claim. */
  readonly lostExternal: number | undefined;
  /** Our nameservers that the parent shows, in its order. Empty if there are none, undefined if the check saw nothing. */
  readonly sighted: readonly Name[] | undefined;
  /** True if the name passes to another account. */
  readonly isTakeover: boolean;
}

export interface JudgedClaim {
  readonly claim: CheckedClaim;
  readonly judgement: Judgement;
  readonly decision: Decision;
  /** The sets that prove the claim from now on. Undefined if they do not change. */
  readonly setsAfter: readonly NameserverSet[] | undefined;
  readonly takeoverSeenAt: number | undefined;
  /** True if an unproven claim may be answered completely while it is the only one for its name. */
  readonly open: boolean;
  readonly nextCheckAt: ReturnType<typeof nextCheckAt>;
  /**
   * False if the check was made for a claim that is checked more often, before this claim's own check was planned. Its
   * owner must not notice.
   */
  readonly isOwnTime: boolean;
}

export interface Circumstances {
  /** The claim for which the check was made. */
  readonly asked?: number;
  readonly rules: Rules;
  /** True if the breaker holds moves, disabling and takeovers. */
  readonly isFrozen: boolean;
  readonly ourAddresses?: ReadonlySet<string>;
  /** For each claim, the replacement of its spent sets: a set that is new to this name and that no other claim has. */
  readonly substitutes?: ReadonlyMap<number, NameserverSet>;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  /** If set, remote observers did not confirm the change, so the evidence decides nothing. Contains the reason. */
  readonly withheld?: readonly Finding[];
}

/** Findings with which the parent answered but the check is inconclusive: the owner waits for us, not for the parent. */
const HEARD: ReadonlySet<string> = new Set(['PARENTS_DISAGREE', 'VANTAGES_DISAGREE', 'VANTAGES_AWAY']);

/** Returns the claims that have no set left after this check. `judgeName` needs a substitute for each. */
export function claimsWithoutSet(name: NameClaims, evidence: Evidence): readonly CheckedClaim[] {
  return name.claims.filter((claim) => {
    const { spent, left } = settleSets(name, claim, evidence, undefined);
    return spent.length > 0 && left.length === 0;
  });
}

export function judgeName(name: NameClaims, evidence: Evidence, around: Circumstances): JudgedName {
  const at = evidence.finishedAt;
  const steps = name.claims.map((claim) => judgeClaim(name, claim, evidence, around));
  const winner = steps.find(({ takes }) => takes);
  const warned = steps.some(({ takeoverSeenAt }) => takeoverSeenAt !== undefined);
  const decided = steps.map((step) => {
    const decision = decisionBeside(step, { winner, warned, at });
    const { claim, judgement } = step;
    const next = nextCheckAt(decision.state, judgement, at, around.random(), {
      before: claim.unknowns,
      isTryLater: evidence.failure?.reason === 'later',
      isHeard: judgement.findings.some(({ code }) => HEARD.has(code)),
    });
    return { step, decision, next };
  });
  const asked = decided.find(({ step }) => step.claim.id === around.asked)?.next;
  const claims = decided.map(({ step, decision, next }): JudgedClaim => {
    const { claim, judgement, takeoverSeenAt, setsAfter } = step;
    const keepsPlan = hasRarerChecks(next, asked) && decision.to === claim.state.status;
    const isOwnTime = !keepsPlan || isPlannedBy(claim, at);
    return {
      claim,
      judgement,
      decision,
      setsAfter,
      takeoverSeenAt,
      open: isOpen(claim, decision),
      nextCheckAt: sooner(isOwnTime ? next : asPlanned(next, claim), step.nextAt, at),
      isOwnTime,
    };
  });
  return {
    claims: withRoomFor(claims, steps.find(({ nextAt }) => nextAt !== undefined)?.nextAt),
    lostExternal: winner === undefined ? undefined : name.externalHolder?.id,
    sighted: sightedNames(name, evidence),
    isTakeover: winner !== undefined,
  };
}

/** Returns the decision about a claim, including the effects of the other claims of the name. */
function decisionBeside(
  step: ClaimStep,
  {
    winner,
    warned,
    at,
  }: { readonly winner: ClaimStep | undefined; readonly warned: boolean; readonly at: number },
): Decision {
  const { claim, takeoverSeenAt } = step;
  const isLoser = winner !== undefined && winner !== step && isHolding(claim);
  const isWarned = warned && winner === undefined && isHolding(claim) && takeoverSeenAt === undefined;
  const lost = isLoser ? [FINDINGS.CLAIM_LOST()] : [];
  const seen = isWarned ? [FINDINGS.TAKEOVER_SEEN(claim.sets[0]?.names)] : [];
  // The first of two checks takes the name from no account, and it does not let a domain leave.
  const isKept = warned && winner === undefined && step.decision.to === 'left';
  return {
    ...step.decision,
    ...(isKept && {
      to: 'leaving' as const,
      state: { ...step.decision.state, status: 'leaving' as const },
    }),
    ...(isLoser && {
      to: 'disabled' as const,
      state: { ...step.decision.state, status: 'ended' as const, since: at },
    }),
    findings: [...step.decision.findings, ...lost, ...seen],
  };
}

interface ClaimStep
  extends Pick<JudgedClaim, 'claim' | 'judgement' | 'decision' | 'setsAfter' | 'takeoverSeenAt'> {
  /** True if the claim takes the name from the account that holds it. */
  readonly takes: boolean;
  /** Latest time of the next check, because of a takeover. */
  readonly nextAt: number | undefined;
}

function judgeClaim(
  name: NameClaims,
  claim: CheckedClaim,
  evidence: Evidence,
  around: Circumstances,
): ClaimStep {
  const { rules, isFrozen, substitutes, ourAddresses, withheld } = around;
  const { spent, left } = settleSets(name, claim, evidence, substitutes?.get(claim.id));
  const sets = claim.state.status === 'ended' ? exclusiveSets(claim) : left;
  const judgement =
    withheld === undefined
      ? judgeDelegation(evidence, {
          sets,
          ours: name.ours,
          ...(ourAddresses && { ourAddresses }),
          ...(claim.ownDs && { ownDs: claim.ownDs }),
        })
      : unknown(withheld);
  const decision = nextStatus(claim.state, judgement, evidence.finishedAt, rules, isFrozen);
  const shown = { ...decision, findings: findingsOf(name, claim, { judgement, decision, sets }) };
  const step = {
    claim,
    judgement,
    decision: shown,
    setsAfter: spent.length > 0 ? sets : undefined,
    takeoverSeenAt: undefined,
    takes: false,
    nextAt: undefined,
  };
  const holder = holderBeside(name, claim);
  if (holder === undefined || decision.to !== 'active' || isHolding(claim)) {
    // the check saw nothing, so the earlier observation remains valid
    const keeps = judgement.oursShown === undefined && claim.state.status === 'pending';
    return { ...step, takeoverSeenAt: keeps ? claim.takeoverSeenAt : undefined };
  }
  const { takeoverSeenAt: since } = claim;
  // If the root does not validate, the fault is ours, and no name changes its account.
  const isHeld = isFrozen || judgement.rootFault === true;
  const next = nextTakeoverStep({ since, takeovers: name.takeovers, isFrozen: isHeld }, evidence, judgement);
  if (next.kind === 'taken') {
    const findings = shown.findings.filter(({ code }) => code !== 'NAME_IN_USE');
    return { ...step, decision: { ...shown, findings }, takes: true };
  }
  const waiting: Decision = {
    ...shown,
    to: 'pending',
    state: { ...decision.state, status: 'pending', since: claim.state.since },
    findings: [...shown.findings, FINDINGS.TAKEOVER_WAITS()],
  };
  return { ...step, decision: waiting, takeoverSeenAt: next.since, nextAt: next.nextAt };
}

/**
 * Returns false if the parent shows our nameservers that are not the claim's own: they belong to another account, so only
 * the apex is answered.
 */
function isOpen({ byOperator }: CheckedClaim, { state: { status, conclusive } }: Decision): boolean {
  if (status !== 'pending' || byOperator) return true;
  return conclusive !== undefined && !conclusive.othersShown;
}

/** Determines which sets a claim loses at its first conclusive check, and which remain. */
function settleSets(
  name: NameClaims,
  claim: CheckedClaim,
  evidence: Evidence,
  substitute: NameserverSet | undefined,
): { readonly spent: readonly NameserverSet[]; readonly left: readonly NameserverSet[] } {
  const all = claim.sets.map(({ names }) => names);
  if (claim.state.status !== 'pending' || claim.state.conclusive !== undefined)
    return { spent: [], left: all };
  const shown = new Set(sightedNames(name, evidence) ?? []);
  const others = name.claims.filter(({ accountId }) => accountId !== claim.accountId);
  const spent = spentSets(claim.sets, shown, {
    mayBeSeen: claim.byOperator || claim.wasHolder,
    isOnlySet: name.staticSetCount === 1,
    isContested:
      others.length > 0 ||
      [...name.alsoWaiting, ...name.heldBy].some((accountId) => accountId !== claim.accountId),
  });
  if (spent.length === 0) return { spent, left: all };
  const left = all.filter((set) => !spent.some((gone) => isSameSet(gone, set)));
  if (left.length > 0 || substitute === undefined) return { spent, left };
  return { spent, left: [substitute] };
}

function exclusiveSets({ sets }: CheckedClaim): readonly NameserverSet[] {
  return sets.filter(({ exclusive }) => exclusive).map(({ names }) => names);
}

/**
 * Returns our nameservers that any server of the parent refers to, even if the servers disagree. An AA answer counts only
 * from a server that shows the zone cut: our own servers answer with AA for every claim.
 */
export function sightedNames(
  { ours }: Pick<NameClaims, 'ours'>,
  { servers }: Evidence,
): readonly Name[] | undefined {
  const telling = servers.filter(
    ({ outcome, showsCut }) => outcome === 'referral' || (outcome === 'answer' && showsCut === true),
  );
  const silent = servers.every(
    ({ outcome }) => outcome !== 'nodata' && outcome !== 'nxdomain' && outcome !== 'alias',
  );
  if (telling.length === 0 && silent) return undefined;
  return [...new Set(telling.flatMap(({ ns }) => ns).filter((shown) => ours.has(shown)))].sort();
}

function sooner(
  next: ReturnType<typeof nextCheckAt>,
  latest: number | undefined,
  at: number,
): ReturnType<typeof nextCheckAt> {
  if (latest === undefined || (next.at !== undefined && next.at <= latest)) return next;
  return { ...next, at: latest, intervalSeconds: Math.round((latest - at) / 1000) };
}

/**
 * True if a claim is checked much more rarely than the one for which the check was made, so that its owner would notice.
 * Claims with similar intervals postpone each other's checks, so that the name is not checked more often than one of them.
 */
function hasRarerChecks(
  { intervalSeconds }: ReturnType<typeof nextCheckAt>,
  asked: ReturnType<typeof nextCheckAt> | undefined,
): boolean {
  return asked !== undefined && intervalSeconds >= 2 * asked.intervalSeconds;
}

/** How much earlier than planned a check may come, because clocks differ. */
const EARLY_MS = 5000;

function isPlannedBy({ plannedAt }: CheckedClaim, at: number): boolean {
  return plannedAt === undefined || plannedAt <= at + EARLY_MS;
}

/** Keeps the planned time of a claim's own check if this check was made for another claim. */
function asPlanned(next: ReturnType<typeof nextCheckAt>, { plannedAt }: CheckedClaim) {
  return next.at === undefined || plannedAt === undefined
    ? next
    : { ...next, at: Math.min(next.at, plannedAt) };
}

/** Postpones checks planned just before `secondAt`, when the check that decides a takeover is allowed. */
function withRoomFor(claims: readonly JudgedClaim[], secondAt: number | undefined): readonly JudgedClaim[] {
  if (secondAt === undefined) return claims;
  return claims.map((claim) => {
    const { at } = claim.nextCheckAt;
    const isJustBefore = at !== undefined && at < secondAt && secondAt - at < SECOND_LOOK_MS;
    return isJustBefore ? { ...claim, nextCheckAt: { ...claim.nextCheckAt, at: secondAt } } : claim;
  });
}
