// The claims of one simulated name: the work of src/store and workers/jobs/check-delegation.ts with the pure decisions, in
// memory. The decisions can be replaced with broken ones, which must be detected.

import {
  type AnsweredDomain,
  answeredDomain,
  type NamedDomain,
} from '../../../../src/checks/claims/answered.ts';
import {
  choosePoolSets,
  chooseStaticSets,
  endingRights,
  isNewToName,
  type NamePast,
  type SetRight,
} from '../../../../src/checks/claims/choose-sets.ts';
import { claimsWithoutSet, type JudgedName, judgeName } from '../../../../src/checks/claims/judge-name.ts';
import { mayClaim } from '../../../../src/checks/claims/may-claim.ts';
import {
  type CheckedClaim,
  type ClaimSet,
  isSameSet,
  type NameClaims,
} from '../../../../src/checks/claims/name-claims.ts';
import {
  HOLDERS_KEPT_MS,
  type NameHolder,
  wasHeldByOthers,
  wasHolder,
} from '../../../../src/checks/claims/name-holders.ts';
import { nextTurn, TURN_EACH_MS } from '../../../../src/checks/claims/next-turn.ts';
import { areTooMany, isNewSighting, SIGHTINGS_KEPT_MS } from '../../../../src/checks/claims/sightings.ts';
import type { NameserverSet } from '../../../../src/checks/delegation/check-state.ts';
import type { Evidence } from '../../../../src/checks/delegation/evidence.ts';
import { planAsked } from '../../../../src/checks/shares/asked.ts';
import type { Name } from '../../../../src/dns/name.ts';
import { RULES } from '../../world/made-claims.ts';
import { DAY } from '../virtual-time.ts';
import { checkedStatusOf, newClaim, type SimulatedClaim, stageOf } from './simulated-claim.ts';
import type { SimulatedSets } from './simulated-sets.ts';

/** The decisions that can be broken. */
export const DECISIONS = {
  judgeName,
  claimsWithoutSet,
  chooseStaticSets,
  choosePoolSets,
  isNewToName,
  endingRights,
  mayClaim,
  wasHolder,
  wasHeldByOthers,
  isNewSighting,
  areTooMany,
  answeredDomain,
  nextTurn,
  planAsked,
} as const;
export type Decisions = typeof DECISIONS;

interface Sighting {
  readonly names: readonly Name[];
  lastSeenAt: number;
}

export interface Activation {
  readonly claim: SimulatedClaim;
  readonly matched: NameserverSet;
  readonly from: SimulatedClaim['status'];
}

export class SimulatedStore {
  claims: SimulatedClaim[] = [];
  answered: AnsweredDomain | undefined;
  /** Grows with every change, so that a concurrent check is not saved. */
  seq = 0;
  due = Number.POSITIVE_INFINITY;
  private rights: SetRight[] = [];
  private sightings: Sighting[] = [];
  private holders: NameHolder[] = [];
  private takeovers: number[] = [];
  private gone: { readonly accountId: number; readonly since: number; readonly at: number }[] = [];
  private lastId = 0;
  private readonly sets: SimulatedSets;
  private readonly decide: Decisions;
  private readonly random: () => number;

  constructor(sets: SimulatedSets, decide: Decisions, random: () => number) {
    this.sets = sets;
    this.decide = decide;
    this.random = random;
  }

  find(accountId: number): SimulatedClaim | undefined {
    return this.claims.find((claim) => claim.accountId === accountId);
  }

  /** The set assigned to the owner. Undefined if all are spent. */
  ownSet(claim: SimulatedClaim): NameserverSet | undefined {
    return this.setsOf(claim)[0]?.names;
  }

  setsOf({ sets, delegated }: SimulatedClaim): readonly ClaimSet[] {
    const all = sets === 'every' ? this.sets.staticSets.map((names) => ({ names, exclusive: false })) : sets;
    const own = all.find(({ names }) => delegated !== undefined && isSameSet(names, delegated));
    return own === undefined ? all : [own, ...all.filter((set) => set !== own)];
  }

  create(
    accountId: number,
    at: number,
    { external = false, transfer = false },
  ): 'created' | 'held' | 'full' | 'own' {
    const may = this.mayClaim(accountId, at, transfer);
    if (may.kind !== 'yes') return may.kind === 'banned' ? 'held' : may.kind;
    this.displace(may.displaced, at);
    const sets = this.choose(accountId, at);
    const before = this.gone.findLast((gone) => gone.accountId === accountId && at - gone.at < DAY);
    const claim = newClaim({ id: ++this.lastId, accountId, at, sets, external });
    if (before !== undefined) claim.since = before.since;
    this.claims.push(claim);
    this.changed(at, at);
    return 'created';
  }

