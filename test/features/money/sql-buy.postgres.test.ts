import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { buyTerm } from '../../../src/features/money/sql-buy.ts';
import { renewalWallet } from '../../../src/features/money/sql-charge.ts';
import { moveMoney } from '../../../src/features/money/sql-wallet.ts';
import { setProvider, setReseller } from '../../../src/store/accounts/accounts.ts';
import { addTerm, createPlan } from '../../../src/store/accounts/plans.ts';
import { listSubscriptions } from '../../../src/store/accounts/subscriptions.ts';
import { moveSubscriptions } from '../../../src/store/change/move-subscriptions.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { asRole } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 2, 1);
const on = (days: number) => new Date(START + days * DAY);
const { db, url, query, value } = keptDatabase();
let [month, decade, small] = [0, 0, 0];
let accounts = 0;
const ownerOf = new Map<number, number>();

beforeAll(async () => {
  month = await newTerm('pro', 30, 900);
  decade = await newTerm('pro', 10, 100);
  await createPlan(db, 'small', { name: 'Small', maxRecords: 0, maxCacheCapMb: 4096, rulesEnabled: true });
  small = await newTerm('small', 30, 10);
});

async function newTerm(slug: string, days: number, priceRials: number) {
  return (await addTerm(db, slug, { days, priceRials }))?.terms.at(-1)?.id as number;
}

async function newBuyer(rials: number, { providerId }: { providerId?: number } = {}) {
  const name = `buyer${++accounts}`;
  const accountId = await newAccount(db, `${name}@example.org`);
  if (providerId !== undefined) await setProvider(db, accountId, providerId);
  if (rials > 0) await give(accountId, rials);
  const { id: domainId } = await newDomain(db, accountId, `${name}.test.`, { planSlug: 'free' });
  ownerOf.set(domainId, accountId);
  return { accountId, domainId };
}

/** A reseller and its client. */
async function newClient(resellerRials: number, clientRials = 0) {
  const reseller = await newBuyer(resellerRials);
  await setReseller(db, reseller.accountId, true);
  return { reseller, client: await newBuyer(clientRials, { providerId: reseller.accountId }) };
}

const give = (accountId: number, amountRials: number, at = on(0)) =>
  inTransaction(db, (trx) =>
    moveMoney(trx, {
      from: { outside: 'operator' },
      to: { accountId },
      amountRials,
      refType: 'adjustment',
      description: 'given',
      at,
    }),
  );
const buy = (
  kind: 'purchase' | 'switch',
  domainId: number,
  termId: number,
  { at = on(0), maxNegativeRials = 0, as = db, autoRenew = true, ownerId = ownerOf.get(domainId) ?? 0 } = {},
) => buyTerm(as, { kind, domainId, ownerId, termId, at, maxNegativeRials, autoRenew });

const balanceOf = async (accountId: number) =>
  (await value<number>`select balance_rials as rials from wallets where account_id = ${accountId}`) ?? 0;
const invoicesOf = (accountId: number) => query`
  select number, year, total_rials as total, domain, period_start, period_end, lines from invoices
  where account_id = ${accountId} order by id`;
/** All rows about money and plans, to prove that nothing was written. */
async function everything() {
  return (
    await query`
    select (select count(*) from ledger) as ledger, (select count(*) from invoices) as invoices,
      (select max(last) from invoice_years) as last, (select sum(balance_rials) from wallets) as balances,
      (select jsonb_agg(s order by id) from subscriptions s) as subscriptions`
  )[0];
}

