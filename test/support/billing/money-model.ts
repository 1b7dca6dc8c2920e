// The rules of docs/rules.md "Money", written a second time: wallets, what is bought and given back, invoices, debts. It
// imports nothing of src.

import { ModelDomain, type ModelSubscription, type ModelTerm } from './subscription-model.ts';

const DAY = 86_400_000;
const DEBT_DAYS = 7;

export interface ModelAccount {
  readonly id: number;
  readonly isReseller: boolean;
  provider: ModelAccount | null;
  balance: number;
  /** Since when it is below zero. */
  since: number | null;
  isOverdue: boolean;
}

export interface ModelInvoice {
  readonly number: string;
  readonly account: number;
  readonly domain: number;
  readonly total: number;
  readonly from: number | null;
  readonly until: number | null;
}

export interface SoldTerm extends ModelTerm {
  readonly id: number;
  readonly plan: string;
}

export class ModelHolding {
  readonly id: number;
  account: ModelAccount;
  isDisabled = false;
  byHand = false;
  byDebt = false;
  readonly plans: ModelDomain;
  /** When the workers look at it next, and which of those of that time is first. */
  looked: { readonly due: number; readonly order: number } | undefined;
  termId: number | null = null;
  readonly paid = new Map<
    ModelSubscription,
    (ModelInvoice & { readonly until: number; readonly from: number })[]
  >();

  constructor(id: number, account: ModelAccount, plans: ModelDomain) {
    this.id = id;
    this.account = account;
    this.plans = plans;
  }
}

export class MoneyModel {
  readonly accounts: ModelAccount[] = [];
  readonly holdings: ModelHolding[] = [];
  /** Rows as text: whose wallet or what outside, amount, balance afterwards, why. */
  readonly ledger: string[] = [];
  readonly invoices: ModelInvoice[] = [];
  readonly #floor: number;
  #orders = 0;

  constructor({ mostOwed }: { readonly mostOwed: number }) {
    this.#floor = -mostOwed;
  }

  addAccount(id: number, { isReseller = false, provider = null as ModelAccount | null } = {}): ModelAccount {
    const account = { id, isReseller, provider, balance: 0, since: null, isOverdue: false };
    this.accounts.push(account);
    return account;
  }