  remove(claim: SimulatedClaim, at: number): void {
    this.saveHolder(claim, at);
    this.claims = this.claims.filter((other) => other !== claim);
    this.gone.push({ accountId: claim.accountId, since: claim.since, at });
    this.endRights(claim.accountId);
    this.changed(at);
  }

  enable(claim: SimulatedClaim, at: number): boolean {
    if (claim.status !== 'disabled') return false;
    const may = this.mayClaim(claim.accountId, at, true, claim);
    if (may.kind !== 'yes') return false;
    this.displace(may.displaced, at);
    this.restart(claim, at, claim.external);
    return true;
  }

  switchMode(claim: SimulatedClaim, at: number): void {
    if (claim.status === 'disabled') return;
    this.saveHolder(claim, at);
    const wasProved = claim.status === 'active' || claim.status === 'moved';
    const leaves = !claim.external && wasProved;
    this.restart(claim, at, !claim.external);
    if (leaves) Object.assign(claim, { leaving: true, since: at });
    this.changed(at, at);
  }

  askCheck(claim: SimulatedClaim, at: number): void {
    if (checkedStatusOf(claim) === undefined) return;
    if (claim.status === 'pending' && at - claim.turnLastAskedAt > TURN_EACH_MS)
      Object.assign(claim, { turnAskedAt: at, turnLastAskedAt: at });
    this.due = Math.min(this.due, at);
  }

  /** A check starts: the data that it needs about the name. */
  load(at: number): NameClaims {
    this.purge(at);
    const checked = this.claims.filter((claim) => checkedStatusOf(claim) !== undefined);
    const external = this.claims.find(
      ({ status, external, leaving }) => status === 'active' && external && !leaving,
    );
    return {
      claims: checked.map((claim) => this.checkedClaim(claim, at)),
      externalHolder: external && { id: external.id, accountId: external.accountId },
      alsoWaiting: this.claims.flatMap(({ status, accountId }) =>
        status === 'unverified' ? [accountId] : [],
      ),
      ours: this.sets.ours,
      staticSetCount: this.sets.staticSets.length,
      heldBy: this.holders.map(({ accountId }) => accountId),
      takeovers: this.takeovers.filter((taken) => at - taken < DAY),
    };
  }

  save(
    name: NameClaims,
    evidence: Evidence,
  ): { readonly judged: JudgedName; readonly activations: readonly Activation[] } {
    const at = evidence.finishedAt;
    const { substitutes, given } = this.replaceSpent(name, evidence);
    const judged = this.decide.judgeName(name, evidence, {
      rules: RULES,
      isFrozen: false,
      substitutes,
      random: this.random,
    });
    const { sighted } = judged;
    if (sighted !== undefined && this.decide.isNewSighting(this.sightings, sighted, at))
      this.saveSighting(sighted, at);
    const activations: Activation[] = [];
    let due = Number.POSITIVE_INFINITY;
    for (const {
      claim: before,
      judgement,
      decision,
      setsAfter,
      takeoverSeenAt,
      open,
      nextCheckAt,
    } of judged.claims) {
      const claim = this.claims.find(({ id }) => id === before.id) as SimulatedClaim;
      const from = claim.status;
      if (decision.to === 'active') this.saveHolder({ ...claim, status: 'active', movedAt: undefined }, at);
      else if (decision.to !== from) this.saveHolder(claim, at);
      if (setsAfter !== undefined) {
        const left = setsAfter.map((names) => ({
          names,
          exclusive:
            given.get(claim.id)?.exclusive ??
            before.sets.some((set) => set.exclusive && isSameSet(set.names, names)),
        }));
        const lost = before.sets.filter(({ names }) => !setsAfter.some((set) => isSameSet(set, names)));
        this.rights = this.rights.filter(
          (right) =>
            right.accountId !== claim.accountId || !lost.some(({ names }) => isSameSet(names, right.names)),
        );
        claim.sets = left;
      }
      const { misses, conclusive, witnessAt } = decision.state;
      Object.assign(claim, { misses, conclusive, witnessAt, open, takeoverSeenAt });
      Object.assign(claim, { lastVerdict: judgement.verdict, unknowns: nextCheckAt.unknowns });
      if (judgement.matched !== undefined) claim.delegated = judgement.matched;
      else if (judgement.oursShown === false && decision.to !== 'active') claim.delegated = undefined;
      if (decision.to === 'disabled') this.turnOff(claim, at);
      else if (decision.to === 'left') Object.assign(claim, { leaving: false, delegated: undefined });
      else if (decision.to !== checkedStatusOf({ ...claim, status: from })) {
        const status = decision.to === 'ended' || decision.to === 'leaving' ? from : decision.to;
        Object.assign(claim, { status, since: decision.state.since });
        if (status === 'moved') claim.movedAt = decision.state.since;
        if (status === 'pending') claim.claimedAt = at;
        if (status === 'active') activations.push({ claim, from, matched: judgement.matched ?? [] });
      }
      if (decision.to !== 'left' && nextCheckAt.at !== undefined) due = Math.min(due, nextCheckAt.at);
    }
    if (judged.isTakeover) this.takeovers.push(at);
    const lost = this.claims.find(({ id }) => id === judged.lostExternal);
    if (lost !== undefined) this.end(lost, at);
    this.due = due;
    this.changed(at);
    return { judged, activations };
  }

