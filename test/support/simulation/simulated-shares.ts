// Workers under attack in virtual time: the schedule, the queue and the slots, with the real rules for turns, slow slots,
// intervals and silence. The claim is that of src/store/checks/claim-due-domains.ts, in memory.

import type { CheckState } from '../../../src/checks/delegation/check-state.ts';
import { nextCheckAt } from '../../../src/checks/delegation/next-check-at.ts';
import { SLOW_AFTER_MS, Slots } from '../../../src/checks/shares/slots.ts';
import {
  dueTurn,
  FADE_MS,
  LIGHT_SLOT_MS,
  MOST_MANUAL,
  manualTurn,
} from '../../../src/checks/shares/turns.ts';
import { type Random, randomFrom } from '../random/random-zones.ts';
import { attackTargets, makeSilences, Observation, type Target, Victims } from './simulated-attack.ts';

const SLOTS = 200;
const ROOM = SLOTS;
const ROUND_MS = 50;
const IDLE_MS = 500;
const PER_ACCOUNT = 20;
const LIGHT_AT_ONCE = 20;
const FULLEST = 20;
const CHECK_MS = 15_000;
/** Fetching, loading and saving around a check. */
const AROUND_MS = 15;

interface Domain {
  readonly account: Account;
  readonly target: Target;
  readonly since: number;
  dueAt: number;
  isFirst: boolean;
  unknowns: number;
  /** When its parent shows our servers. */
  readonly delegatedAt: number;
  isActive: boolean;
}

interface Account {
  /** Never checked, in the order in which they were created. */
  readonly firsts: Domain[];
  readonly due: Heap<Domain>;
  slotMs: number;
  manual: number;
  at: number;
}

interface Job {
  readonly domain: Domain;
  readonly askedAt: number | undefined;
  readonly turn: number;
}

export interface Attack {
  readonly seed: number;
  readonly domains: number;
  readonly victims: number;
  readonly minutes: number;
  /** Whether accounts take turns, and slow checks have slots of their own; without, the proof must fail. */
  readonly isFair?: boolean;
}

export interface Figures {
  /** From the create to the start of the first check, in milliseconds, for honest accounts. */
  readonly first: number[];
  /** From the delegation to the check that sees it. */
  readonly activation: number[];
  /** From the call to its answer. */
  readonly manual: number[];
  readonly victims: Victims;
  readonly checks: number;
  readonly later: number;
}

const HONEST = 100;

export function attack(options: Attack): Figures {
  return new Simulation(options).run();
}

class Simulation {
  readonly #options: Attack;
  readonly #random: Random;
  readonly #clock = { now: 0 };
  readonly #events = new Heap<{ readonly at: number; readonly act: () => void }>();
  readonly #victims = new Victims();
  readonly #silences = makeSilences(this.#clock);
  readonly #slots = new Slots(SLOTS);
  readonly #queue = new Map<number, Job[]>();
  readonly #accounts: Account[] = [];
  readonly #figures = { first: [] as number[], activation: [] as number[], manual: [] as number[] };
  #waiting = 0;
  #running = 0;
  #checks = 0;

  constructor(options: Attack) {
    this.#options = options;
    this.#random = randomFrom(options.seed);
  }

  run(): Figures {
    const { domains, victims, minutes } = this.#options;
    const end = minutes * 60_000;
    const attacker = this.#account();
    for (const target of attackTargets(this.#random, domains, victims)) {
      const domain = this.#create(attacker, target, Number.POSITIVE_INFINITY, 0);
      // All of them are asked for by hand, too, whenever that is allowed.
      for (let at = this.#random() * 60_000; at < end; at += 3_600_000)
        this.#at(at, () => this.#askNow(domain));
    }
    for (let i = 0; i < HONEST; i++) this.#honest(end);
    this.#at(0, () => this.#round());
    for (let event = this.#events.popUntil(end); event !== undefined; event = this.#events.popUntil(end)) {
      this.#clock.now = event.at;
      event.act();
    }
    return { ...this.#figures, victims: this.#victims, checks: this.#checks, later: this.#slots.refused };
  }

  /** An account whose owner creates a domain, delegates it a while later, and asks for a check by hand. */
  #honest(end: number): void {
    const account = this.#account();
    const target: Target = { kind: 'honest', parent: 'com', addresses: [] };
    for (let at = this.#random() * 60_000; at < end - 120_000; at += 60_000 + this.#random() * 240_000) {
      this.#at(at, () => {
        const now = this.#clock.now;
        const domain = this.#create(account, target, now + this.#random() * 100_000, now);
        this.#at(now + this.#random() * 60_000, () => this.#askNow(domain));
      });
    }
  }

