import { beforeAll, describe, expect, it } from 'vitest';
import { Subscription } from '../../../src/api/schemas/plan.ts';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { type Browser, signIn } from '../../support/api/people.ts';
import { giveMoney } from '../../support/billing/give-money.ts';

const api = sharedTestApi();
let browser: Browser;
let [cheap, dear] = [0, 0];
let names = 0;

beforeAll(async () => {
  const terms = async (days: number, priceRials: number) =>
    (await addTerm(api.db, 'pro', { days, priceRials }))?.terms.at(-1)?.id as number;
  cheap = await terms(30, 100);
  dear = await terms(365, 1_000_000);
  browser = await signIn(api, 'owner');
  await giveMoney(api.db, api.accountIds.owner, 1000);
});

async function newPath(): Promise<string> {
  const name = `buys${++names}.test`;
  await api.makeDomain(name, { planSlug: 'free' });
  return `/domains/${name}/subscriptions`;
}

describe('a session of the owner', () => {
  it('buys, switches and sets the renewal, and receives the subscription each time', async () => {
    const path = await newPath();
    const order = { plan_term_id: cheap, auto_renew: false };
    const bought = await browser.ask('POST', `${path}/purchase`, order);
    expect([bought.status, Subscription.safeParse(bought.body).success]).toEqual([200, true]);
    expect(bought.body).toMatchObject({ plan: { slug: 'pro' }, plan_term_id: cheap, auto_renew: false });
    const renews = await browser.ask('POST', `${path}/auto-renew`, { auto_renew: true });
    expect([renews.status, renews.body]).toEqual([200, { ...bought.body, auto_renew: true }]);
    const short = await browser.ask('POST', `${path}/switch`, { plan_term_id: dear });
    expect([short.status, short.body]).toEqual([402, { error: 'the balance of the wallet is too low' }]);
    expect((await browser.ask('POST', `${path}/purchase`, order)).body.code).toBe('wrong_state');
    expect((await browser.ask('GET', path)).body).toHaveLength(2);
  });

  it('receives the field error if no plan has the term on sale', async () => {
    const path = await newPath();
    const answer = await browser.ask('POST', `${path}/purchase`, { plan_term_id: 999_999 });
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
    expect(answer.body.fields).toEqual([
      { field: 'plan_term_id', error: 'no plan has a term 999999 on sale' },
    ]);
  });
});
