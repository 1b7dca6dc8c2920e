import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { Entitlements } from '../../../src/api/schemas/entitlements.ts';
import { CataloguePlan } from '../../../src/api/schemas/plan.ts';
import { Subscription } from '../../../src/api/schemas/subscription.ts';
import { RULE_TYPES } from '../../../src/edge/rules/every-type.ts';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { moveSubscriptions } from '../../../src/store/change/move-subscriptions.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { Browser, givePassword } from '../../support/api/people.ts';
import { NO_WALLET } from '../../support/billing/no-wallet.ts';

const api = sharedTestApi();
let domain: Domain;
let browser: Browser;

beforeAll(async () => {
  domain = await api.makeDomain('planned.test', { planSlug: 'free' });
  await api.makeDomain('other.test');
  await givePassword(api, 'owner');
  browser = new Browser(api);
  await browser.login('owner');
});

/** Returns the paths of all members that are prices. */
function pricesIn(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(/price|rials|amount/i.test(name) ? [`${path}/${name}`] : []),
    ...pricesIn(member, `${path}/${name}`),
  ]);
}

const features = async (as = 'owner') => await api.ask('GET', '/domains/planned.test/features', { as });

describe('the features of a domain', () => {
  it('are those of its plan, with their usage', async () => {
    const { status, body } = await features();
    expect(status).toBe(200);
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
    const { quota_period_start: start, quota_period_end: end } = body;
    expect(Date.parse(end) - Date.parse(start)).toBe(30 * 86_400_000);
    expect(Date.parse(start)).toBeLessThanOrEqual(Date.now());
  });

  it('contain null for an absent limit', async () => {
    const { body } = await api.ask('GET', '/domains/other.test/features');
    expect(body).toMatchObject({ plan_slug: 'pro', max_records: null, max_traffic_gb: null });
    const names = body.domain_usage.map(({ name }: { name: string }) => name);
    expect(names).toEqual(['records', ...RULE_TYPES.map((type) => `rules_${type}`)]);
    expect(body.domain_usage[0]).toEqual({ name: 'records', used: 0, limit: null });
  });

  it('are absent without a plan', async () => {
    const bare = await api.makeDomain('bare.test', { planSlug: null });
    const { status, body } = await api.ask('GET', '/domains/bare.test/features');
    expect(status).toBe(200);
    expect(body).toMatchObject({ has_active_plan: false, max_records: 0, rules_enabled: false });
    expect(body).not.toHaveProperty('plan_id');
    expect(Entitlements.strict().parse(body)).toEqual(body);
    expect((await api.ask('GET', '/domains/bare.test/subscriptions')).body).toEqual([]);
    await setPlan(api.db, { domainId: bare.id, planSlug: 'pro' });
    expect((await api.ask('GET', '/domains/bare.test/features')).body.has_active_plan).toBe(true);
  });
});

