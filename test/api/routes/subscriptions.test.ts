import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Entitlements } from '../../../src/api/schemas/entitlements.ts';
import { Subscription } from '../../../src/api/schemas/subscription.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';

let api: TestApi;
let domain: Domain;

beforeAll(async () => {
  api = await startTestApi();
  domain = await api.makeDomain('planned.test', { planSlug: 'free' });
  await api.makeDomain('other.test');
});
afterAll(() => api.stop());

const features = async (as = 'owner') => await api.ask('GET', '/domains/planned.test/features', { as });

describe('the features of a domain', () => {
  it('are those of its plan, with what is used of them', async () => {
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
      domain_usage: [{ name: 'records', used: 0, limit: 200 }],
      quota_reset_days: 30,
    });
    const { quota_period_start: start, quota_period_end: end } = body;
    expect(Date.parse(end) - Date.parse(start)).toBe(30 * 86_400_000);
    expect(Date.parse(start)).toBeLessThanOrEqual(Date.now());
  });

  it('have null for what has no limit', async () => {
    const { body } = await api.ask('GET', '/domains/other.test/features');
    expect(body).toMatchObject({ plan_slug: 'pro', max_records: null, max_traffic_gb: null });
    expect(body.domain_usage).toEqual([{ name: 'records', used: 0, limit: null }]);
  });

  it('are shown to all who see the domain, and to no others', async () => {
    for (const as of ['owner', 'admin', 'editor', 'viewer', 'operator']) {
      expect((await features(as)).status).toBe(200);
    }
    expect((await features('stranger')).status).toBe(404);
    expect((await features('svc_nobody')).status).toBe(401);
  });

  it('are none without a plan', async () => {
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
  it('are the active one and those before it, newest first', async () => {
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
    // given without a term: it has no end
    expect(body[0]).not.toHaveProperty('plan_term_id');
    expect(body[0]).not.toHaveProperty('expires_at');
    const one = await api.ask('GET', `/domains/planned.test/subscriptions/${body[1].id}`);
    expect([one.status, one.body]).toEqual([200, body[1]]);
    expect(body[1].plan_term).toEqual({ id: body[1].plan_term_id, billing_duration_days: 30, price_rials: 0 });
  });

  it('are for the owner and for global admins', async () => {
    const [{ id }] = (await api.ask('GET', '/domains/planned.test/subscriptions')).body;
    for (const path of ['/domains/planned.test/subscriptions', `/domains/planned.test/subscriptions/${id}`]) {
      const statuses = ['owner', 'operator', 'admin', 'editor', 'viewer', 'stranger', null].map(
        async (as) => (await api.ask('GET', path, { as })).status,
      );
      expect(await Promise.all(statuses)).toEqual([200, 200, 403, 403, 403, 404, 401]);
    }
  });

  it('are found under their own domain only', async () => {
    const [{ id }] = (await api.ask('GET', '/domains/other.test/subscriptions')).body;
    for (const other of [id, 0, -1, 999_999, '1e3', '01', 'current', 2 ** 60, '9'.repeat(30)]) {
      const { status, body } = await api.ask('GET', `/domains/planned.test/subscriptions/${other}`);
      expect([status, body]).toEqual([404, { error: 'subscription not found' }]);
    }
  });

  it('stay readable while the domain is disabled', async () => {
    const by = { by: { kind: 'cli' }, source: 'status' } as const;
    await changeStatus(api.db, { domainId: domain.id, event: 'disable', ...by });
    expect((await api.ask('GET', '/domains/planned.test/subscriptions')).status).toBe(200);
    expect((await features('viewer')).status).toBe(200);
  });

  it('are bought by no key', async () => {
    for (const path of ['purchase', 'switch', 'auto-renew']) {
      expect((await api.ask('POST', `/domains/planned.test/subscriptions/${path}`)).status).toBe(403);
      expect((await api.ask('POST', `/subscriptions/${path}`)).status).toBe(403);
    }
    const { status, body } = await api.ask('GET', '/subscriptions/current');
    expect([status, body]).toEqual([
      410,
      { error: expect.stringMatching(/^\w+$/), message: expect.any(String) },
    ]);
  });
});
