// Compares what happens to simulated names with the truth: the account for which registrants changed the parent. It keeps
// its own log of observations and holders, and does not know the rules' conclusions.

import { type CheckedClaim, isSameSet } from '../../../../src/checks/claims/name-claims.ts';
import type { NameserverSet } from '../../../../src/checks/delegation/check-state.ts';
import type { Evidence } from '../../../../src/checks/delegation/evidence.ts';
import type { Name } from '../../../../src/dns/name.ts';
import { RULES } from '../../world/made-claims.ts';
import { DAY, HOUR, MINUTE } from '../virtual-time.ts';
import type { SimulatedClaim } from './simulated-claim.ts';
import type { SimulatedRegistry } from './simulated-registry.ts';
import type { AskedByStrangers } from './simulated-reports.ts';
import type { SimulatedSets } from './simulated-sets.ts';
import type { Activation, SimulatedStore } from './simulated-store.ts';

/** The closed list of what the rules permit. */
export const ADMITTED = [
  /** Its names are at the parent because the registrant wrote them or did not remove them. */
  "the registrant wrote or left standing another account's set",
  /** Also a shared set: never sighted here, absent or elsewhere at the claim's first check, and then back. */
  'a dangling delegation to a shared set, never sighted here, came back',
  'the holder of the last 90 days was back on a shared set',
  'the sightings of a shared set were older than two years',
  'there is one static set',
  'every address of the parent that answered lied',
] as const;
export type Cause = (typeof ADMITTED)[number];

export type Violation =
  | 'hijacked by a lie'
  | 'hijacked'
  | 'two accounts hold the name'
  | 'taken at once'
  | 'moved too early'
  | 'active with a stale DS'
  | 'locked out'
  | 'answered too long'
  | 'answered although sighted';

/** How long more than the apex of an unproven claim may be answered while the parent shows other accounts' names. */
const ANSWERED_MS = 5000;
/** The same if an attacker queries its names constantly: few of them, or many. */
const ASKED_MS = { never: 0, alone: MINUTE / 2, 'among many': 5 * MINUTE } as const;
/** Duration of a check that waits for a silent server, and the time until it is repeated if no server answered. */
const SILENT_MS = { never: 48_000, alone: 48_000, 'among many': 16_000 + 5 * MINUTE } as const;
const LOCKED_OUT_MS = 1.5 * DAY;
const SECOND_LOOK_MS = MINUTE;
const TWO_YEARS = 730 * DAY;

export class HijackJudge {
  readonly violations: { readonly kind: Violation; readonly text: string }[] = [];
  readonly causes = new Set<Cause>();
  /** Seconds from the moment that every server of the parent shows an honest owner's set. */
  readonly activeAfter: number[] = [];
  /** Those of them among eight attackers or more. */
  readonly activeAfterBesideMany: number[] = [];
  /** Honest owners who took the name from a holder. */
  taken = 0;
  /** Honest owners to whom no set was left (`SETS_SPENT`). */
  lockedOutBySpent = 0;
}

export class NameTruth {
  private readonly name: number;
  private readonly judge: HijackJudge;
  private readonly asked: AskedByStrangers;
  private readonly sets: SimulatedSets;
  private readonly registry: SimulatedRegistry;
  private readonly seen: { readonly at: number; readonly names: readonly Name[] }[] = [];
  private holding: readonly number[] = [];
  private readonly heldUntil = new Map<number, number>();
  /** Actual data of all servers at the first conclusive check of a claim, by the claim's id and start. */
  private readonly firstLook = new Map<string, ReadonlySet<Name>>();
  private exposed: { readonly claim: number; readonly since: number; readonly wasSeen: boolean } | undefined;
  private readonly lockedOut = new Set<number>();
  /** Checks since the start of a case in which some server was silent. */
  private slowChecks = 0;
  /** True if some honest server answered in the newest check. */
  private toldTruth = true;

  constructor(
    name: number,
    {
      judge,
      sets,
      asked,
    }: { readonly judge: HijackJudge; readonly sets: SimulatedSets; readonly asked: AskedByStrangers },
    registry: SimulatedRegistry,
  ) {
    this.name = name;
    this.judge = judge;
    this.sets = sets;
    this.asked = asked;
    this.registry = registry;
  }

