// One name for a thousand virtual days: its registry, the accounts that claim it, the checks, and the judge. Checks between
// which nothing can change are skipped.

import type { JudgedName } from '../../../../src/checks/claims/judge-name.ts';
import { nextCheckAt } from '../../../../src/checks/delegation/next-check-at.ts';
import { RETURN_MS } from '../../../../src/checks/delegation/next-status.ts';
import type { Random } from '../../random/random-zones.ts';
import { RULES } from '../../world/made-claims.ts';
import type { Shown } from '../parent-evidence.ts';
import { DAY, EventQueue, HOUR, MINUTE } from '../virtual-time.ts';
import { type HijackJudge, NameTruth } from './hijack-judge.ts';
import { checkedStatusOf, stageOf } from './simulated-claim.ts';
import { END, type Published, SimulatedRegistry } from './simulated-registry.ts';
import { type AskedByStrangers, simulateReports } from './simulated-reports.ts';
import type { SimulatedSets } from './simulated-sets.ts';
import { type Decisions, SimulatedStore } from './simulated-store.ts';

/** This many consecutive checks see everything. Two checks with the same result are also sufficient. */
const HEARD_ENOUGH = 10;

export class SimulatedName {
  readonly random: Random;
  readonly sets: SimulatedSets;
  readonly store: SimulatedStore;
  readonly registry: SimulatedRegistry;
  /** Called when a server of the parent starts to answer differently, which is public. */
  readonly watchers: ((published: Published) => void)[] = [];
  strangers = 0;
  now = 0;
  private readonly truth: NameTruth;
  private readonly reports: ReturnType<typeof simulateReports>;
  private readonly events = new EventQueue();
  private isChecking = false;
  private lastSaid = '';
  /** How much was observed since the last event. */
  private heard = 0;

  constructor(
    name: number,
    random: Random,
    world: {
      readonly sets: SimulatedSets;
      readonly decide: Decisions;
      readonly judge: HijackJudge;
      readonly before: Shown;
      readonly lie: () => Shown;
      readonly asked: AskedByStrangers;
    },
  ) {
    this.reports = simulateReports(world.asked, world.decide.planAsked, random);
    this.random = random;
    this.sets = world.sets;
    this.store = new SimulatedStore(world.sets, world.decide, random);
    this.registry = new SimulatedRegistry(random, world.before, world.lie);
    this.truth = new NameTruth(name, world, this.registry);
    for (const at of this.registry.moments) this.at(at, () => undefined);
  }

  at(at: number, run: () => void): void {
    if (at < END) this.events.add(Math.max(at, this.now), run);
  }

  publish(shown: Shown, meant: number | undefined): void {
    const published = { ...shown, meant, at: this.now };
    this.registry.publish(published);
    for (const lag of this.registry.lags) this.at(this.now + lag, () => undefined);
    for (const watcher of this.watchers) watcher(published);
  }

  /** An honest owner checks the claim: it must be active if the parent shows the assigned set. */
  look(accountId: number): void {
    const claim = this.store.find(accountId);
    if (claim !== undefined) this.truth.owned(claim, this.store, this.now);
  }

  shutOut(accountId: number): void {
    this.truth.shutOut(accountId, this.now);
  }

  /** Runs until the days are over or no further results are needed. */
  run(isEnough: () => boolean): void {
    while (!isEnough()) {
      const due = this.isChecking ? Number.POSITIVE_INFINITY : Math.max(this.store.due, this.now);
      const isCheck = due < this.events.next;
      this.now = isCheck ? due : this.events.next;
      if (this.now >= END) return;
      if (isCheck) this.check();
      else {
        this.heard = 0;
        this.events.take()?.item();
      }
      if (this.truth.answered(this.store, this.now)) this.ask(this.reports.begin(this.now));
    }
  }

  /** Queries continue until the case ends: workers read a report at this time, and the next one follows it. */
  private ask(reportedAt: number): void {
    this.at(reportedAt, () => {
      if (!this.truth.isExposed) return;
      this.at(this.reports.plan(this.now), () => this.checkIfAsked());
      this.ask(this.reports.askAt(this.now));
    });
  }

