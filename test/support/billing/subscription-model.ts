// An independent implementation of docs/rules.md "Plans", based on lists of times. It imports nothing.

const DAY = 86_400_000;

export interface ModelTerm {
  readonly days: number;
  readonly price: number;
}

/** All times in milliseconds. */
export interface ModelSubscription {
  readonly plan: string;
  readonly term: ModelTerm | null;
  readonly from: number;
  readonly trial: boolean;
  status: 'active' | 'grace' | 'cancelled' | 'expired';
  until: number | null;
  graceUntil: number | null;
  over: number | null;
  renews: boolean;
}

const FREE: ModelTerm = { days: 30, price: 0 };

/** Returns false if the charge is not paid. */
type Pay = (charge: {
  readonly price: number;
  readonly from: number;
  readonly until: number;
  readonly now: number;
}) => boolean;

export class ModelDomain {
  readonly history: ModelSubscription[] = [];
  /** When the wallet was charged for the next renewal. */
  #asked: number[] = [];
  money = 0;
  spent = 0;
  readonly #pay: Pay;

  /** By default, its own `money` pays. */
  constructor(pay?: Pay) {
    this.#pay = pay ?? (({ price }) => this.#spend(price));
  }

  get own(): ModelSubscription {
    return this.history.at(-1) as ModelSubscription;
  }

  begin(now: number, plan: string, term: ModelTerm | null, renews = term !== null): void {
    this.#asked = [];
    this.history.push({
      plan,
      term,
      from: now,
      trial: false,
      status: 'active',
      until: term === null ? null : now + term.days * DAY,
      graceUntil: null,
      over: null,
      renews: term !== null && renews,
    });
  }

  beginTrial(now: number, plan: string, days: number): void {
    this.begin(now, plan, null);
    this.history[this.history.length - 1] = { ...this.own, trial: true, until: now + days * DAY };
  }

  /** The operator assigns another plan or a new term. */
  give(now: number, plan: string, term: ModelTerm | null): void {
    if (plan === this.own.plan && term === null) return;
    this.stop(now);
    this.begin(now, plan, plan === 'free' ? FREE : term);
  }

  stop(now: number): void {
    const { until } = this.own;
    Object.assign(this.own, {
      status: 'cancelled',
      until: until === null ? now : Math.min(until, now),
      over: now,
      renews: false,
    });
  }

  cancel(): void {
    if (this.own.until === null || this.own.status === 'grace') return;
    Object.assign(this.own, { status: 'cancelled', renews: false });
  }

  setRenews(renews: boolean): void {
    const { own } = this;
    if (own.term === null || own.trial || own.renews === renews) return;
    if (renews && own.status === 'cancelled') own.status = 'active';
    own.renews = renews;
  }

  visit(now: number): void {
    while (this.#moves(now));
  }

  /** The same, without subscriptions that begin meanwhile. */
  visitOwn(now: number): void {
    const { own } = this;
    while (this.own === own && this.#moves(now));
  }

  #moves(now: number): boolean {
    const { own } = this;
    const { until, status, term } = own;
    if (until === null) return false;
    if (status === 'cancelled' || own.trial) {
      if (now < until) return false;
      if (status !== 'cancelled') own.status = 'expired';
      return this.#end(until);
    }
    if (own.renews && term !== null && this.#isToAsk(now, until, term)) {
      this.#ask(now, until, term);
      return true;
    }
    if (status === 'active' && now >= until) {
      own.status = 'grace';
      own.graceUntil = until + 7 * DAY;
      return true;
    }
    if (status === 'grace' && now >= until + 7 * DAY) {
      own.status = 'expired';
      return this.#end(until + 7 * DAY);
    }
    return false;
  }

  #end(at: number): true {
    this.own.over = at;
    this.begin(at, 'free', FREE);
    return true;
  }

  /** When the next step is due. Undefined if never. */
  get due(): number | undefined {
    const { until, status, trial, renews, term, graceUntil } = this.own;
    if (until === null) return undefined;
    if (status === 'cancelled' || trial) return until;
    const turns = status === 'grace' ? (graceUntil as number) : until;
    if (!renews || term === null) return turns;
    const open = askTimes(until, term).filter((time) => !this.#asked.some((asked) => asked >= time));
    return Math.min(turns, ...open);
  }

  /** True if a time for a charge has passed without a charge since. */
  #isToAsk(now: number, until: number, term: ModelTerm): boolean {
    return askTimes(until, term).some((time) => time <= now && !this.#asked.some((asked) => asked >= time));
  }

  #ask(now: number, until: number, { days, price }: ModelTerm): void {
    const isLate = now >= until + 7 * DAY;
    const from = isLate ? now : until;
    if (!this.#pay({ price, from, until: from + days * DAY, now })) {
      this.#asked.push(now);
      return;
    }
    this.#asked = [];
    Object.assign(this.own, { status: 'active', until: from + days * DAY, graceUntil: null });
  }

  #spend(price: number): boolean {
    if (price > this.money) return false;
    this.money -= price;
    this.spent += price;
    return true;
  }
}

function askTimes(until: number, { days }: ModelTerm): number[] {
  const times = [until - (days < 3 ? days : 3) * DAY];
  for (let day = 0; day < 7; day++) times.push(until + day * DAY);
  return times;
}