describe('the subscriptions of a domain', () => {
  it('are listed newest first, the active one and older ones', async () => {
    await setPlan(api.db, { domainId: domain.id, planSlug: 'pro' });
    const { status, body } = await api.ask('GET', '/domains/planned.test/subscriptions');
    expect(status).toBe(200);
    for (const item of body) expect(Subscription.strict().parse(item)).toEqual(item);
    expect(
      body.map((item: { status: string; plan: { slug: string } }) => [item.plan.slug, item.status]),
    ).toEqual([
      ['pro', 'active'],
      ['free', 'cancelled'],
    ]);
    expect(body[0]).toMatchObject({
      user_id: api.accountIds.owner,
      domain_id: domain.id,
      domain_name: 'planned.test',
      plan_id: body[0].plan.id,
      auto_renew: false,
      is_trial: false,
    });
    // Without a term it has no end.
    expect(body[0]).not.toHaveProperty('plan_term_id');
    expect(body[0]).not.toHaveProperty('expires_at');
    const one = await api.ask('GET', `/domains/planned.test/subscriptions/${body[1].id}`);
    expect([one.status, one.body]).toEqual([200, body[1]]);
    expect(body[1].plan_term).toEqual({
      id: body[1].plan_term_id,
      billing_duration_days: 30,
      price_rials: 0,
    });
  });

  it('contain their end, their grace period and what follows', async () => {
    const paid = await api.makeDomain('paid.test', { planSlug: 'free' });
    const plan = await addTerm(api.db, 'pro', { days: 90, priceRials: 700 });
    const termId = plan?.terms.at(-1)?.id as number;
    await setPlan(api.db, { domainId: paid.id, planSlug: 'pro', termId, overrides: { max_records: 5 } });
    const read = async () => (await api.ask('GET', '/domains/paid.test/subscriptions')).body[0];
    const own = await read();
    expect(own).toMatchObject({
      status: 'active',
      auto_renew: true,
      plan_term_id: termId,
      plan_term: { id: termId, billing_duration_days: 90, price_rials: 700 },
      plan: { max_records: null },
    });
    const { body: able } = await api.ask('GET', '/domains/paid.test/features');
    expect(able).toMatchObject({
      max_records: 5,
      plan_term_id: termId,
      billing_duration_days: 90,
      domain_usage: expect.arrayContaining([{ name: 'records', used: 0, limit: 5 }]),
    });
    const end = Date.parse(own.expires_at);
    expect(end - Date.parse(own.started_at)).toBe(90 * 86_400_000);
    await moveSubscriptions(api.db, { at: new Date(end), wallet: NO_WALLET });
    expect(await read()).toMatchObject({
      status: 'grace',
      expires_at: own.expires_at,
      grace_until: new Date(end + 7 * 86_400_000).toISOString(),
    });
    expect((await api.ask('GET', '/domains/paid.test/features')).body.plan_slug).toBe('pro');
    const { body: listed } = await api.ask('GET', '/domains/?search=paid');
    expect(listed[0].subscription).toEqual(await read());
    await moveSubscriptions(api.db, { at: new Date(end + 7 * 86_400_000), wallet: NO_WALLET });
    expect(await read()).toMatchObject({ status: 'active', plan: { slug: 'free' }, auto_renew: true });
    expect((await api.ask('GET', '/domains/paid.test/features')).body).toMatchObject({
      plan_slug: 'free',
      max_records: 200,
    });
  });

  it('contain no price for clients of a reseller', async () => {
    await sql`update accounts set provider_id = ${api.accountIds.stranger} where id = ${api.accountIds.owner}`.execute(
      api.db,
    );
    try {
      for (const as of ['owner', 'operator']) {
        const list = await api.ask('GET', '/domains/paid.test/subscriptions', { as });
        const [{ id }] = list.body;
        const one = await api.ask('GET', `/domains/paid.test/subscriptions/${id}`, { as });
        const domains = await api.ask('GET', '/domains/', { as });
        expect(list.body).toHaveLength(3);
        for (const { status, body } of [list, one, domains]) {
          expect([status, pricesIn(body)]).toEqual([200, []]);
        }
        for (const item of list.body) expect(Subscription.strict().parse(item)).toEqual(item);
      }
      const catalogue = await browser.ask('GET', '/billing/plans');
      expect([catalogue.status, catalogue.body.length, pricesIn(catalogue.body)]).toEqual([200, 2, []]);
    } finally {
      await sql`update accounts set provider_id = null`.execute(api.db);
    }
    expect(pricesIn((await api.ask('GET', '/domains/paid.test/subscriptions')).body)).not.toEqual([]);
  });

  it('are of plans in a catalogue for sessions only', async () => {
    expect((await api.ask('GET', '/billing/plans', { as: null })).status).toBe(401);
    const { status, body } = await api.ask('GET', '/billing/plans', { as: 'operator' });
    expect([status, body]).toEqual([403, { error: expect.stringContaining('API keys') }]);
    const { status: found, body: plans } = await browser.ask('GET', '/billing/plans');
    expect([found, plans.map((plan: object) => CataloguePlan.strict().parse(plan))]).toEqual([200, plans]);
    expect(pricesIn(plans)).not.toEqual([]);
    expect(plans.map(({ slug, terms }: z.output<typeof CataloguePlan>) => [slug, terms.length])).toEqual([
      ['free', 1],
      ['pro', 1],
    ]);
  });

  it('are found below their own domain only', async () => {
    const [{ id }] = (await api.ask('GET', '/domains/other.test/subscriptions')).body;
    for (const other of [id, 0, 'current', 2 ** 60]) {
      const { status, body } = await api.ask('GET', `/domains/planned.test/subscriptions/${other}`);
      expect([status, body]).toEqual([404, { error: 'subscription not found' }]);
    }
  });
});
