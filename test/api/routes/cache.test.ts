// Who may browse and purge what is cached, with which plan, and how much at once.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { type EdgeApi, startEdgeApi } from '../../../support/edge/edge-api.ts';
import { storedEntry } from '../../../support/edge/stored-entry.ts';

let api: EdgeApi;
let edge: string;
beforeAll(async () => {
  api = await startEdgeApi({ requestsPerMinute: 100_000 });
  edge = await api.makeEdge('fra');
});
afterAll(() => api.stop());

const browse = (name: string, as: string | null = 'viewer', query = '') =>
  api.ask('GET', `/domains/${name}/cache/keys${query}`, { as });
const purge = (name: string, as = 'owner') => api.ask('DELETE', `/domains/${name}/cache/`, { as });
const refresh = (name: string, as = 'owner') =>
  api.ask('POST', `/domains/${name}/cache/refresh`, { as, body: { url: `https://${name}/` } });

/** Pages wait until it is released. */
async function holdRegistry(): Promise<{ release: () => void; holding: Promise<void> }> {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let holding = Promise.resolve();
  await new Promise<void>((isHeld) => {
    holding = api.database.db.transaction().execute(async (trx) => {
      await sql`lock table cached_entries in access exclusive mode`.execute(trx);
      isHeld();
      await held;
    });
  });
  return { release, holding };
}

describe('a page', () => {
  it('has a hundred rows from the newest on unless the call says otherwise', async () => {
    await api.makeDomain('full.test');
    const entries = Array.from({ length: 105 }, (_, i) =>
      storedEntry('full.test', {
        key_hash: String(i),
        cached_at: new Date(Date.now() - i * 1000).toISOString(),
      }),
    );
    const { body: reported } = await api.ask('POST', '/edge/v1/cache', { as: edge, body: { entries } });
    expect(reported.stored).toBe(105);
    const { body } = await browse('full.test');
    expect([body.rows.length, body.total, body.limit, body.offset]).toEqual([100, 105, 100, 0]);
    expect([body.rows[0].key_hash, body.rows[99].key_hash]).toEqual(['0', '99']);
    expect((await browse('full.test', 'viewer', '?offset=100')).body.rows).toHaveLength(5);
  });

  it('is for every role, and for a key that only reads; nobody else sees that the domain is there', async () => {
    await api.makeDomain('roles.test');
    const readOnly = await api.makeKey({ readOnly: true });
    for (const as of ['owner', 'admin', 'editor', 'viewer', 'operator', readOnly])
      expect((await browse('roles.test', as)).status).toBe(200);
    const [foreign, absent] = [await browse('roles.test', 'stranger'), await browse('none.test', 'stranger')];
    expect([foreign.status, foreign.body]).toEqual([404, absent.body]);
    expect((await browse('roles.test', null)).status).toBe(401);
  });

  it('is waited for in turn: of one account ten wait, more are a 429, and others of the domain are not behind them', async () => {
    await api.makeDomain('busy.test');
    const { release, holding } = await holdRegistry();
    const order: string[] = [];
    const asked = Array.from({ length: 13 }, () => browse('busy.test', 'owner'));
    const refused = await Promise.race(asked);
    const others = browse('busy.test', 'viewer').then(() => order.push('viewer'));
    for (const each of asked) void each.then(({ status }) => status === 200 && order.push('owner'));
    expect([refused.status, refused.body, refused.headers['retry-after']]).toEqual([
      429,
      { error: 'rate limit exceeded' },
      '1',
    ]);
    expect((await browse('none.test', 'viewer')).status).toBe(404);
    release();
    await holding;
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    await others;
    expect(statuses.filter((status) => status === 200)).toHaveLength(11);
    expect(statuses.filter((status) => status === 429)).toHaveLength(2);
    expect(order.indexOf('viewer')).toBeLessThanOrEqual(2);
  });
});

describe('the plan', () => {
  it('decides about purges, and not about browsing', async () => {
    const { id: domainId } = await api.makeDomain('plans.test');
    const calls = async () => {
      const answers = [await purge('plans.test'), await refresh('plans.test'), await browse('plans.test')];
      return answers.map(({ status, body }) => [status, body.code, body.feature]);
    };
    const open = [200, undefined, undefined];
    const shut = [403, 'plan_feature', 'cache_purge_enabled'];
    const has = (cache_purge_enabled: boolean) =>
      setPlan(api.db, { domainId, planSlug: 'free', overrides: { cache_purge_enabled } });
    await has(true);
    expect(await calls()).toEqual([open, open, open]);
    await has(false);
    expect(await calls()).toEqual([shut, shut, open]);
    await setPlan(api.db, { domainId, planSlug: null });
    const none = [402, 'no_active_plan', undefined];
    expect(await calls()).toEqual([none, none, open]);
  });
});

describe('a purge', () => {
  it('is refused to a key that only reads, and to one for some records', async () => {
    await api.makeDomain('keys.test');
    const readOnly = await api.makeKey({ readOnly: true });
    const narrow = await api.makeKey({ names: ['www.keys.test'] });
    for (const call of [purge, refresh]) {
      const { status, body } = await call('keys.test', readOnly);
      expect([status, body]).toEqual([403, { error: 'read-only API key' }]);
      expect((await call('keys.test', narrow)).status).toBe(403);
    }
  });

  it('of a disabled domain is a 409 domain_disabled; browsing it is not', async () => {
    const { id: domainId } = await api.makeDomain('off.test');
    await changeStatus(api.db, { domainId, event: 'disable', by: { kind: 'cli' }, source: 'test' });
    for (const call of [purge, refresh]) {
      const { status, body } = await call('off.test');
      expect([status, body.code]).toEqual([409, 'domain_disabled']);
    }
    expect((await browse('off.test')).status).toBe(200);
  });
});