  /** A check in progress may have read the parent before the query. */
  private checkIfAsked(): void {
    if (this.isChecking || !this.truth.isExposed || !this.reports.takeDue(this.now)) return;
    this.store.due = this.now;
  }

  private check(): void {
    const { store, registry } = this;
    store.due = Number.POSITIVE_INFINITY;
    const name = store.load(this.now);
    if (name.claims.length === 0) return;
    const isThorough = name.claims.some(({ takeoverSeenAt }) => takeoverSeenAt !== undefined);
    const evidence = registry.observe(this.now, isThorough);
    const { seq } = store;
    this.isChecking = true;
    const { heard } = this;
    this.at(evidence.finishedAt, () => {
      this.heard = heard;
      this.isChecking = false;
      if (store.seq !== seq) {
        store.due = this.now;
        return;
      }
      const held = new Set(store.claims.filter((claim) => stageOf(claim) === 'holding').map(({ id }) => id));
      this.truth.look(store, evidence);
      const begun = new Map(store.claims.map(({ id, claimedAt }) => [id, claimedAt]));
      const { judged, activations } = store.save(name, evidence);
      for (const activation of activations) {
        const { claim } = activation;
        const wasHeld = [...held].some((id) => id !== claim.id);
        this.truth.activated(activation, store, this.now, evidence.startedAt, wasHeld);
        if (activation.from === 'pending')
          this.truth.timed(claim, begun.get(claim.id) ?? 0, wasHeld, this.strangers, this.now);
      }
      for (const { claim, decision } of judged.claims)
        if (decision.to === 'moved' && claim.state.status === 'active')
          this.truth.moved(claim, evidence.startedAt, this.now);
      this.passOver(judged);
      this.checkIfAsked(); // queries during this check
    });
  }

  /** The result was the same twice, so nothing changes before an event or the end of a period. */
  private passOver(judged: JudgedName): void {
    const { store, now } = this;
    const said = judged.claims
      .map(
        ({ claim, judgement, decision }) =>
          `${claim.id} ${decision.to} ${judgement.verdict} ${judgement.confirmed}`,
      )
      .join();
    // While a server lies or is silent, results depend on the queried servers: a few checks see everything.
    this.heard = said === this.lastSaid ? this.heard + HEARD_ENOUGH / 2 : this.heard + 1;
    this.lastSaid = said;
    if (this.heard < HEARD_ENOUGH || !judged.claims.every(isQuiet)) return;
    const until = Math.min(this.events.next, ...store.claims.map((claim) => thresholdOf(claim, now)));
    if (until === Number.POSITIVE_INFINITY) return;
    const next = judged.claims.map(
      ({ decision, judgement }) => nextCheckAt(decision.state, judgement, until, 0.5).at ?? END,
    );
    const interval = Math.min(...next) - until;
    const due = until + this.random() * Math.max(interval, MINUTE);
    if (due <= store.due) return;
    store.skip(judged.sighted, until - HOUR);
    store.due = due;
  }
}

function isQuiet({ claim, decision, takeoverSeenAt, setsAfter }: JudgedName['claims'][number]): boolean {
  const { state, to } = decision;
  const isSame = to === claim.state.status || (to === 'ended' && claim.state.status === 'ended');
  return isSame && (state.misses?.count ?? 3) >= 3 && takeoverSeenAt === undefined && setsAfter === undefined;
}

/** Returns when time alone may next change a claim. */
function thresholdOf(claim: Parameters<typeof checkedStatusOf>[0], now: number): number {
  const status = checkedStatusOf(claim);
  const spans =
    status === 'pending'
      ? [RULES.pendingMaxMs, 2 * RULES.pendingMaxMs, RULES.unknownPendingMaxMs]
      : status === 'moved' || status === 'leaving'
        ? [RULES.movedGraceMs]
        : status === 'ended'
          ? [RETURN_MS, RETURN_MS + 7 * DAY]
          : [];
  const { misses } = claim;
  if (misses !== undefined && misses.firstAt + RULES.movedAfterMs > now)
    return misses.firstAt + RULES.movedAfterMs;
  // An expired period still counts: a change that waits for a confirmed check may happen with any check.
  return Math.min(
    Number.POSITIVE_INFINITY,
    ...spans.map((span) => claim.since + span).filter((at) => at > now),
  );
}
