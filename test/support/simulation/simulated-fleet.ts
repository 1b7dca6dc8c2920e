// Runs the real rules of the delegation checker over simulated domains and parents in virtual time. The rules can be
// swapped for broken ones, which must not go unnoticed.

import { type CheckCounts, isOff, isTurn, judgeBreaker } from '../../../src/checks/delegation/breaker.ts';
import type { CheckState } from '../../../src/checks/delegation/check-state.ts';
import { judgeDelegation } from '../../../src/checks/delegation/judge-delegation.ts';
import { nextCheckAt } from '../../../src/checks/delegation/next-check-at.ts';
import { nextStatus } from '../../../src/checks/delegation/next-status.ts';
import type { Verdict } from '../../../src/checks/delegation/verdict.ts';
import { printName } from '../../../src/dns/name.ts';
import { type Random, randomFrom } from '../random/random-zones.ts';
import { EXPECTED, makeDomain, type SimulatedDomain } from './simulated-domains.ts';
import { END, makeParent, makeWeather, observe, type Weather } from './simulated-parents.ts';
import { RULES } from './simulated-rules.ts';
import { Truth, type Violation } from './simulated-truth.ts';
import { EventQueue, MINUTE, TimeQueue } from './virtual-time.ts';

export const REAL = { judge: judgeDelegation, next: nextStatus };
export type CheckerUnderTest = typeof REAL;

export interface SimulationOptions {
  readonly seed: number;
  readonly domains: number;
  readonly parents: number;
  readonly checker?: CheckerUnderTest;
  /** Ends with the first violation of this kind. */
  readonly stopsAt?: Violation;
}

export class Simulation {
  readonly truth: Truth;
  /** As `active → moved`. */
  readonly moves = new Set<string>();
  /** Checks whose move the breaker held. */
  held = 0;
  private readonly random: Random;
  private readonly weather: Weather;
  private readonly checker: CheckerUnderTest;
  private readonly stopsAt: Violation | undefined;
  private readonly due = new TimeQueue<SimulatedDomain>();
  private readonly acts = new EventQueue();
  private readonly breaker = new SimulatedBreaker();
  /** What the workers' clock is ahead of the real one. */
  private offset = 0;

  constructor({ seed, domains, parents, checker = REAL, stopsAt }: SimulationOptions) {
    this.random = randomFrom(seed);
    this.weather = makeWeather(this.random);
    this.checker = checker;
    this.stopsAt = stopsAt;
    this.truth = new Truth(this.weather);
    const allParents = Array.from({ length: parents }, (_, i) => makeParent(this.random, i));
    const all = Array.from({ length: domains }, (_, i) => makeDomain(this.random, i, allParents));
    for (const domain of all) this.plan(domain);
    const { clock } = this.weather;
    for (const [i, { from, offset }] of clock.entries()) {
      this.offset = offset;
      this.runUntil(clock[i + 1]?.from ?? END, from);
    }
    if (!this.isStopped()) this.truth.judgeTheEnd(all);
  }

  private isStopped(): boolean {
    return this.stopsAt !== undefined && this.truth.violations.at(-1)?.kind === this.stopsAt;
  }

  private plan(domain: SimulatedDomain): void {
    const { state, createdAt, switchesAt } = domain;
    if (state !== undefined) this.due.add(domain.due, domain);
    else this.acts.add(createdAt, () => this.begin(domain, 'pending', createdAt));
    if (switchesAt !== undefined)
      this.acts.add(switchesAt, () => {
        domain.enteredAt = switchesAt;
        if (domain.state !== undefined) this.begin(domain, 'leaving', switchesAt);
      });
  }

  private begin(domain: SimulatedDomain, status: 'pending' | 'leaving', now: number): void {
    const since = now + this.offset;
    const { witnessAt } = domain.state ?? { witnessAt: undefined };
    domain.state = { status, since, misses: undefined, conclusive: undefined, witnessAt };
    this.schedule(domain, since);
  }

  /** As long as the clock is off by the same. */
  private runUntil(end: number, start: number): void {
    for (let now = start; !this.isStopped(); ) {
      const dueAt = Math.max(now, this.due.next - this.offset);
      if (this.acts.next <= dueAt && this.acts.next < end) {
        now = this.acts.next;
        this.acts.take()?.item();
      } else if (dueAt < end) {
        now = dueAt;
        const entry = this.due.take();
        // an entry that another one replaced is passed over
        if (entry?.at === entry?.item.due && entry?.item.state !== undefined) this.check(entry.item, now);
      } else return;
    }
  }

  private schedule(domain: SimulatedDomain, due: number): void {
    domain.due = due;
    this.due.add(due, domain);
  }

  /** Observe, judge, next; and what the store would save is kept here. */
  private check(domain: SimulatedDomain, now: number): void {
    const { parent, history, name } = domain;
    const state = domain.state as CheckState;
    const evidence = observe(this.random, this.weather, parent, name, history, now);
    const judgement = this.checker.judge(evidence, EXPECTED);
    const at = evidence.finishedAt + this.offset;
    const frozen = this.breaker.isFrozen(printName(parent.zone), at);
    const decision = this.checker.next(state, judgement, at, RULES, frozen);
    const next = nextCheckAt(decision.state, judgement, at, this.random(), {
      before: domain.unknowns,
      isHeard: judgement.findings.some(({ code }) => code === 'PARENTS_DISAGREE'),
    });
    if (state.status === 'active')
      this.breaker.count(printName(parent.zone), domain.lastVerdict, judgement.verdict, at);
    if (decision.frozen) {
      this.held++;
      domain.heldAt = now;
    }
    this.truth.look(domain, evidence.servers, now);
    this.truth.judge(domain, state, decision, now, evidence.finishedAt);
    domain.lastVerdict = judgement.verdict;
    domain.unknowns = next.unknowns;
    if (decision.to !== state.status) {
      this.moves.add(`${state.status} → ${decision.to}`);
      domain.enteredAt = now;
    }
    const isOver = decision.to === 'disabled' || decision.to === 'left';
    domain.state = isOver ? undefined : decision.state;
    if (!isOver && next.at !== undefined) this.schedule(domain, next.at);
  }
}

/** What the breaker is judged by, in minutes of the workers' clock. */
class SimulatedBreaker {
  private readonly minutes = new Map<number, Map<string, CheckCounts>>();
  private minute = Number.NaN;
  private frozen: ReadonlySet<string> = new Set();

  isFrozen(parent: string, at: number): boolean {
    this.advance(at);
    return this.frozen.has('') || this.frozen.has(parent);
  }

  count(parent: string, before: Verdict | undefined, after: Verdict, at: number): void {
    this.advance(at);
    const counts = this.minutes.get(this.minute) ?? new Map<string, CheckCounts>();
    this.minutes.set(this.minute, counts);
    const sum = counts.get(parent) ?? { parent, checked: 0, turned: 0, off: 0 };
    counts.set(parent, {
      parent,
      checked: sum.checked + 1,
      turned: sum.turned + (isTurn(before, after) ? 1 : 0),
      off: sum.off + (isOff(after) ? 1 : 0),
    });
  }

  private advance(at: number): void {
    const minute = Math.floor(at / MINUTE);
    if (minute === this.minute) return;
    this.minute = minute;
    for (const old of this.minutes.keys()) if (old <= minute - 15 || old > minute) this.minutes.delete(old);
    const counts = [...this.minutes.values()].flatMap((sums) => [...sums.values()]);
    this.frozen = new Set(judgeBreaker(counts, this.frozen).map(({ parent }) => parent));
  }
}
