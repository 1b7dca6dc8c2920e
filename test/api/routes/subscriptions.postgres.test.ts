import { beforeAll, describe, expect, it } from 'vitest';
import { CataloguePlan, Entitlements, Subscription } from '../../../src/api/schemas/plan.ts';
import { RULE_TYPES } from '../../../src/edge/rules/every-type.ts';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { moveSubscriptions } from '../../../src/store/change/move-subscriptions.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { type Browser, signIn } from '../../support/api/people.ts';
import { NO_WALLET } from '../../support/billing/no-wallet.ts';

const api = sharedTestApi();
let domain: Domain;
let browser: Browser;

beforeAll(async () => {
  domain = await api.makeDomain('planned.test', { planSlug: 'free' });
  await api.makeDomain('other.test');
  browser = await signIn(api, 'owner');
});

const get = async (path: string, as = 'owner') => (await api.ask('GET', `/domains/${path}`, { as })).body;

describe('the features of a domain', () => {
  it('are those of its plan, with their usage', async () => {
    const body = await get('planned.test/features');
    expect(Entitlements.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({
      plan_slug: 'free',
      plan_name: 'Free',
      has_active_plan: true,
      max_records: 200,
      max_cache_cap_mb: 512,
      logs_enabled: false,
      rules_enabled: true,
      domain_usage: expect.arrayContaining([
        { name: 'records', used: 0, limit: 200 },
        { name: 'rules_waf', used: 0, limit: 5 },
      ]),
      quota_reset_days: 30,
    });
    const [start, end] = [Date.parse(body.quota_period_start), Date.parse(body.quota_period_end)];
    expect(end - start).toBe(30 * 86_400_000);
    expect(start).toBeLessThanOrEqual(Date.now());
  });

  it('contain null for a limit that does not exist', async () => {
    const body = await get('other.test/features');
    expect(body).toMatchObject({ plan_slug: 'pro', max_records: null, max_traffic_gb: null });
    const names = body.domain_usage.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['records', ...RULE_TYPES.map((type) => `rules_${type}`)]);
    expect(body.domain_usage[0]).toEqual({ name: 'records', used: 0, limit: null });
  });
});

describe('the subscriptions of a domain', () => {
  it('are listed newest first, the active one and older ones', async () => {
    await setPlan(api.db, { domainId: domain.id, planSlug: 'pro' });
    const body = await get('planned.test/subscriptions');
    for (const item of body) expect(Subscription.strict().parse(item)).toEqual(item);
    expect(body).toMatchObject([
      {
        status: 'active',
        plan: { slug: 'pro', id: body[0].plan_id },
        user_id: api.accountIds.owner,
        domain_id: domain.id,
        domain_name: 'planned.test',
        auto_renew: false,
        is_trial: false,
      },
      { status: 'cancelled', plan: { slug: 'free' } },
    ]);
    // Without a term, it has no end.
    for (const field of ['plan_term_id', 'expires_at']) expect(body[0]).not.toHaveProperty(field);
    const { id, plan_term_id, plan_term } = body[1];
    expect(plan_term).toEqual({ id: plan_term_id, billing_duration_days: 30, price_rials: 0 });
    expect(await get(`planned.test/subscriptions/${id}`)).toEqual(body[1]);
    for (const other of [id, 0, 'current', 2 ** 60])
      expect(await get(`other.test/subscriptions/${other}`)).toEqual({ error: 'subscription not found' });
  });

  it('contain their end, their grace period, and the next subscription', async () => {
    const paid = await api.makeDomain('paid.test', { planSlug: 'free' });
    const plan = await addTerm(api.db, 'pro', { days: 90, priceRials: 700 });
    const termId = plan?.terms.at(-1)?.id as number;
    await setPlan(api.db, { domainId: paid.id, planSlug: 'pro', termId, overrides: { max_records: 5 } });
    const read = async () => (await get('paid.test/subscriptions'))[0];
    const move = (at: number) => moveSubscriptions(api.db, { at: new Date(at), wallet: NO_WALLET });
    const own = await read();
    expect(own).toMatchObject({
      status: 'active',
      auto_renew: true,
      plan_term_id: termId,
      plan_term: { id: termId, billing_duration_days: 90, price_rials: 700 },
      plan: { max_records: null },
    });
    expect(await get('paid.test/features')).toMatchObject({
      max_records: 5,
      plan_term_id: termId,
      billing_duration_days: 90,
      domain_usage: expect.arrayContaining([{ name: 'records', used: 0, limit: 5 }]),
    });
    const end = Date.parse(own.expires_at);
    expect(end - Date.parse(own.started_at)).toBe(90 * 86_400_000);
    await move(end);
    const grace_until = new Date(end + 7 * 86_400_000).toISOString();
    expect(await read()).toMatchObject({ status: 'grace', expires_at: own.expires_at, grace_until });
    expect((await get('paid.test/features')).plan_slug).toBe('pro');
    expect((await get('?search=paid'))[0].subscription).toEqual(await read());
  });

  it('are based on the plans of a catalogue', async () => {
    const { body: plans } = await browser.ask('GET', '/billing/plans');
    expect(plans.map((plan: object) => CataloguePlan.strict().parse(plan))).toEqual(plans);
    expect(plans).toMatchObject([
      { slug: 'free', terms: [{ price_rials: 0 }] },
      { slug: 'pro', terms: [{ price_rials: 700 }] },
    ]);
  });
});
