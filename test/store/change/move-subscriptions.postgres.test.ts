import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { listSubscriptions } from '../../../src/store/accounts/subscriptions.ts';
import { moveSubscriptions } from '../../../src/store/change/move-subscriptions.ts';
import { restoreDomain } from '../../../src/store/change/restore-domain.ts';
import { createDomain, deleteDomain } from '../../../src/store/change/save-domain.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { NO_WALLET } from '../../support/billing/no-wallet.ts';
import { asRole } from '../../support/database/database.ts';
import { BY, newAccount, newDomain, wantedDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const DAY = 86_400_000;
const { db, url, query, value } = keptDatabase();
let accountId: number;
let termId: number;
let freeId: number;

beforeAll(async () => {
  accountId = await newAccount(db, 'a@example.org');
  const plan = await addTerm(db, 'pro', { days: 30, priceRials: 500 });
  termId = plan?.terms.at(-1)?.id as number;
  const free = await addTerm(db, 'pro', { days: 10, priceRials: 0 });
  freeId = free?.terms.at(-1)?.id as number;
});
beforeEach(async () => {
  await query`delete from domains`;
});

const move = (at: number, limit?: number) =>
  moveSubscriptions(db, { at: new Date(at), wallet: NO_WALLET, ...(limit && { limit }) });
const history = async (domainId: number) =>
  (await listSubscriptions(db, domainId))
    .reverse()
    .map(({ plan, status, endedAt }) => `${plan.slug} ${status}${endedAt === null ? '' : ' over'}`);

async function pricedDomain(name = 'example.com.') {
  const { id } = await newDomain(db, accountId, name);
  await setPlan(db, { domainId: id, planSlug: 'pro', termId, overrides: { max_records: 7 } });
  const [own] = await listSubscriptions(db, id);
  return { id, end: (own?.expiresAt as Date).getTime() };
}

describe('a round', () => {
  it('takes so many and says that there is more; no step is made twice by many workers', async () => {
    const ends = new Set<number>();
    for (let i = 0; i < 12; i++) ends.add((await pricedDomain(`d${i}.test.`)).end);
    const at = Math.max(...ends) + 30 * DAY;
    expect(await move(at, 5)).toMatchObject({ ended: 5, isMore: true });
    const workers = await Promise.all([1, 2, 3, 4].map(() => move(at, 5)));
    const rest = await move(at, 50);
    expect([...workers, rest].reduce((sum, { ended }) => sum + ended, 0)).toBe(7);
    expect(await move(at, 50)).toMatchObject({ ended: 0, isMore: false });
    expect(
      await value<number>`
      select count(*)::integer as n from subscriptions where ended_at is null`,
    ).toBe(12);
  });

  it('passes over a domain that somebody else has locked', async () => {
    const { id, end } = await pricedDomain();
    const other = openDatabase(url, { maxConnections: 1 });
    await other.transaction().execute(async (trx) => {
      await sql`select from domains where id = ${id} for update`.execute(trx);
      expect(await move(end + 30 * DAY)).toMatchObject({ ended: 0 });
    });
    await other.destroy();
    expect(await move(end + 30 * DAY)).toMatchObject({ ended: 1 });
  });

  it('has in the workers’ role all that it needs', async () => {
    const { end } = await pricedDomain();
    const db = openDatabase(asRole(url, 'zonefleet_worker'));
    const order = { at: new Date(end + 30 * DAY), wallet: NO_WALLET };
    expect(await moveSubscriptions(db, order)).toMatchObject({ ended: 1 });
    await db.destroy();
  });

  it('leaves deleted domains alone; a restored one goes on with what it has bought', async () => {
    const { id, end } = await pricedDomain();
    await deleteDomain(db, { ...BY, domainId: id });
    expect(await move(end - DAY)).toMatchObject({ unpaid: 0 });
    await restoreDomain(db, { ...BY, domainId: id });
    expect(await move(end - DAY)).toMatchObject({ unpaid: 1 });
    const [own] = await listSubscriptions(db, id);
    expect(own).toMatchObject({ status: 'active', expiresAt: new Date(end), overrides: { max_records: 7 } });
  });

  it('renews what costs nothing, and asks the wallet for what does, in one transaction with the term', async () => {
    const { id } = await newDomain(db, accountId);
    await setPlan(db, { domainId: id, planSlug: 'pro', termId: freeId });
    const [own] = await listSubscriptions(db, id);
    const end = (own?.expiresAt as Date).getTime();
    expect(await move(end - 3 * DAY)).toMatchObject({ renewed: 1, unpaid: 0 });
    const priced = await pricedDomain('priced.test.');
    const order = { at: new Date(priced.end - 3 * DAY), limit: 10 };
    const broken = { lock: async () => () => Promise.reject(new Error('the wallet is away')) };
    await expect(moveSubscriptions(db, { ...order, wallet: broken })).rejects.toThrow('away');
    const paid: object[] = [];
    const wallet = {
      lock: async () => async (charge: object) => paid.push(charge) > 0,
    };
    await moveSubscriptions(db, { ...order, wallet });
    expect(paid).toEqual([
      {
        accountId,
        subscriptionId: (await listSubscriptions(db, priced.id))[0]?.id,
        domainId: priced.id,
        priceRials: 500,
        description: 'Pro for 30 days: priced.test',
        period: { start: new Date(priced.end), end: new Date(priced.end + 30 * DAY) },
        at: order.at,
      },
    ]);
    const [renewed] = await listSubscriptions(db, priced.id);
    expect(renewed).toMatchObject({ status: 'active', expiresAt: new Date(priced.end + 30 * DAY) });
  });

  it('goes on with all others where one fails, which is told and tried again a little later', async () => {
    const domains = [];
    for (const name of ['one.test.', 'bad.test.', 'two.test.']) domains.push(await pricedDomain(name));
    const [one, bad, two] = domains as [(typeof domains)[0], (typeof domains)[0], (typeof domains)[0]];
    const at = new Date(bad.end - DAY);
    let isBroken = true;
    const wallet = {
      lock: async (trx: Database) => async (charge: { domainId: number }) => {
        // Postgres itself refuses, so that the transaction could do no more without its savepoint.
        if (isBroken && charge.domainId === bad.id) await sql`select 1 / 0`.execute(trx);
        return true;
      },
    };
    const failed: unknown[] = [];
    const order = {
      wallet,
      onFailed: (which: object, error: unknown) => failed.push([which, String(error)]),
    };
    expect(await moveSubscriptions(db, { ...order, at })).toMatchObject({ renewed: 2, failed: 1 });
    const [own] = await listSubscriptions(db, bad.id);
    expect(failed).toEqual([
      [{ id: own?.id, domainId: bad.id }, expect.stringContaining('division by zero')],
    ]);
    expect(own).toMatchObject({ status: 'active', expiresAt: new Date(bad.end), chargeTriedAt: null });
    for (const { id, end } of [one, two])
      expect((await listSubscriptions(db, id))[0]).toMatchObject({ expiresAt: new Date(end + 30 * DAY) });
    // It takes nobody's turn meanwhile.
    expect(await moveSubscriptions(db, { ...order, at, limit: 1 })).toMatchObject({
      failed: 0,
      isMore: false,
    });
    isBroken = false;
    const later = new Date(at.getTime() + 15 * 60_000);
    expect(await moveSubscriptions(db, { ...order, at: later })).toMatchObject({ renewed: 1, failed: 0 });
  });
});

describe('a trial', () => {
  const trial = { planSlug: 'pro', days: 14 };
  const self = async (email: string) =>
    (await value<number>`
      update accounts set self_registered = true, plan_id = (select id from plans where slug = 'free')
      where id = ${await newAccount(db, email)} returning id`) as number;
  const create = async (account: number, name: string, rest = {}) => {
    const created = await createDomain(db, wantedDomain(account, name, { trial, ...rest }));
    if (created.kind !== 'created') throw new Error(created.message);
    return created.domain;
  };

  it('is had once, by the first domain of an account that registered itself, and ends in free without grace', async () => {
    const account = await self('self@example.org');
    const first = await create(account, 'first.test.');
    expect(await history(first.id)).toEqual(['pro active']);
    const [own] = await listSubscriptions(db, first.id);
    expect(own).toMatchObject({ isTrial: true, term: null, autoRenew: false });
    expect(await history((await create(account, 'second.test.')).id)).toEqual(['free active']);
    await deleteDomain(db, { ...BY, domainId: first.id });
    await query`delete from domains where id = ${first.id}`;
    const again = await create(account, 'first.test.');
    expect(await history(again.id)).toEqual(['free active']);
    const third = await create(await self('other@example.org'), 'third.test.');
    const end = (await listSubscriptions(db, third.id))[0]?.expiresAt as Date;
    expect(await move(end.getTime())).toMatchObject({ grace: 0, ended: 1 });
    expect(await history(third.id)).toEqual(['pro expired over', 'free active']);
  });

  it('is had by nobody whom an operator made, nor by who has a domain already', async () => {
    const made = await newAccount(db, 'made@example.org');
    expect(await history((await create(made, 'made.test.')).id)).toEqual(['pro active']);
    expect((await listSubscriptions(db, (await create(made, 'made2.test.')).id))[0]?.isTrial).toBe(false);
    const old = await self('old@example.org');
    await create(old, 'before.test.', { trial: undefined });
    expect(await history((await create(old, 'after.test.')).id)).toEqual(['free active']);
  });
});
