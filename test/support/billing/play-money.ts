// Plays days of payments on Postgres, with the calls of owners and operators and the workers' rounds and a simulated clock,
// and the same on the model. Reports the differences of the first day that differs.

import { sql } from 'kysely';
import { buyTerm } from '../../../src/features/money/sql-buy.ts';
import { renewalWallet } from '../../../src/features/money/sql-charge.ts';
import { settleDebts } from '../../../src/features/money/sql-debts.ts';
import { moveMoney } from '../../../src/features/money/sql-wallet.ts';
import { setProvider, setReseller } from '../../../src/store/accounts/accounts.ts';
import { addTerm, createPlan } from '../../../src/store/accounts/plans.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { handOver } from '../../../src/store/change/hand-over.ts';
import { moveSubscriptions } from '../../../src/store/change/move-subscriptions.ts';
import { cancelSubscription, setPlan } from '../../../src/store/change/set-plan.ts';
import { setSuspended } from '../../../src/store/change/update-domain.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { BY, newAccount, newDomain } from '../database/domains.ts';
import { compareHistories, compareMoney, type Read } from './compare-money.ts';
import { type ModelAccount, type ModelHolding, MoneyModel, type SoldTerm } from './money-model.ts';
import { randomOf } from './random.ts';

const DAY = 86_400_000;
/** Noon, weeks before New Year, when invoice numbers restart. */
const START = Date.UTC(2025, 10, 26, 12);
const MOST_OWED = 5000;

interface Play {
  readonly domains: number;
  readonly days: number;
  readonly seed: number;
}

interface Stage {
  readonly db: Database;
  readonly random: (most: number) => number;
  readonly model: MoneyModel;
  readonly terms: readonly SoldTerm[];
}

/** How often each event happened, to verify that the play is varied. */
type Played = Record<string, number>;

export async function playMoney(
  db: Database,
  { domains, days, seed }: Play,
): Promise<{ readonly differences: string[]; readonly played: Played }> {
  const random = randomOf(seed);
  const model = new MoneyModel({ mostOwed: MOST_OWED });
  const stage: Stage = { db, random, model, terms: await sellTerms(db) };
  await people(stage, domains);
  for (let i = 0; i < domains; i++) await begin(stage, i);
  const played: Played = {};
  const count = (what: string, by = 1) => {
    played[what] = (played[what] ?? 0) + by;
  };
  const read: Read = { ledger: 0, invoices: 0 };
  for (let day = 0; day < days; day++) {
    let now = START + day * DAY;
    for (let i = 0; i < Math.min(40, Math.ceil(domains / 4)); i++) {
      now += 1 + random(90_000);
      count(await act(stage, now));
    }
    now = START + day * DAY + DAY / 2 + random(3) * random(DAY / 3);
    for (const [what, by] of Object.entries(await rounds(stage, now))) count(what, by);
    const differences = await compareMoney(db, model, read);
    if (differences.length > 0)
      return { differences: differences.map((each) => `day ${day}: ${each}`).slice(0, 20), played };
  }
  return { differences: await compareHistories(db, model), played };
}

async function sellTerms(db: Database): Promise<SoldTerm[]> {
  await createPlan(db, 'team', { name: 'Team', maxRecords: 10, maxCacheCapMb: 4096, rulesEnabled: true });
  const wanted = [
    ['pro', 30, 907],
    ['pro', 10, 331],
    ['team', 7, 53],
    ['team', 90, 2503],
    ['pro', 5, 0],
  ] as const;
  const terms: SoldTerm[] = [];
  for (const [plan, days, price] of wanted) {
    const id = (await addTerm(db, plan, { days, priceRials: price }))?.terms.at(-1)?.id as number;
    terms.push({ id, plan, days, price });
  }
  return terms;
}