  /** The parent kept showing the same and was checked often: time passes without checks that change nothing. */
  skip(sighted: readonly Name[] | undefined, to: number): void {
    const same = this.sightings.find(({ names }) => names.join() === sighted?.join());
    if (same !== undefined) same.lastSeenAt = Math.max(same.lastSeenAt, to);
  }

  private mayClaim(accountId: number, at: number, transfer: boolean, self?: SimulatedClaim) {
    const rivals = this.claims
      .filter((claim) => claim !== self)
      .map((claim) => ({
        id: claim.id,
        accountId: claim.accountId,
        stage:
          stageOf(claim) === 'off'
            ? ('off' as const)
            : isHeld(claim)
              ? ('held' as const)
              : ('waiting' as const),
        isNameBanned: false,
        claimedAt: claim.claimedAt,
        isShown: claim.conclusive?.oursShown === true,
      }));
    return this.decide.mayClaim(rivals, { accountId, transfer, needsPlace: true, at });
  }

  private displace(displaced: number | undefined, at: number): void {
    const claim = this.claims.find(({ id }) => id === displaced);
    if (claim !== undefined) this.end(claim, at);
  }

  private restart(claim: SimulatedClaim, at: number, external: boolean): void {
    const sets = this.choose(claim.accountId, at);
    const { id, accountId, turnLastAskedAt } = claim;
    Object.assign(claim, newClaim({ id, accountId, at, sets, external }));
    claim.turnLastAskedAt = Math.max(claim.turnLastAskedAt, turnLastAskedAt);
    this.changed(at, at);
  }

  private choose(accountId: number, at: number): SimulatedClaim['sets'] {
    this.purge(at);
    const others = this.claims.filter(
      (claim) => claim.accountId !== accountId && claim.status !== 'disabled',
    );
    for (const other of others) {
      const sets = other.sets === 'every' ? this.setsOf(other).slice(0, 1) : other.sets;
      for (const set of sets) this.saveRight({ ...set, accountId: other.accountId });
      other.sets = sets;
    }
    const past: NamePast = {
      rights: this.rights,
      mayBeSeen:
        this.decide.wasHolder(this.holders, accountId, at) && !this.decide.areTooMany(this.sightings),
      isContested: this.decide.wasHeldByOthers(this.holders, accountId, at) || others.length > 0,
      shown: this.shown(),
    };
    const sets = this.sets.isPool
      ? this.poolSets(accountId, past)
      : this.decide.chooseStaticSets(accountId, this.sets.staticSets, past);
    if (sets !== 'every') for (const set of sets) this.saveRight({ ...set, accountId });
    return sets;
  }

  private poolSets(accountId: number, past: NamePast): readonly ClaimSet[] {
    const choice = this.decide.choosePoolSets(accountId, this.sets.accountSet(accountId), past);
    if (choice.kind === 'sets') return choice.sets;
    const substitute = this.sets.substitute(choice.isUsable);
    return [...(substitute === undefined ? [] : [substitute]), ...choice.besides];
  }

  private replaceSpent(name: NameClaims, evidence: Evidence) {
    const given = new Map<number, ClaimSet>();
    for (const { id, accountId } of this.decide.claimsWithoutSet(name, evidence)) {
      const seen = evidence.servers.flatMap(({ ns }) => ns);
      const shown = new Set([...this.shown(), ...seen]);
      const isFree = (set: NameserverSet) =>
        this.decide.isNewToName(set, accountId, { rights: this.rights, shown });
      const free = this.sets.staticSets.find(isFree);
      const set = this.sets.isPool ? this.sets.substitute(isFree) : free && { names: free, exclusive: false };
      if (set === undefined) continue;
      this.saveRight({ ...set, accountId });
      given.set(id, set);
    }
    return { given, substitutes: new Map([...given].map(([id, { names }]) => [id, names])) };
  }

