// Plays random subscription histories with the rules of src and with the model, and reports the first difference.

import {
  beginSubscription,
  beginTrial,
  nextSubscription,
  type SubscriptionState,
  type Term,
} from '../../../src/billing/subscription.ts';
import { randomOf } from './random.ts';
import { ModelDomain, type ModelSubscription } from './subscription-model.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
const FREE: Term = { id: 1, days: 30, priceRials: 0 };
const TERMS = [1, 2, 3, 5, 7, 30, 365].flatMap((days, i): Term[] => [
  { id: 10 + i, days, priceRials: 0 },
  { id: 20 + i, days, priceRials: 100 * days },
]);
const GAPS = [1, 60_000, DAY / 24, DAY / 2, DAY, 2.5 * DAY, 7 * DAY, 40 * DAY, 200 * DAY];
/** Days relative to the end at which something happens. */
const EDGES = [-3, -2, -1, 0, 1, 2, 5, 6, 7];
const STEPS = 24;

class PlayedDomain {
  readonly history: { state: SubscriptionState; readonly from: Date }[] = [];
  money = 0;
  spent = 0;

  get own() {
    return this.history.at(-1) as (typeof this.history)[number];
  }

  begin(from: Date, state: SubscriptionState): void {
    this.history.push({ state, from });
  }

  visit(at: Date): void {
    for (let i = 0; i < 5000; i++) {
      const step = nextSubscription(this.own.state, at);
      if (step.kind === 'wait') {
        this.#expectNothingDue(step.dueAt, at);
        return;
      }
      if (step.kind === 'charge') {
        const isPaid = step.priceRials <= this.money;
        if (isPaid) {
          this.money -= step.priceRials;
          this.spent += step.priceRials;
        }
        this.own.state = isPaid ? step.paid : step.unpaid;
        continue;
      }
      this.own.state = step.next;
      if (step.kind === 'end') this.begin(step.endedAt, beginSubscription(step.endedAt, FREE));
    }
    throw new Error('it never waits');
  }

  /** Checks that a round at exactly that time misses nothing. */
  #expectNothingDue(dueAt: Date | null, at: Date): void {
    if (dueAt === null) return;
    if (dueAt <= at) throw new Error('it waits for a time that is over');
    const just = nextSubscription(this.own.state, new Date(dueAt.getTime() - 1));
    if (just.kind !== 'wait') throw new Error('something is due before the time that it waits for');
    if (nextSubscription(this.own.state, dueAt).kind === 'wait')
      throw new Error('nothing is due at the time that it waits for');
  }
}

/** Returns undefined if both agree. */
function playHistory(seed: number): string | undefined {
  const random = randomOf(seed);
  const model = new ModelDomain();
  const played = new PlayedDomain();
  let now = START;
  beginBoth(model, played, now, random);
  for (let step = 0; step < STEPS; step++) {
    now = later(now, model.own.until, random);
    act(model, played, random);
    try {
      played.visit(new Date(now));
    } catch (error) {
      return `seed ${seed} step ${step}: ${(error as Error).message}`;
    }
    model.visit(now);
    const [wanted, came] = [model.history.map(showModel), played.history.map(showPlayed)].map(String);
    const money = `${model.money} ${model.spent}`;
    if (wanted !== came || money !== `${played.money} ${played.spent}`)
      return `seed ${seed} step ${step}: expected ${wanted} (${money}), not ${came} (${played.money} ${played.spent})`;
  }
  return undefined;
}

function beginBoth(
  model: ModelDomain,
  played: PlayedDomain,
  now: number,
  random: (most: number) => number,
): void {
  const at = new Date(now);
  const kind = random(10);
  if (kind === 0) {
    const days = 1 + random(30);
    model.beginTrial(now, 'pro', days);
    played.begin(at, beginTrial(at, days));
    return;
  }
  const term = kind === 1 ? null : (TERMS[random(TERMS.length)] as Term);
  const autoRenew = random(4) > 0;
  model.begin(now, 'pro', term && { days: term.days, price: term.priceRials }, autoRenew);
  played.begin(at, beginSubscription(at, term, { autoRenew }));
}

/** Returns a later time, often exactly when something happens or just before. */
function later(now: number, until: number | null, random: (most: number) => number): number {
  const edge = until === null ? 0 : until + (EDGES[random(EDGES.length)] as number) * DAY - random(2);
  return edge > now && random(3) > 0 ? edge : now + (GAPS[random(GAPS.length)] as number);
}

function act(model: ModelDomain, played: PlayedDomain, random: (most: number) => number): void {
  const { state } = played.own;
  switch (random(8)) {
    case 0: {
      const money = 100 * random(400);
      model.money += money;
      played.money += money;
      return;
    }
    case 1:
      model.cancel();
      if (state.expiresAt !== null && state.status !== 'grace')
        played.own.state = { ...state, status: 'cancelled', autoRenew: false };
      return;
    case 2: {
      const renews = random(2) === 0;
      model.setRenews(renews);
      if (state.term === null || state.isTrial || state.autoRenew === renews) return;
      const status = renews && state.status === 'cancelled' ? 'active' : state.status;
      played.own.state = { ...state, status, autoRenew: renews };
      return;
    }
  }
}

function showModel(one: ModelSubscription): string {
  const { status, from, until, graceUntil, over, renews, trial } = one;
  return show(status, from, until, graceUntil, over, renews, trial);
}

function showPlayed({ state, from }: PlayedDomain['history'][number]): string {
  const { status, expiresAt, graceUntil, endedAt, autoRenew, isTrial } = state;
  const times = [expiresAt, graceUntil, endedAt].map((time) => time?.getTime() ?? null);
  return show(status, from.getTime(), ...(times as [number, number, number]), autoRenew, isTrial);
}

function show(...parts: readonly (string | number | boolean | null)[]): string {
  return parts.join(' ');
}

/** Returns undefined if the rules match the model. */
export function firstDifference(histories: number): string | undefined {
  for (let seed = 1; seed <= histories; seed++) {
    const difference = playHistory(seed);
    if (difference !== undefined) return difference;
  }
  return undefined;
}