  look(store: SimulatedStore, { servers, startedAt: at }: Evidence): void {
    const told = servers.filter(({ outcome }) => outcome !== 'timeout');
    if (told.length < servers.length) this.slowChecks++;
    if (told.length === 0) return;
    this.toldTruth = told.some(({ address }) => !this.registry.lies(address, at));
    const shown = [...new Set(told.flatMap(({ ns }) => ns))].filter((ns) => this.sets.ours.has(ns));
    const last = this.seen.at(-1);
    if (shown.length > 0 && (last === undefined || at - last.at > DAY || last.names.join() !== shown.join()))
      this.seen.push({ at, names: shown });
    const [first, ...rest] = this.registry.truly(at);
    const truly = new Set(first?.ns.filter((ns) => rest.every((other) => other.ns.includes(ns))));
    for (const claim of store.claims) {
      const key = lifeOf(claim);
      if (claim.status === 'pending' && !this.firstLook.has(key)) this.firstLook.set(key, truly);
    }
  }

  activated(
    { claim, matched, from }: Activation,
    store: SimulatedStore,
    at: number,
    since: number,
    wasHeld: boolean,
  ): void {
    const { registry } = this;
    const others = store.claims.filter((other) => other !== claim && isHolding(other));
    if (others.length > 0) this.violate('two accounts hold the name', at, claim);
    if (wasHeld && at - registry.unchangedSince < SECOND_LOOK_MS) this.violate('taken at once', at, claim);
    if (registry.truly(since).every(({ hasDs }) => hasDs)) this.violate('active with a stale DS', at, claim);
    const truly = registry.truly(since).filter(({ ns }) => isSameSet(ns, matched));
    if (truly.length === 0) {
      if (this.toldTruth) this.violate('hijacked by a lie', at, claim);
      else this.admit(ADMITTED[5]);
      return;
    }
    if (truly.some(({ meant }) => meant === claim.accountId) || from === 'moved') return;
    const cause = this.causeOf(claim, matched, at);
    if (cause === undefined) this.violate('hijacked', at, claim);
    else this.admit(cause);
  }

  /** A holder moves only after the parent was without its set for MOVED_AFTER. A lie in that time excuses a move. */
  moved(claim: CheckedClaim, lookedAt: number, at: number): void {
    const { history, maxLag } = this.registry;
    const everywhere = history.filter((published) => published.at <= lookedAt - maxLag);
    const last = everywhere.findLastIndex(({ ns }) => claim.sets.some(({ names }) => isSameSet(names, ns)));
    const goneAt = everywhere[last + 1]?.at ?? lookedAt;
    if (at - goneAt < RULES.movedAfterMs && !this.registry.isLiedAbout(at - 2 * RULES.movedAfterMs, at))
      this.violate('moved too early', at, claim);
  }

  private admit(cause: Cause): void {
    this.judge.causes.add(cause);
  }

  timed(claim: SimulatedClaim, begunAt: number, wasHeld: boolean, strangers: number, at: number): void {
    const { registry, judge } = this;
    const { meant, hasDs } = registry.newest;
    const ready = Math.max(registry.everywhereAt, begunAt);
    if (meant !== claim.accountId || hasDs || ready - begunAt > 6 * HOUR) return;
    if (registry.isTroubled(ready - HOUR, at)) return;
    const seconds = (at - ready) / 1000;
    if (wasHeld) judge.taken++;
    else judge.activeAfter.push(seconds);
    if (!wasHeld && strangers >= 8) judge.activeAfterBesideMany.push(seconds);
  }

  /** An honest owner checks: the parent has shown the assigned set for long. */
  owned(claim: SimulatedClaim, store: SimulatedStore, at: number): void {
    const { registry, judge } = this;
    const { ns, meant, hasDs } = registry.newest;
    if (
      isHolding(claim) ||
      claim.status === 'disabled' ||
      claim.external ||
      this.lockedOut.has(claim.accountId)
    )
      return;
    const set = store.ownSet(claim);
    const ready = Math.max(registry.everywhereAt, claim.claimedAt);
    if (set === undefined) judge.lockedOutBySpent++;
    else {
      if (hasDs || meant !== claim.accountId || !isSameSet(ns, set)) return;
      if (at - ready < LOCKED_OUT_MS || registry.isTroubled(ready - HOUR, at)) return;
      this.violate('locked out', at, claim);
    }
    this.lockedOut.add(claim.accountId);
  }

  /** An honest owner could not even claim the name for long. */
  shutOut(accountId: number, at: number): void {
    if (this.lockedOut.has(accountId)) return;
    this.lockedOut.add(accountId);
    this.violate('locked out', at);
  }