/** A fifth are resellers, two fifths their clients, and the others have no reseller. */
async function people({ db, model }: Stage, domains: number): Promise<void> {
  const resellers: ModelAccount[] = [];
  for (let i = 0; i < Math.max(10, domains / 10); i++) {
    const id = await newAccount(db, `player${i}@play.test`);
    if (i % 5 === 0) {
      await setReseller(db, id, true);
      resellers.push(model.addAccount(id, { isReseller: true }));
    } else if (i % 5 < 3) {
      const provider = resellers[i % resellers.length] as ModelAccount;
      await setProvider(db, id, provider.id);
      model.addAccount(id, { provider });
    } else model.addAccount(id);
  }
}

/** Some have a trial, the others `free`. */
async function begin({ db, random, model }: Stage, i: number): Promise<void> {
  const account = model.accounts[i % model.accounts.length] as ModelAccount;
  const { id } = await newDomain(db, account.id, `play${i}.test.`, {
    planSlug: i % 7 === 0 ? 'pro' : 'free',
  });
  const holding = model.addHolding(id, account);
  const isTrial = i % 7 === 0;
  const days = isTrial ? 1 + random(20) : 30;
  const [start, end] = [new Date(START), new Date(START + days * DAY)];
  if (isTrial) holding.plans.beginTrial(START, 'pro', days);
  else holding.plans.begin(START, 'free', { days, price: 0 });
  model.began(holding, START);
  await sql`
    update subscriptions set started_at = ${start}, expires_at = ${end}, is_trial = ${isTrial},
      auto_renew = ${!isTrial}, due_at = ${isTrial ? end : new Date(START + 27 * DAY)},
      term_id = case when ${isTrial}::boolean then null else term_id end
    where domain_id = ${id}`.execute(db);
}

