// Which domain a question about requests is about, who may ask it, and which plan it needs.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { setPlan } from '../../../../src/store/change/set-plan.ts';
import { NAME, type RequestsApi, startRequestsApi } from '../../../support/analytics/requests-api.ts';

let api: RequestsApi;
beforeAll(async () => {
  api = await startRequestsApi({ count: 500 });
});
afterAll(() => api?.stop());

describe('a domain', () => {
  const get = (query: string, as = 'owner') => api.ask('GET', `/analytics/summary${query}`, { as });

  it.each(['', '?domain=', '?period=24h'])('is required (%s)', async (query) => {
    for (const as of ['owner', 'stranger']) {
      const { status, body } = await get(query, as);
      expect([status, body.fields]).toEqual([400, [{ field: 'domain', error: 'is required' }]]);
    }
  });

  it('is exactly one, also for those who see none of them', async () => {
    for (const as of ['owner', 'stranger']) {
      const { status, body } = await get(`?domain=${NAME}&domain=other.test`, as);
      expect([status, body.fields[0].field]).toEqual([400, 'domain']);
    }
  });

  it('that is not visible is a 404, as one that there is not', async () => {
    const absent = await get('?domain=none.test', 'stranger');
    const foreign = await get(`?domain=${NAME}`, 'stranger');
    expect([absent.status, foreign.status, foreign.body]).toEqual([404, 404, absent.body]);
    expect((await get(`?domain=${api.domain.id}`, 'stranger')).status).toBe(404);
  });

  it('is found by its name in any case, with a final dot, and by its id', async () => {
    const { body } = await get(`?domain=${NAME}`);
    expect(body.total_requests).toBeGreaterThan(0);
    for (const text of ['SHOP.Test', 'shop.test.', String(api.domain.id)])
      expect([text, (await get(`?domain=${text}`)).body]).toEqual([text, body]);
  });

  it('of another account does not show through a host name', async () => {
    for (const section of ['summary', 'logs']) {
      const { status, body } = await api.ask(
        'GET',
        `/analytics/${section}?domain=quiet.test&hostname=${NAME}&period=30d`,
      );
      expect([status, body.total_requests ?? body.data.length]).toEqual([200, 0]);
    }
  });

  it('without lines has zeros', async () => {
    const { body } = await get('?domain=quiet.test');
    expect(body).toEqual({
      total_requests: 0,
      total_bandwidth: 0,
      unique_visitors: 0,
      error_rate: 0,
      avg_response_time: 0,
      p90: 0,
      p95: 0,
      p99: 0,
    });
  });

  it('may be asked for by every role, and by a key that only reads', async () => {
    for (const as of [
      'owner',
      'admin',
      'editor',
      'viewer',
      'operator',
      await api.makeKey({ readOnly: true }),
    ])
      expect([as, (await get(`?domain=${NAME}`, as)).status]).toEqual([as, 200]);
    expect((await api.ask('GET', `/analytics/summary?domain=${NAME}`, { as: null })).status).toBe(401);
  });

  it('other parameters are refused', async () => {
    const { status, body } = await get(`?domain=${NAME}&from=1`);
    expect([status, body.fields]).toEqual([400, [{ field: 'from', error: 'unknown parameter' }]]);
    expect((await get(`?domain=${NAME}&hostname=a&hostname=b`)).body.fields[0].field).toBe('hostname');
  });
});

describe('the plan', () => {
  const SECTIONS = ['visitors', 'top-uris', 'unreachable-reasons', 'requests-compare'];
  const LOGS = ['logs', 'top-requests?metric=uris'];
  const ALL = ['summary', ...SECTIONS, ...LOGS];
  const told = (names: readonly string[], answer: unknown[]) =>
    Object.fromEntries(names.map((name) => [name, answer]));
  const askAll = async () => {
    const answers: Record<string, unknown> = {};
    for (const section of ALL) {
      const [path, query = ''] = section.split('?');
      const { status, body } = await api.ask('GET', `/analytics/${path}?domain=plans.test&${query}`);
      answers[section] = [status, body.code, body.feature];
    }
    return answers;
  };

  it('decides what is told: 402 without one, 403 without the feature', async () => {
    const { id: domainId } = await api.makeDomain('plans.test');
    const has = (monitoring_enabled: boolean, logs_enabled: boolean) =>
      setPlan(api.db, { domainId, planSlug: 'free', overrides: { monitoring_enabled, logs_enabled } });
    const open = [200, undefined, undefined];
    const noMonitoring = [403, 'plan_feature', 'monitoring_enabled'];
    const noLogs = [403, 'plan_feature', 'logs_enabled'];
    await setPlan(api.db, { domainId, planSlug: null });
    expect(await askAll()).toEqual(told(ALL, [402, 'no_active_plan', undefined]));
    await has(false, false);
    expect(await askAll()).toEqual({
      ...told(['summary'], open),
      ...told(SECTIONS, noMonitoring),
      ...told(LOGS, noLogs),
    });
    await has(true, false);
    expect(await askAll()).toEqual({ ...told(['summary', ...SECTIONS], open), ...told(LOGS, noLogs) });
    await has(false, true);
    expect(await askAll()).toEqual({ ...told(['summary', ...LOGS], open), ...told(SECTIONS, noMonitoring) });
  });
});