it('a purchase writes the subscription, both ledger rows and the invoice, with the API’s role', async () => {
  const { accountId, domainId } = await newBuyer(1000);
  const api = openDatabase(await asRole(url, 'zonefleet_api'));
  const bought = await buy('purchase', domainId, month, { as: api });
  await api.destroy();
  expect(bought).toMatchObject({
    kind: 'bought',
    before: { plan: { slug: 'free' } },
    subscription: { plan: { slug: 'pro' }, status: 'active', expiresAt: on(30), autoRenew: true },
  });
  expect(await balanceOf(accountId)).toBe(100);
  expect(await invoicesOf(accountId)).toEqual([
    {
      number: expect.any(Number),
      year: 2026,
      total: 900,
      domain: 'buyer1.test.',
      period_start: on(0),
      period_end: on(30),
      lines: [{ description: 'Pro for 30 days: buyer1.test', amount_rials: 900 }],
    },
  ]);
});

it('a domain that exceeds the plan is rejected, with the exceeded limits', async () => {
  const { domainId } = await newBuyer(1000);
  await query`update domains set record_count = 3 where id = ${domainId}`;
  const before = await everything();
  expect(await buy('purchase', domainId, small)).toMatchObject({
    kind: 'above_limits',
    message: 'the domain uses more than the plan "small" allows: records 3 of 0',
    above: [{ limit: 'max_records', used: 3, allowed: 0 }],
  });
  expect(await everything()).toEqual(before);
});

it('a plan that an operator granted is not refunded', async () => {
  const { accountId, domainId } = await newBuyer(1000);
  await setPlan(db, { domainId, planSlug: 'pro', termId: month, at: on(0) });
  expect((await buy('switch', domainId, decade, { at: on(1) })).kind).toBe('bought');
  expect(await balanceOf(accountId)).toBe(900);
});

it('workers renew with their role, and the reseller’s wallet pays for its client', async () => {
  const { reseller, client } = await newClient(900, 900);
  await buy('purchase', client.domainId, month);
  const worker = openDatabase(await asRole(url, 'zonefleet_worker'));
  await moveSubscriptions(worker, { at: on(27), wallet: renewalWallet({ maxNegativeRials: 0 }) });
  await worker.destroy();
  expect(await listSubscriptions(db, client.domainId)).toMatchObject([{ expiresAt: on(60) }, {}]);
  expect(await balanceOf(reseller.accountId)).toBe(0);
});

it('of twenty concurrent purchases one succeeds, and invoice numbers have no gaps', async () => {
  const buyers = await Promise.all(Array.from({ length: 5 }, () => newBuyer(1800)));
  const bought = await Promise.all(
    Array.from({ length: 20 }, (_, i) => buy('purchase', buyers[i % 5]?.domainId as number, month)),
  );
  expect(bought.filter(({ kind }) => kind === 'bought')).toHaveLength(5);
  expect(bought.filter(({ kind }) => kind === 'wrong_state')).toHaveLength(15);
  const rows = await query<{ year: number; count: number; last: number; kept: number }>`
    select i.year, count(*)::integer as count, max(number) as last, max(y.last) as kept
    from invoices i join invoice_years y on y.year = i.year group by i.year`;
  for (const { count, last, kept } of rows) expect([count, kept]).toEqual([last, last]);
});

it('keeps invoices unchanged, and rejects a purchase for a domain that changed its owner', async () => {
  await expect(query`update invoices set total_rials = 0`).rejects.toThrow('never changed');
  await expect(query`delete from invoices`).rejects.toThrow('never changed');
  const { domainId } = await newBuyer(1000);
  const { accountId: other } = await newBuyer(1000);
  await query`update domains set account_id = ${other} where id = ${domainId}`;
  const before = await everything();
  expect((await buy('purchase', domainId, month)).kind).toBe('absent');
  expect(await everything()).toEqual(before);
});

it('a domain starts at most a hundred subscriptions a day, because each is kept permanently', async () => {
  const { accountId, domainId } = await newBuyer(5000);
  await query`
    insert into subscriptions (domain_id, account_id, plan_id, status, started_at, expires_at, ended_at, quota_reset_days)
    select ${domainId}, ${accountId}, s.plan_id, 'cancelled', ${on(0)}, ${on(0)}, ${on(0)}, 30
    from subscriptions s, generate_series(1, 100) where s.domain_id = ${domainId}`;
  const often = await buy('purchase', domainId, month, { at: on(0.9) });
  expect(often).toMatchObject({ kind: 'wrong_state', message: expect.stringContaining('100 subscriptions') });
  expect((await buy('purchase', domainId, month, { at: on(1.1) })).kind).toBe('bought');
});