  addHolding(id: number, account: ModelAccount): ModelHolding {
    const plans = new ModelDomain((charge) => this.#charge(holding, charge));
    const holding = new ModelHolding(id, account, plans);
    this.holdings.push(holding);
    return holding;
  }

  /** After a subscription of it was changed at this time. */
  look(holding: ModelHolding, now: number): void {
    const { due } = holding.plans;
    const order = holding.looked?.order ?? 0;
    holding.looked = due === undefined ? undefined : { due: due <= now ? now : due, order };
  }

  began(holding: ModelHolding, now: number): void {
    holding.looked = { due: 0, order: ++this.#orders };
    this.look(holding, now);
  }

  operator(account: ModelAccount, amount: number, now: number): void {
    if (amount > 0) this.#book(null, account, amount, 'adjustment', now);
    else this.#book(account, null, -amount, 'adjustment', now);
  }

  /** What the answer is; nothing is done but with `bought`. */
  buy(
    kind: 'purchase' | 'switch',
    holding: ModelHolding,
    term: SoldTerm,
    now: number,
    renews: boolean,
  ): string {
    const { plans, account } = holding;
    const { own } = plans;
    const isPaid = own.term !== null && own.term.price > 0 && !own.trial && own.status !== 'grace';
    const hasTime = isPaid && own.until !== null && own.until > now;
    if (kind === 'purchase' ? hasTime : !hasTime || holding.termId === term.id) return 'wrong_state';
    const credit = kind === 'switch' ? this.#unused(holding, own, now) : 0;
    const payers = this.#payers(account, term.price, credit);
    if (payers === undefined) return account.provider === null ? 'short' : 'credit_limit';
    if (credit > 0) {
      this.#bookOutside(account, credit, 'switch_credit', now, 'sales');
      this.#invoice(holding, account, -credit, null, null, now);
    }
    const isServed = own.status === 'grace' && own.until !== null && own.until + term.days * DAY > now;
    const start = isServed ? (own.until as number) : now;
    plans.stop(now);
    plans.begin(start, term.plan, term, renews);
    holding.termId = term.id;
    this.began(holding, start);
    if (term.price > 0) this.#pay(holding, term.price, start, start + term.days * DAY, now);
    return 'bought';
  }

  /** The workers' round over subscriptions. */
  visit(now: number): void {
    for (;;) {
      const due = this.holdings
        .filter(({ looked }) => looked !== undefined && looked.due <= now)
        .sort((a, b) => order(a) - order(b) || (a.looked?.order ?? 0) - (b.looked?.order ?? 0));
      if (due.length === 0) return;
      for (const holding of due) {
        const before = holding.plans.own;
        // One subscription of it at a time: what begins is looked at in the next pass.
        holding.plans.visitOwn(now);
        if (holding.plans.own === before) this.look(holding, now);
        else {
          holding.termId = null;
          this.began(holding, holding.plans.own.from);
        }
      }
    }
  }

  /** The workers' round over debts. */
  settle(now: number): void {
    for (const account of this.accounts) {
      if (account.since !== null && now - account.since >= DEBT_DAYS * DAY) account.isOverdue = true;
    }
    for (const holding of this.holdings) {
      holding.byDebt = holding.account.isOverdue || holding.account.provider?.isOverdue === true;
    }
  }

  #charge(
    holding: ModelHolding,
    { price, from, until, now }: { price: number; from: number; until: number; now: number },
  ) {
    if (price === 0) return true;
    if (this.#payers(holding.account, price, 0) === undefined) return false;
    this.#pay(holding, price, from, until, now);
    return true;
  }

  /** Whose reseller adds how much; undefined: nobody can pay. */
  #payers(account: ModelAccount, price: number, credit: number): number | undefined {
    if (price === 0) return 0;
    const left = account.balance + credit - price;
    if (left >= (account.isReseller ? this.#floor : 0)) return 0;
    const { provider } = account;
    if (provider === null || provider.balance + left < this.#floor) return undefined;
    return -left;
  }

  #pay(holding: ModelHolding, price: number, from: number, until: number, now: number): void {
    const { account } = holding;
    const added = this.#payers(account, price, 0) as number;
    if (added > 0) this.#book(account.provider, account, added, 'reseller_autofund', now);
    this.#bookOutside(account, -price, 'subscription', now, 'sales');
    const invoice = this.#invoice(holding, account, price, from, until, now);
    const { own } = holding.plans;
    holding.paid.set(own, [...(holding.paid.get(own) ?? []), { ...invoice, from, until }]);
  }

  #unused(holding: ModelHolding, own: ModelSubscription, now: number): number {
    let sum = 0;
    for (const { account, total, from, until } of holding.paid.get(own) ?? []) {
      if (account !== holding.account.id || until <= now) continue;
      const left = until - Math.max(now, from);
      sum += Number((BigInt(total) * BigInt(left)) / BigInt(until - from));
    }
    return sum;
  }

  #invoice(
    { id: domain }: ModelHolding,
    { id: account }: ModelAccount,
    total: number,
    from: number | null,
    until: number | null,
    now: number,
  ): ModelInvoice {
    const year = new Date(now).getUTCFullYear();
    const before = this.invoices.filter(({ number }) => number.startsWith(`${year}-`)).length;
    const invoice = { number: `${year}-${before + 1}`, account, domain, total, from, until };
    this.invoices.push(invoice);
    return invoice;
  }

  #bookOutside(account: ModelAccount, amount: number, why: string, now: number, what: string): void {
    if (amount > 0) this.#book(null, account, amount, why, now, what);
    else this.#book(account, null, -amount, why, now, what);
  }

  /** Null: outside. */
  #book(
    from: ModelAccount | null,
    to: ModelAccount | null,
    amount: number,
    why: string,
    now: number,
    what = 'operator',
  ): void {
    for (const [account, change] of [
      [from, -amount],
      [to, amount],
    ] as const) {
      if (account === null) {
        this.ledger.push(`${what} ${change} ${why}`);
        continue;
      }
      account.balance += change;
      if (account.balance >= 0) {
        account.since = null;
        account.isOverdue = false;
      } else account.since ??= now;
      this.ledger.push(`${account.id} ${change} ${account.balance} ${why}`);
    }
  }
}

function order({ looked }: ModelHolding): number {
  return looked?.due ?? 0;
}