  private shown(): ReadonlySet<Name> {
    if (this.decide.areTooMany(this.sightings)) return this.sets.ours;
    return new Set(this.sightings.flatMap(({ names }) => names));
  }

  private saveRight(right: SetRight): void {
    if (!this.rights.some(({ names }) => isSameSet(names, right.names))) this.rights.push(right);
  }

  private saveSighting(names: readonly Name[], at: number): void {
    const same = this.sightings.find((sighting) => sighting.names.join() === names.join());
    if (same === undefined) this.sightings.push({ names, lastSeenAt: at });
    else same.lastSeenAt = at;
  }

  private saveHolder({ accountId, external, status, movedAt }: SimulatedClaim, at: number): void {
    if (external || (status !== 'active' && status !== 'moved')) return;
    this.holders = this.holders.filter((holder) => holder.accountId !== accountId);
    this.holders.push({ accountId, activeAt: movedAt ?? at });
  }

  private endRights(accountId: number): void {
    const ending = this.decide.endingRights(
      this.rights,
      accountId,
      this.sightings.map(({ names }) => names),
    );
    this.rights = this.rights.filter((right) => !ending.includes(right));
  }

  private end(claim: SimulatedClaim, at: number): void {
    this.saveHolder(claim, at);
    this.turnOff(claim, at);
    this.due = Math.min(this.due, at + DAY);
  }

  private turnOff(claim: SimulatedClaim, at: number): void {
    Object.assign(claim, newClaim({ ...claim, at: claim.claimedAt, sets: claim.sets }), {
      status: 'disabled',
      since: at,
      turnAskedAt: undefined,
      open: false,
    });
    this.endRights(claim.accountId);
  }

  private purge(at: number): void {
    this.sightings = this.sightings.filter(({ lastSeenAt }) => at - lastSeenAt < SIGHTINGS_KEPT_MS);
    this.holders = this.holders.filter(({ activeAt }) => at - activeAt < HOLDERS_KEPT_MS);
  }

  private checkedClaim(claim: SimulatedClaim, at: number): CheckedClaim {
    const { id, accountId, since, misses, conclusive, witnessAt, takeoverSeenAt, lastVerdict, unknowns } =
      claim;
    return {
      id,
      accountId,
      state: { status: checkedStatusOf(claim) ?? 'ended', since, misses, conclusive, witnessAt },
      sets: this.setsOf(claim),
      byOperator: false,
      wasHolder: this.decide.wasHolder(this.holders, accountId, at),
      takeoverSeenAt,
      lastVerdict,
      unknowns,
    };
  }

  /** `dueAt`: a claim starts, and is checked immediately. */
  private changed(at: number, dueAt = Number.POSITIVE_INFINITY): void {
    this.seq++;
    this.due = Math.min(this.due, dueAt);
    this.settle(at);
  }

  private othersSighted(claim: SimulatedClaim): boolean {
    if (this.sightings.length === 0) return false;
    const own = this.setsOf(claim).flatMap(({ names }) => names);
    return this.sightings.some(({ names }) => names.some((name) => !own.includes(name)));
  }

  private settle(at: number): void {
    const waiting = this.claims.filter((claim) => stageOf(claim) === 'waiting');
    const next = waiting.length > 1 ? this.decide.nextTurn(waiting.map(inLine), at) : undefined;
    const turned = waiting.find(({ id }) => id === next?.id);
    if (turned !== undefined && next?.isNew)
      Object.assign(turned, { turn: next.turn, turnAskedAt: undefined });
    if (
      next !== undefined &&
      next.turn.until > at &&
      waiting.some(({ turnAskedAt }) => turnAskedAt !== undefined)
    )
      this.due = Math.min(this.due, next.turn.until);
    const sighted = this.sightings.flatMap(({ names }) => names);
    const named = this.claims.map(
      (claim): NamedDomain => ({
        id: claim.id,
        accountId: claim.accountId,
        open: claim.open,
        hasTxt: false,
        isApproved: false,
        stage: stageOf(claim),
        othersSighted: stageOf(claim) === 'waiting' && this.othersSighted(claim),
      }),
    );
    this.answered = this.decide.answeredDomain(named, {
      turn: next?.id ?? waiting[0]?.id,
      enclosing: 'none',
      sightedRights: this.rights
        .filter(({ names }) => names.some((name) => sighted.includes(name)))
        .map(({ accountId }) => accountId),
    });
  }
}

function isHeld({ status, leaving }: SimulatedClaim): boolean {
  return leaving || status === 'active' || status === 'moved';
}

function inLine({ id, turnAskedAt, turn }: SimulatedClaim) {
  return { id, hasTxt: false, askedAt: turnAskedAt, turn };
}