it('a deactivated reseller pays for no client', async () => {
  const { reseller, client } = await newClient(5000);
  await query`update accounts set active = false where id = ${reseller.accountId}`;
  expect((await buy('purchase', client.domainId, month)).kind).toBe('short');
  await query`update accounts set active = true where id = ${reseller.accountId}`;
  expect((await buy('purchase', client.domainId, month)).kind).toBe('bought');
});

it('setting the renewal never starts another subscription', async () => {
  const { accountId: ownerId, domainId } = await newBuyer(1000);
  await buy('purchase', domainId, month);
  await setPlan(db, { domainId, planSlug: 'free', at: on(1) });
  const before = await listSubscriptions(db, domainId);
  const came = await setPlan(db, { domainId, ownerId, autoRenew: false, at: on(1) });
  expect(came).toMatchObject({ kind: 'updated', subscription: { plan: { slug: 'free' }, autoRenew: false } });
  expect((await listSubscriptions(db, domainId)).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
});

it('an invoice keeps the seller of its day', async () => {
  const { accountId, domainId } = await newBuyer(2000);
  const order = { kind: 'purchase', domainId, ownerId: accountId, maxNegativeRials: 0 } as const;
  await buyTerm(db, { ...order, termId: month, at: on(0), seller: 'Old Ltd' });
  await buyTerm(db, { ...order, kind: 'switch', termId: decade, at: on(10), seller: 'New Ltd' });
  await moveSubscriptions(db, {
    at: on(17),
    wallet: renewalWallet({ maxNegativeRials: 0, seller: 'Newest Ltd' }),
  });
  expect(
    (
      await query`select seller, total_rials as total from invoices where account_id = ${accountId} order by id`
    ).map((row) => Object.values(row as object).join(' ')),
  ).toEqual(['Old Ltd 900', 'New Ltd -600', 'New Ltd 100', 'Newest Ltd 100']);
});

it('a switch during a change of provider locks no wallet after the invoice numbers', async () => {
  const { client } = await newClient(0);
  const other = await newBuyer(5000);
  await setReseller(db, other.accountId, true);
  await buy('purchase', client.domainId, month, { maxNegativeRials: 2000 });
  // The wallet that the client's new reseller would pay from. A transaction that waits for it while holding the
  // numbers stops all others.
  const holder = await db.startTransaction().execute();
  await sql`select from wallets where account_id = ${other.accountId} for update`.execute(holder);
  const bystander = await newBuyer(1000);
  // The provider changes just after the credit note is written, as in a concurrent transaction.
  await query`
    create function change_provider() returns trigger language plpgsql as $$
    begin
      if new.total_rials < 0 then
        update accounts set provider_id = ${sql.lit(other.accountId)} where id = ${sql.lit(client.accountId)};
      end if;
      return new;
    end $$`;
  await query`create trigger change_provider after insert on invoices for each row execute function change_provider()`;
  const switched = buy('switch', client.domainId, decade, { at: on(10), maxNegativeRials: 2000 });
  try {
    expect((await Promise.race([switched, deadline()]))?.kind).toBe('bought');
    expect((await buy('purchase', bystander.domainId, month)).kind).toBe('bought');
  } finally {
    await holder.rollback().execute();
    await switched;
    await query`drop trigger change_provider on invoices`;
    await query`drop function change_provider()`;
  }
});

/** Resolves to undefined after a while, which means that the call waits for a lock. */
const deadline = () => new Promise<undefined>((resolve) => setTimeout(resolve, 5000, undefined));
