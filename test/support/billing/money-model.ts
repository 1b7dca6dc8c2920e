// An independent implementation of docs/rules.md "Money": wallets, purchases, refunds, invoices and debts. It imports
// nothing from src.

import { ModelDomain, type ModelSubscription, type ModelTerm } from './subscription-model.ts';

const DAY = 86_400_000;
const DEBT_DAYS = 7;

export interface ModelAccount {
  readonly id: number;
  readonly isReseller: boolean;
  provider: ModelAccount | null;
  balance: number;
  since: number | null;
  /** Age of the debt when a refund settled it, and the rest of that refund. */
  lasted: number | null;
  back: number;
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

interface PaidInvoice extends ModelInvoice {
  readonly until: number;
  readonly from: number;
  /** The reseller's part. */
  readonly funder: ModelAccount | null;
  readonly funded: number;
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
  /** When the workers examine it next, and its position among those of the same time. */
  looked: { readonly due: number; readonly order: number } | undefined;
  termId: number | null = null;
  readonly paid = new Map<ModelSubscription, PaidInvoice[]>();

  constructor(id: number, account: ModelAccount, plans: ModelDomain) {
    this.id = id;
    this.account = account;
    this.plans = plans;
  }
}

export class MoneyModel {
  readonly accounts: ModelAccount[] = [];
  readonly holdings: ModelHolding[] = [];
  /** Rows as text: wallet or external party, amount, balance afterwards, reason. */
  readonly ledger: string[] = [];
  readonly invoices: ModelInvoice[] = [];
  readonly #floor: number;
  #orders = 0;

  constructor({ mostOwed }: { readonly mostOwed: number }) {
    this.#floor = -mostOwed;
  }

  addAccount(id: number, { isReseller = false, provider = null as ModelAccount | null } = {}): ModelAccount {
    const account = {
      id,
      isReseller,
      provider,
      balance: 0,
      since: null,
      lasted: null,
      back: 0,
      isOverdue: false,
    };
    this.accounts.push(account);
    return account;
  }

  addHolding(id: number, account: ModelAccount): ModelHolding {
    const plans = new ModelDomain((charge) => this.#charge(holding, charge));
    const holding = new ModelHolding(id, account, plans);
    this.holdings.push(holding);
    return holding;
  }

  /** Called after a subscription was changed at this time. */
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

  /** Returns the expected answer. Changes the state only with `bought`. */
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
    const served = servedUnpaid(plans.history, term, now);
    if (served >= term.days * DAY) return 'wrong_state';
    const backs = kind === 'switch' ? this.#unused(holding, own, now) : [];
    const payers = this.#payers(account, term.price, backs);
    if (payers === undefined) return account.provider === null ? 'short' : 'credit_limit';
    const credit = backs.reduce((sum, { rials }) => sum + rials, 0);
    if (credit > 0) {
      this.#book(null, account, credit, 'switch_credit', now, 'sales', true);
      for (const { to, rials } of backs)
        if (to !== account) this.#book(account, to, rials, 'reseller_autofund', now, '', true);
      this.#invoice(holding, account, -credit, null, null, now);
    }
    const start = now - served;
    plans.stop(now);
    plans.begin(start, term.plan, term, renews);
    holding.termId = term.id;
    this.began(holding, start);
    if (term.price > 0) this.#pay(holding, term.price, start, start + term.days * DAY, now);
    return 'bought';
  }

  visit(now: number): void {
    for (;;) {
      const due = this.holdings
        .filter(({ looked }) => looked !== undefined && looked.due <= now)
        .sort((a, b) => order(a) - order(b) || (a.looked?.order ?? 0) - (b.looked?.order ?? 0));
      if (due.length === 0) return;
      for (const holding of due) {
        const before = holding.plans.own;
        // One subscription at a time: a new one is examined in the next pass.
        holding.plans.visitOwn(now);
        if (holding.plans.own === before) this.look(holding, now);
        else {
          holding.termId = null;
          this.began(holding, holding.plans.own.from);
        }
      }
    }
  }

  settle(now: number): void {
    for (const account of this.accounts) {
      if (account.since !== null && now - account.since >= DEBT_DAYS * DAY) account.isOverdue = true;
    }
    for (const holding of this.holdings)
      holding.byDebt = holding.account.isOverdue || holding.account.provider?.isOverdue === true;
  }