  #account(): Account {
    const account: Account = { firsts: [], due: new Heap(), slotMs: 0, manual: 0, at: 0 };
    this.#accounts.push(account);
    return account;
  }

  #create(account: Account, target: Target, delegatedAt: number, at: number): Domain {
    const domain: Domain = {
      account,
      target,
      since: at,
      dueAt: at,
      isFirst: true,
      unknowns: 0,
      delegatedAt,
      isActive: false,
    };
    account.firsts.push(domain);
    return domain;
  }

  #at(at: number, act: () => void): void {
    this.#events.push(at, { at, act });
  }

  #use(account: Account, added: { slotMs?: number; manual?: number }): void {
    const left = Math.exp(-(this.#clock.now - account.at) / FADE_MS);
    account.slotMs = account.slotMs * left + (added.slotMs ?? 0);
    account.manual = account.manual * left + (added.manual ?? 0);
    account.at = this.#clock.now;
  }

  #askNow(domain: Domain): void {
    const { account } = domain;
    this.#use(account, {});
    if (account.manual >= MOST_MANUAL && this.#options.isFair !== false) return;
    const turn = this.#options.isFair === false ? 1 : manualTurn(account);
    this.#use(account, { manual: 1 });
    this.#enqueue({ domain, askedAt: this.#clock.now, turn });
  }

  #enqueue(job: Job): void {
    const same = this.#queue.get(job.turn) ?? [];
    this.#queue.set(job.turn, same);
    same.push(job);
    this.#waiting++;
    this.#start();
  }

  #round(): void {
    const left = ROOM - this.#waiting;
    const limit = left >= ROOM / 4 ? left : 0;
    const lightOnly = limit === 0;
    const isFull = lightOnly && this.#waiting >= FULLEST * ROOM;
    const taken = isFull ? [] : this.#claim(lightOnly ? LIGHT_AT_ONCE : limit, lightOnly);
    for (const domain of taken) {
      const { slotMs } = domain.account;
      const turn = this.#options.isFair === false ? 10 : dueTurn({ slotMs, isFirst: domain.isFirst });
      this.#enqueue({ domain, askedAt: undefined, turn });
    }
    const isMore = lightOnly || taken.length >= Math.min(PER_ACCOUNT, limit);
    this.#at(this.#clock.now + (isMore ? ROUND_MS : IDLE_MS), () => this.#round());
  }

  #claim(limit: number, lightOnly: boolean): Domain[] {
    const { now } = this.#clock;
    const isFair = this.#options.isFair !== false;
    if (lightOnly && !isFair) return [];
    const found = this.#accounts.flatMap((account) => {
      this.#use(account, {});
      if (lightOnly && account.slotMs >= LIGHT_SLOT_MS) return [];
      const due = account.firsts.splice(0, limit);
      for (let next = account.due.popUntil(now); next !== undefined; next = account.due.popUntil(now)) {
        due.push(next);
        if (due.length >= 2 * limit) break;
      }
      return due.map((domain, turn) => ({ domain, turn }));
    });
    const rank = ({ domain: { account }, turn }: (typeof found)[number]) =>
      (account.slotMs >= LIGHT_SLOT_MS ? 1e9 : 0) + turn;
    found.sort((a, b) =>
      isFair
        ? rank(a) - rank(b) || a.domain.account.slotMs - b.domain.account.slotMs
        : a.domain.dueAt - b.domain.dueAt,
    );
    for (const { domain } of found.slice(limit).reverse()) {
      if (domain.isFirst) domain.account.firsts.unshift(domain);
      else domain.account.due.push(domain.dueAt, domain);
    }
    return found.slice(0, limit).map(({ domain }) => domain);
  }

  #start(): void {
    while (this.#running < SLOTS && this.#waiting > 0) {
      const turn = Math.min(...[...this.#queue].filter(([, jobs]) => jobs.length > 0).map(([each]) => each));
      const job = this.#queue.get(turn)?.shift();
      if (job === undefined) return;
      this.#waiting--;
      this.#running++;
      this.#run(job);
    }
  }

  #run({ domain, askedAt }: Job): void {
    const begun = this.#clock.now;
    const isHonest = domain.target.kind === 'honest';
    if (isHonest && domain.isFirst) this.#figures.first.push(begun - domain.since);
    if (askedAt === undefined || isHonest) domain.isFirst = false;
    const observation = new Observation(domain.target, this.#victims, this.#silences, this.#random);
    let waited = 0;
    let isSlow = false;
    const over = (isLater: boolean) => {
      this.#at(this.#clock.now + AROUND_MS, () => {
        if (isSlow) this.#slots.giveBack();
        this.#use(domain.account, { slotMs: this.#clock.now - begun });
        this.#running--;
        this.#checks++;
        this.#save(domain, begun, { isTryLater: isLater, isInLine: askedAt === undefined });
        if (isHonest && askedAt !== undefined) this.#figures.manual.push(this.#clock.now - askedAt);
        this.#start();
      });
    };
    const step = () => {
      const { now } = this.#clock;
      const next = now - begun >= CHECK_MS ? undefined : observation.next(now, askedAt !== undefined);
      if (next === undefined) return over(false);
      const most = Math.min(next.waitMs, CHECK_MS - (now - begun));
      const isFair = this.#options.isFair !== false;
      if (isFair && !isSlow && waited + most >= SLOW_AFTER_MS) {
        const slowAt = now + Math.max(0, SLOW_AFTER_MS - waited);
        this.#at(slowAt, () => {
          isSlow = this.#slots.takeSlow();
          if (isSlow)
            return this.#at(now + most, () => {
              next.end(now + most, most < next.waitMs);
              step();
            });
          next.end(slowAt, true);
          over(true);
        });
        return;
      }
      waited += most;
      this.#at(now + most, () => {
        next.end(now + most, most < next.waitMs);
        step();
      });
    };
    step();
  }

  #save(
    domain: Domain,
    begun: number,
    { isTryLater, isInLine }: { isTryLater: boolean; isInLine: boolean },
  ): void {
    const { now } = this.#clock;
    if (domain.target.kind === 'honest' && begun >= domain.delegatedAt && !domain.isActive) {
      domain.isActive = true;
      this.#figures.activation.push(now - domain.delegatedAt);
    }
    const state: CheckState = {
      status: domain.isActive ? 'active' : 'pending',
      since: domain.since,
      misses: undefined,
      conclusive: undefined,
      witnessAt: undefined,
    };
    const verdict = domain.target.kind === 'honest' ? 'foreign' : 'unknown';
    const seen = verdict === 'foreign' ? false : undefined;
    const judgement = { verdict, oursShown: seen, othersShown: seen } as const;
    const next = nextCheckAt(state, judgement, now, this.#random(), {
      before: domain.unknowns,
      isTryLater,
    });
    domain.unknowns = next.unknowns;
    // A check by hand does not take it out of the line.
    if (!isInLine) return;
    domain.dueAt = next.at ?? Number.POSITIVE_INFINITY;
    if (!domain.isActive) domain.account.due.push(domain.dueAt, domain);
  }
}