  /** Records the nodes' answers and the parent's data from now on. Returns true if a case begins with queries. */
  answered(store: SimulatedStore, at: number): boolean {
    for (const accountId of this.holding) this.heldUntil.set(accountId, at);
    this.holding = store.claims.filter(isHolding).map(({ accountId }) => accountId);
    const claim = store.claims.find(({ id }) => id === store.answered?.id);
    const isWhole = claim !== undefined && store.answered?.served === 'full' && isUnproved(claim);
    const own = isWhole ? new Set(store.setsOf(claim).flatMap(({ names }) => names)) : undefined;
    const isForeign = (ns: Name) => this.sets.ours.has(ns) && own?.has(ns) !== true;
    const isExposed = isWhole && this.registry.truly(at).every(({ ns }) => ns.some(isForeign));
    const id = isExposed ? claim.id : undefined;
    if (this.exposed !== undefined && this.exposed.claim !== id) this.endExposure(at);
    if (id === undefined || claim === undefined || this.exposed !== undefined) return false;
    const names = this.registry.newest.ns.filter(isForeign);
    const wasSeen = this.seen.some(
      (seen) => at - seen.at < TWO_YEARS && names.every((name) => seen.names.includes(name)),
    );
    this.slowChecks = 0;
    this.exposed = { claim: id, since: at, wasSeen };
    return true;
  }

  get isExposed(): boolean {
    return this.exposed !== undefined;
  }

  private endExposure(at: number): void {
    if (this.exposed === undefined) return;
    const { since, wasSeen } = this.exposed;
    this.exposed = undefined;
    if (at === since) return;
    if (wasSeen) this.violate('answered although sighted', at);
    const most = ANSWERED_MS + ASKED_MS[this.asked] + this.slowChecks * SILENT_MS[this.asked];
    if (at - since > most) this.violate('answered too long', at);
  }

  private causeOf(claim: SimulatedClaim, matched: NameserverSet, at: number): Cause | undefined {
    if (this.sets.exclusiveTo(matched) === claim.accountId) return ADMITTED[0];
    if (this.sets.kind === 'pool') return undefined;
    const { history } = this.registry;
    const isLeft = history.some(({ ns, meant }) => meant === claim.accountId && isSameSet(ns, matched));
    const isExclusive =
      claim.sets !== 'every' && claim.sets.some((set) => set.exclusive && isSameSet(set.names, matched));
    if (isExclusive && isLeft) return ADMITTED[0];
    if (this.sets.kind === 'one' && !this.wasHeldByOthers(claim)) return ADMITTED[4];
    const before = this.heldUntil.get(claim.accountId);
    if (before !== undefined && before < at && claim.claimedAt - before < 90 * DAY + MINUTE)
      return ADMITTED[2];
    const sighted = this.seen.filter(
      (seen) => seen.at < claim.claimedAt && seen.names.some((name) => matched.includes(name)),
    );
    const firstLook = this.firstLook.get(lifeOf(claim));
    if (firstLook !== undefined && matched.some((name) => firstLook.has(name))) return undefined;
    if (sighted.length === 0) return this.wasWritten(claim, matched) ? ADMITTED[0] : ADMITTED[1];
    if (sighted.every((seen) => claim.claimedAt - seen.at >= TWO_YEARS - 8 * DAY)) return ADMITTED[3];
    return undefined;
  }

  private wasHeldByOthers({ accountId, claimedAt }: SimulatedClaim): boolean {
    return [...this.heldUntil].some(
      ([holder, until]) => holder !== accountId && until < claimedAt && claimedAt - until < TWO_YEARS,
    );
  }

  /** True if the registrant wrote the set after the claim was made, and it differs from the previous one. */
  private wasWritten({ claimedAt }: SimulatedClaim, matched: NameserverSet): boolean {
    const { history } = this.registry;
    return !history.some(({ at, ns }) => at < claimedAt && isSameSet(ns, matched));
  }

  private violate(kind: Violation, at: number, claim?: Pick<SimulatedClaim, 'accountId'>): void {
    const who = claim === undefined ? '' : `, account ${claim.accountId}`;
    const text = `${kind}: name ${this.name}${who}, day ${(at / DAY).toFixed(3)}`;
    this.judge.violations.push({ kind, text });
  }
}

function isHolding({ status, leaving }: SimulatedClaim): boolean {
  return leaving || status === 'active' || status === 'moved';
}

/** A domain that was never proved, or not since it was restarted. */
function isUnproved({ status, leaving, external }: SimulatedClaim): boolean {
  return (status === 'pending' || status === 'unverified') && !(leaving && external);
}

function lifeOf({ id, claimedAt }: SimulatedClaim): string {
  return `${id} ${claimedAt}`;
}
