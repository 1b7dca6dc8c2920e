import { beforeEach, describe, expect, it } from 'vitest';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { NAME, startRequestsApi } from '../../support/analytics/requests-api.ts';
import { ownApi, startTestApi } from '../../support/api/api.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const api = ownApi(() => startRequestsApi({ count: 4000 }));

/** Start of the subscription, and days until its quota is reset. */
async function begin(startedAt: Date, resetDays: number): Promise<void> {
  await api.query`update subscriptions set started_at = ${startedAt}, quota_reset_days = ${resetDays}
    where domain_id = ${api.domain.id} and ended_at is null`;
}
const usage = () => api.ask('GET', `/domains/${NAME}/traffic-usage`, { as: 'viewer' });
const sentIn = (from: number, until: number) => {
  const counted = api.lines.filter(({ at }) => at >= from && at < until);
  return { requests: counted.length, used_bytes: counted.reduce((sum, { octets }) => sum + octets, 0) };
};
const hourOf = (at: number) => Math.floor(at / HOUR_MS) * HOUR_MS;

describe('traffic-usage', () => {
  beforeEach(() =>
    setPlan(api.db, { domainId: api.domain.id, planSlug: 'free', overrides: { max_traffic_gb: 7 } }),
  );

  it('counts the hours of this domain that end in the period', async () => {
    const startedAt = new Date(Date.now() - 17 * DAY_MS - 1_234_567);
    await begin(startedAt, 10);
    const start = startedAt.getTime() + 10 * DAY_MS;
    const { status, body } = await usage();
    expect([status, body]).toEqual([
      200,
      {
        period_start: new Date(start).toISOString(),
        period_end: new Date(start + 10 * DAY_MS).toISOString(),
        ...sentIn(hourOf(start), hourOf(start + 10 * DAY_MS)),
        limit_gb: 7,
      },
    ]);
    expect(body.requests).toBeGreaterThan(100);
  });

  it('of a quota that is never reset starts at the subscription, and has no end', async () => {
    const startedAt = new Date(Date.now() - 40 * DAY_MS);
    await begin(startedAt, 0);
    const { body } = await usage();
    expect(body).toEqual({
      period_start: startedAt.toISOString(),
      ...sentIn(hourOf(startedAt.getTime()), Date.now()),
      limit_gb: 7,
    });
  });

  it('responds 402 without a plan, and 404 without a store', async () => {
    const { id: domainId } = await api.makeDomain('bare.test');
    await setPlan(api.db, { domainId, planSlug: null });
    const bare = await api.ask('GET', '/domains/bare.test/traffic-usage');
    expect([bare.status, bare.body.code]).toEqual([402, 'no_active_plan']);
    const without = await startTestApi();
    try {
      await without.makeDomain(NAME);
      expect((await without.ask('GET', `/domains/${NAME}/traffic-usage`)).status).toBe(404);
      const { body } = await without.ask('GET', `/domains/${NAME}/features`);
      expect(JSON.stringify(body.domain_usage)).not.toContain('traffic_gb');
    } finally {
      await without.stop();
    }
  });
});

describe('the features and the recommendations', () => {
  it('report the usage, and warn the owner when the plan is nearly used', async () => {
    await setPlan(api.db, { domainId: api.domain.id, planSlug: 'free', overrides: { max_traffic_gb: 1 } });
    const startedAt = Date.now() - 25 * DAY_MS;
    await begin(new Date(startedAt), 30);
    const { used_bytes } = sentIn(hourOf(startedAt), Date.now());
    expect(used_bytes).toBeGreaterThan(1e9);
    const { body } = await api.ask('GET', `/domains/${NAME}/features`, { as: 'viewer' });
    expect(body.domain_usage).toContainEqual({
      name: 'traffic_gb',
      used: Math.floor(used_bytes / 1e6) / 1000,
      limit: 1,
    });
    const told = await api.ask('GET', `/domains/${NAME}/recommendations`);
    const nearly = told.body.find(({ code }: { code: string }) => code === 'plan_nearly_used');
    expect(nearly?.message).toContain(`${Math.floor(used_bytes / 1e9)} of 1 GB of traffic`);
  });

  it('omit the usage while the store hangs, and wait for it only once', async () => {
    const { id } = await api.makeDomain('later.test');
    expect(id).toBeGreaterThan(0);
    api.engine.signal('SIGSTOP');
    try {
      for (let i = 0; i < 3; i++) {
        const { status, body } = await api.ask('GET', '/domains/later.test/features');
        expect(status).toBe(200);
        expect(JSON.stringify(body.domain_usage)).not.toContain('traffic_gb');
      }
    } finally {
      api.engine.signal('SIGCONT');
    }
  });
});