/** A heap by time; equal ones in any order. */
class Heap<T> {
  readonly #heap: { readonly at: number; readonly item: T }[] = [];

  push(at: number, item: T): void {
    const heap = this.#heap;
    heap.push({ at, item });
    for (let i = heap.length - 1; i > 0; ) {
      const up = (i - 1) >> 1;
      if (this.#at(up) <= this.#at(i)) return;
      this.#swap(i, up);
      i = up;
    }
  }

  /** The first, unless its time is later. */
  popUntil(at: number): T | undefined {
    const heap = this.#heap;
    const [first] = heap;
    if (first === undefined || first.at > at) return undefined;
    this.#swap(0, heap.length - 1);
    heap.pop();
    for (let i = 0; ; ) {
      let least = i;
      for (const child of [2 * i + 1, 2 * i + 2]) {
        if (child < heap.length && this.#at(child) < this.#at(least)) least = child;
      }
      if (least === i) return first.item;
      this.#swap(i, least);
      i = least;
    }
  }

  #at(i: number): number {
    return this.#heap[i]?.at as number;
  }

  #swap(a: number, b: number): void {
    const heap = this.#heap;
    const [x, y] = [heap[a], heap[b]];
    if (x !== undefined && y !== undefined) [heap[a], heap[b]] = [y, x];
  }
}
