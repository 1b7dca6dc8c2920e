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
import { TimeQueue } from './event-queue.ts';
import { EXPECTED, makeDomain, type SimulatedDomain } from './simulated-domains.ts';
import { END, MINUTE, makeParents, makeWeather, observe, type Weather } from './simulated-parents.ts';
import { RULES } from './simulated-rules.ts';
import { Truth, type Violation } from './simulated-truth.ts';

export interface CheckerUnderTest {
  readonly judge: typeof judgeDelegation;
  readonly next: typeof nextStatus;
}

export interface SimulationOptions {
  readonly seed: number;
  readonly domains: number;
  readonly parents: number;
  readonly checker?: CheckerUnderTest;
  /** Ends with the first violation of this kind. */
  readonly stopsAt?: Violation;
}

export interface Outcome {
  readonly truth: Truth;
  readonly checks: number;
  readonly seconds: number;
  /** `active → moved`, and how often. */
  readonly moves: ReadonlyMap<string, number>;
  /** Checks whose move the breaker held. */
  readonly held: number;
}

export function simulate(options: SimulationOptions): Outcome {
  return new Simulation(options).run();
}

class Simulation {
  private readonly random: Random;
  private readonly weather: Weather;
  private readonly checker: CheckerUnderTest;
  private readonly domains: readonly SimulatedDomain[];
  private readonly stopsAt: Violation | undefined;
  private readonly truth: Truth;
  private readonly due = new TimeQueue<SimulatedDomain>();
  private readonly breaker = new SimulatedBreaker();
  private readonly moves = new Map<string, number>();
  private checks = 0;
  private held = 0;
  /** What the workers' clock is ahead of the real one. */
  private offset = 0;

  constructor({ seed, domains, parents, checker, stopsAt }: SimulationOptions) {
    this.random = randomFrom(seed);
    this.weather = makeWeather(this.random);
    this.checker = checker ?? { judge: judgeDelegation, next: nextStatus };
    this.stopsAt = stopsAt;
    this.truth = new Truth(this.weather, RULES);
    const all = makeParents(this.random, parents);
    this.domains = Array.from({ length: domains }, (_, i) => makeDomain(this.random, i, all));
  }

  run(): Outcome {
    const startedAt = performance.now();
    for (const domain of this.domains) if (domain.state !== undefined) this.due.add(domain.due, domain);
    const acts = this.plannedActs();
    const { clock } = this.weather;
    for (const [i, { from, offset }] of clock.entries()) {
      this.offset = offset;
      this.runUntil(clock[i + 1]?.from ?? END, from, acts);
    }
    if (!this.isStopped()) this.truth.judgeTheEnd(this.domains);
    const seconds = (performance.now() - startedAt) / 1000;
    return { truth: this.truth, checks: this.checks, seconds, moves: this.moves, held: this.held };
  }

  private isStopped(): boolean {
    return this.stopsAt !== undefined && this.truth.violations.at(-1)?.kind === this.stopsAt;
  }

  /** What owners do at a time that was known before: the last first. */
  private plannedActs(): { at: number; act: () => void }[] {
    const acts = this.domains.flatMap((domain) => [
      ...(domain.state === undefined ? [{ at: domain.createdAt, act: () => this.create(domain) }] : []),
      ...(domain.switchesAt === undefined ? [] : [{ at: domain.switchesAt, act: () => this.leave(domain) }]),
    ]);
    return acts.sort((a, b) => b.at - a.at);
  }

  /** As long as the clock is off by the same. */
  private runUntil(end: number, start: number, acts: { at: number; act: () => void }[]): void {
    for (let now = start; !this.isStopped(); ) {
      const dueAt = Math.max(now, this.due.next - this.offset);
      const first = acts.at(-1);
      if (first !== undefined && first.at <= dueAt && first.at < end) {
        now = first.at;
        acts.pop()?.act();
      } else if (dueAt < end) {
        now = dueAt;
        const entry = this.due.take();
        // an entry that another one replaced is passed over
        if (entry?.at === entry?.item.due && entry?.item.state !== undefined) this.check(entry.item, now);
      } else return;
    }
  }

  private create(domain: SimulatedDomain): void {
    const since = domain.createdAt + this.offset;
    const nothing = { misses: undefined, conclusive: undefined, witnessAt: undefined };
    domain.state = { status: 'pending', since, ...nothing };
    this.schedule(domain, since);
  }

  /** To external mode. */
  private leave(domain: SimulatedDomain): void {
    if (domain.state === undefined) return;
    domain.enteredAt = domain.switchesAt as number;
    const since = domain.enteredAt + this.offset;
    domain.state = { ...domain.state, status: 'leaving', since, misses: undefined, conclusive: undefined };
    this.schedule(domain, since);
  }

  private schedule(domain: SimulatedDomain, due: number): void {
    domain.due = due;
    this.due.add(due, domain);
  }

  /** Observe, judge, next; and what the store would save is kept here. */
  private check(domain: SimulatedDomain, now: number): void {
    const { parent, history, name } = domain;
    const state = domain.state as CheckState;
    const { evidence, tookMs } = observe(this.random, this.weather, parent, name, history, now);
    const judgement = this.checker.judge(evidence, EXPECTED);
    const at = now + tookMs + this.offset;
    const frozen = this.breaker.isFrozen(printName(parent.zone), at);
    const decision = this.checker.next(state, judgement, at, RULES, frozen);
    const next = nextCheckAt(decision.state, judgement, at, this.random(), {
      before: domain.unknowns,
      isHeard: judgement.findings.some(({ code }) => code === 'PARENTS_DISAGREE'),
    });
    if (state.status === 'active')
      this.breaker.count(printName(parent.zone), domain.lastVerdict, judgement.verdict, at);

    this.checks++;
    if (decision.frozen) {
      this.held++;
      domain.heldAt = now;
    }
    this.truth.look(domain, evidence.servers, now);
    this.truth.judge(domain, state, decision, now, now + tookMs);
    domain.lastVerdict = judgement.verdict;
    domain.unknowns = next.unknowns;
    if (decision.to !== state.status) {
      const move = `${state.status} → ${decision.to}`;
      this.moves.set(move, (this.moves.get(move) ?? 0) + 1);
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