/** Performs one action, and returns its kind and result. */
async function act(stage: Stage, now: number): Promise<string> {
  const { db, random, model, terms } = stage;
  const at = new Date(now);
  const holding = model.holdings[random(model.holdings.length)] as ModelHolding;
  const account = model.accounts[random(model.accounts.length)] as ModelAccount;
  const { id: domainId, plans } = holding;
  switch (random(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return await credit(stage, account, 1 + random(3000), at);
    case 4: {
      // Mostly for resellers, who may owe money. Occasionally takes any wallet below zero.
      const owes = account.isReseller || random(6) === 0 ? account : (account.provider ?? account);
      return await credit(stage, owes, -(1 + random(4000)), at);
    }
    case 5: {
      // Pays a debt, often exactly.
      const debtor = model.accounts.filter(({ since }) => since !== null)[0] ?? account;
      return await credit(stage, debtor, Math.max(1, -debtor.balance + random(3) - 1), at);
    }
    case 6:
      if (plans.own.until !== null && plans.own.status !== 'grace') {
        plans.cancel();
        model.look(holding, now);
      }
      await cancelSubscription(db, { domainId, at });
      return 'cancel';
    case 7: {
      const autoRenew = random(3) > 0;
      // Without a change, the next examination is not earlier.
      const before = plans.own.renews;
      plans.setRenews(autoRenew);
      if (plans.own.renews !== before) model.look(holding, now);
      await setPlan(db, { domainId, planSlug: plans.own.plan, autoRenew, at });
      return 'auto_renew';
    }
    case 8:
      return await byHand(stage, holding);
    case 9:
      return await change(stage, holding, account);
    default: {
      const term = terms[random(terms.length)] as SoldTerm;
      const kind = random(3) === 0 ? 'switch' : 'purchase';
      if (random(3) === 0) await bringToBrink(stage, holding, term, at);
      const autoRenew = random(5) > 0;
      const wanted = model.buy(kind, holding, term, now, autoRenew);
      const about = { domainId, ownerId: holding.account.id, termId: term.id } as const;
      const order = { kind, ...about, autoRenew, maxNegativeRials: MOST_OWED, at } as const;
      const came = await buyTerm(db, order);
      if (came.kind !== wanted)
        throw new Error(`${kind} of domain ${domainId}: ${came.kind}, expected ${wanted}`);
      return `${kind} ${wanted}`;
    }
  }
}

async function credit(
  { db, model }: Stage,
  account: ModelAccount,
  amount: number,
  at: Date,
): Promise<string> {
  model.operator(account, amount, at.getTime());
  const own = { accountId: account.id, floorRials: Number.MIN_SAFE_INTEGER };
  const operator = { outside: 'operator' } as const;
  const moved = await inTransaction(db, (trx) =>
    moveMoney(trx, {
      from: amount > 0 ? operator : own,
      to: amount > 0 ? own : operator,
      amountRials: Math.abs(amount),
      refType: 'adjustment',
      description: 'by hand',
      at,
    }),
  );
  if (moved.kind !== 'moved') throw new Error(`a wallet is ${moved.kind}`);
  return amount > 0 ? 'credit' : 'debit';
}

/** Gives the domain's payer exactly the amount for this term, or one rial less. */
async function bringToBrink(
  stage: Stage,
  { account }: ModelHolding,
  term: SoldTerm,
  at: Date,
): Promise<void> {
  const payer = account.provider ?? account;
  const floor = payer.isReseller ? -MOST_OWED : 0;
  const ownRials = stage.random(300);
  if (payer !== account && account.balance !== ownRials)
    await credit(stage, account, ownRials - account.balance, at);
  const own = payer === account ? 0 : ownRials;
  const change = floor + term.price - own - stage.random(2) - payer.balance;
  if (change !== 0) await credit(stage, payer, change, at);
}

/** The operator suspends, resumes, disables or enables. */
async function byHand({ db, random }: Stage, holding: ModelHolding): Promise<string> {
  const { id: domainId } = holding;
  if (random(3) === 0) {
    holding.isDisabled = !holding.isDisabled;
    const event = holding.isDisabled ? 'disable' : 'enable';
    await changeStatus(db, { ...BY, domainId, event, exempt: true });
    return event;
  }
  const suspended = random(2) === 0;
  const isRefused = !suspended && !holding.byHand && holding.byDebt;
  const came = await setSuspended(db, { domainId, suspended });
  if ((came.kind === 'refused') !== isRefused) throw new Error(`domain ${domainId}: ${came.kind}`);
  if (!isRefused) holding.byHand = suspended;
  return isRefused ? 'resume refused' : 'by hand';
}

/** A client gets another reseller or none, or a domain gets another owner. */
async function change(
  { db, random, model }: Stage,
  holding: ModelHolding,
  to: ModelAccount,
): Promise<string> {
  if (random(2) === 0) {
    if (to.isReseller) return 'nothing';
    const resellers = model.accounts.filter(({ isReseller }) => isReseller);
    const provider = random(3) === 0 ? null : (resellers[random(resellers.length)] as ModelAccount);
    const isRefused = to.balance < 0 && provider !== null && provider !== to.provider;
    const came = await setProvider(db, to.id, provider?.id ?? null);
    if ((came.kind === 'refused') !== isRefused) throw new Error(`account ${to.id}: ${came.kind}`);
    if (!isRefused) to.provider = provider;
    return isRefused ? 'provider refused' : 'provider';
  }
  const came = await handOver(db, { ...BY, domainId: holding.id, accountId: to.id });
  if (came.kind !== 'passed') throw new Error(`domain ${holding.id}: ${came.kind}`);
  holding.account = to;
  return 'hand over';
}

async function rounds({ db, model }: Stage, now: number): Promise<Played> {
  const at = new Date(now);
  const sum: Played = {};
  for (let isMore = true; isMore; ) {
    // All at once: the order decides for whom the money is sufficient.
    const moved = await moveSubscriptions(db, {
      at,
      wallet: renewalWallet({ maxNegativeRials: MOST_OWED }),
      limit: 10_000,
    });
    const { isMore: _, ...counts } = moved;
    isMore = Object.values(counts).some((count) => count > 0);
    for (const [what, by] of Object.entries(counts)) sum[what] = (sum[what] ?? 0) + by;
  }
  model.visit(now);
  for (let isMore = true; isMore; ) {
    const { isMore: again, ...counts } = await settleDebts(db, { at, graceDays: 7 });
    for (const [what, by] of Object.entries(counts)) sum[what] = (sum[what] ?? 0) + by;
    isMore = again;
  }
  model.settle(now);
  return sum;
}