  #charge(
    holding: ModelHolding,
    { price, from, until, now }: { price: number; from: number; until: number; now: number },
  ) {
    if (price === 0) return true;
    if (this.#payers(holding.account, price, []) === undefined) return false;
    this.#pay(holding, price, from, until, now);
    return true;
  }

  /** Returns how much which reseller adds. Undefined if the purchase cannot be paid. */
  #payers(account: ModelAccount, price: number, backs: readonly Back[]): number | undefined {
    if (price === 0) return 0;
    const holds = (who: ModelAccount) =>
      backs.reduce((sum, { to, rials }) => (to === who ? sum + rials : sum), who.balance);
    const left = holds(account) - price;
    if (left >= (account.isReseller ? this.#floor : 0)) return 0;
    const { provider } = account;
    if (provider === null || holds(provider) + left < this.#floor) return undefined;
    return -left;
  }

  #pay(holding: ModelHolding, price: number, from: number, until: number, now: number): void {
    const { account } = holding;
    const added = this.#payers(account, price, []) as number;
    if (added > 0) this.#book(account.provider, account, added, 'reseller_autofund', now);
    this.#book(account, null, price, 'subscription', now, 'sales');
    const invoice = this.#invoice(holding, account, price, from, until, now);
    const { own } = holding.plans;
    holding.paid.set(own, [
      ...(holding.paid.get(own) ?? []),
      { ...invoice, from, until, funder: account.provider, funded: Math.min(added, price) },
    ]);
  }

  /** Each payer gets the part that it paid, with the owner's rounded down. */
  #unused(holding: ModelHolding, own: ModelSubscription, now: number): Back[] {
    const backs: Back[] = [];
    const add = (to: ModelAccount, rials: number) => {
      const known = backs.find((back) => back.to === to);
      if (known === undefined) backs.push({ to, rials });
      else known.rials += rials;
    };
    for (const { account, total, from, until, funder, funded } of holding.paid.get(own) ?? []) {
      if (account !== holding.account.id || until <= now) continue;
      const left = until - Math.max(now, from);
      const all = Number((BigInt(total) * BigInt(left)) / BigInt(until - from));
      const mine = funder === null ? all : Number((BigInt(all) * BigInt(total - funded)) / BigInt(total));
      add(holding.account, mine);
      if (funder !== null) add(funder, all - mine);
    }
    return backs.filter(({ rials }) => rials > 0);
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

  /** Null means an external party. */
  #book(
    from: ModelAccount | null,
    to: ModelAccount | null,
    amount: number,
    why: string,
    now: number,
    what = 'operator',
    isBack = false,
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
      trackDebt(account, change, now, isBack);
      this.ledger.push(`${account.id} ${change} ${account.balance} ${why}`);
    }
  }
}

interface Back {
  readonly to: ModelAccount;
  rials: number;
}

/** The next paid term also pays for grace, within a week of the old end. */
function servedUnpaid(history: readonly ModelSubscription[], term: SoldTerm, now: number): number {
  const last = history.filter((each) => each.term !== null && each.term.price > 0).at(-1);
  if (last === undefined || last.until === null || term.price === 0 || now >= last.until + 7 * DAY) return 0;
  const over = last.over ?? (last.status === 'grace' ? now : last.until);
  return Math.max(0, over - last.until);
}

/** A refund is not incoming money: spending it again resumes the old debt. */
function trackDebt(account: ModelAccount, change: number, now: number, isBack: boolean): void {
  if (account.since === null && account.lasted === null) account.back = 0;
  else if (change < 0) account.back = Math.max(0, account.back + change);
  else if (isBack) account.back += change;
  if (account.balance >= 0) account.isOverdue = false;
  if (account.balance >= account.back) {
    account.since = null;
    account.lasted = null;
    account.back = 0;
  } else if (account.balance < 0) {
    account.since ??= now - (account.lasted ?? 0);
    account.lasted = null;
  } else if (account.since !== null) {
    account.lasted = Math.max(0, now - account.since);
    account.since = null;
  }
}

function order({ looked }: ModelHolding): number {
  return looked?.due ?? 0;
}
