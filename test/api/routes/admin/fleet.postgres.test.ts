import { setTimeout as pause } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { account, route } from '../../../../src/api/calls/route.ts';
import { SlowCalls } from '../../../../src/api/calls/slow-calls.ts';
import { ROUTES } from '../../../../src/features/every-route.ts';
import { addCheckCounts, tripBreaker } from '../../../../src/store/checks/breaker-store.ts';
import { forgetNodes } from '../../../../src/store/feed/nodes.ts';
import { sharedTestApi, startTestApi } from '../../../support/api/api.ts';
import { type Browser, signIn } from '../../../support/api/people.ts';
import { auditAfter, lastAudit } from '../../../support/database/audit-rows.ts';

const api = sharedTestApi();
let operator: Browser;

beforeAll(async () => {
  operator = await signIn(api, 'operator');
});

const ask = (method: string, path: string, body?: object) => operator.ask(method, `/admin/${path}`, body);
/** Sends a request, and returns the response and the rows that were added to the audit log. */
async function told(...asked: Parameters<typeof ask>) {
  const before = await lastAudit(api.db);
  const { status, body } = await ask(...asked);
  return { status, body, rows: await auditAfter(api.db, before) };
}

describe('plans', () => {
  it('are created with the given members only', async () => {
    const members = { slug: 'gold', max_records: null };
    const plan = { ...members, name: 'Gold', rules_enabled: true, max_domains: 5 };
    expect(await told('POST', 'plans', plan)).toMatchObject({
      status: 200,
      body: { ...plan, logs_enabled: false, terms: [] },
      rows: [{ action: 'plan.create', targetName: 'gold', after: members }],
    });
    expect((await ask('POST', 'plans', { slug: 'gold', name: 'Again' })).status).toBe(409);
    for (const wrong of [
      { slug: 'none' },
      { slug: 'Gold' },
      { name: undefined },
      { max_records: -1 },
      { max_cache_cap_mb: null },
      { logs_enabled: null },
      { max_wishes: 3 },
    ])
      expect([wrong, (await ask('POST', 'plans', { slug: 'x', name: 'x', ...wrong })).status]).toEqual([
        wrong,
        400,
      ]);
  });

  it('are changed by field, and audited with the changed fields', async () => {
    const row = {
      action: 'plan.update',
      before: { name: 'Gold', max_records: null },
      after: { max_records: 9 },
    };
    expect(await told('PATCH', 'plans/gold', { max_records: 9, name: 'Golden' })).toMatchObject({
      body: { name: 'Golden', max_records: 9, rules_enabled: true },
      rows: [row],
    });
    expect((await told('PATCH', 'plans/gold', { max_records: 9 })).rows).toEqual([]);
    expect((await ask('PATCH', 'plans/lead', { max_records: 9 })).status).toBe(404);
  });

  it('have terms, which can be retired', async () => {
    const term = { billing_duration_days: 30, price_rials: 5000 };
    const added = await told('POST', 'plans/gold/terms', term);
    expect(added).toMatchObject({
      body: { terms: [{ ...term, retired: false }] },
      rows: [{ action: 'plan.add_term', after: term }],
    });
    const { id } = added.body.terms[0];
    expect(await told('DELETE', `plans/gold/terms/${id}`)).toMatchObject({
      body: { terms: [{ id, retired: true }] },
      rows: [{ action: 'plan.retire_term' }],
    });
    expect((await told('DELETE', `plans/gold/terms/${id}`)).rows).toEqual([]);
    expect((await ask('DELETE', `plans/free/terms/${id}`)).status).toBe(404);
    expect((await ask('GET', 'plans')).body).toContainEqual(expect.objectContaining({ slug: 'gold' }));
  });
});

it('nodes are listed as they report, and removals that they hold back can be confirmed', async () => {
  await api.query`
    insert into nodes (name, instance, started_at, seen_at, loaded, zones, records, held_id, held_since, held_zones)
    values ('ams1', gen_random_uuid(), clock_timestamp() - interval '1 hour', clock_timestamp(), true, 5, 50, gen_random_uuid(), clock_timestamp(), 4),
      ('fra1', gen_random_uuid(), clock_timestamp(), clock_timestamp() - interval '1 minute', true, 5, 50, null, null, 0)`;
  const { body } = await ask('GET', 'nodes');
  expect(body).toMatchObject([
    { name: 'ams1', state: 'live', zones: 5, held: { zones: 4, confirmed: false } },
    { name: 'fra1', state: 'silent' },
  ]);
  // as a node of an earlier version reports
  for (const member of ['version', 'commit', 'answered', 'dropped', 'image_bytes', 'image_capacity_bytes'])
    expect(body[0]).not.toHaveProperty(member);
  await api.query`update nodes set version = '1.2.3+5245abc7a1b2', answered = 5000000000, dropped = 2, image_octets = 7, image_capacity = 9
    where name = 'fra1'`;
  const counts = { answered: 5_000_000_000, dropped: 2, image_bytes: 7, image_capacity_bytes: 9 };
  expect((await ask('GET', 'nodes')).body[1]).toMatchObject({
    version: '1.2.3',
    commit: '5245abc7a1b2',
    ...counts,
  });
  expect(await told('POST', 'nodes/ams1/confirm')).toMatchObject({
    status: 200,
    body: { message: 'the removals of 4 zones were confirmed' },
    rows: [{ action: 'node.confirm', targetName: 'ams1', after: { zones: 4 }, accountId: null }],
  });
  expect((await ask('GET', 'nodes')).body[0].held.confirmed).toBe(true);
  expect(await told('POST', 'nodes/fra1/confirm')).toMatchObject({ status: 400, rows: [] });
  await api.query`update nodes set seen_at = seen_at - interval '1 minute' where name = 'ams1'`;
  expect(await forgetNodes(api.db, ['ams1'])).toEqual([{ name: 'ams1', outcome: 'forgotten' }]);
  expect((await ask('GET', 'nodes')).body.map(({ name }: { name: string }) => name)).toEqual(['fra1']);
  for (const name of ['ams1', 'nowhere', '%00', 'ams1%00'])
    expect([name, (await ask('POST', `nodes/${name}/confirm`)).status]).toEqual([name, 404]);
});

it('registries are listed by hour', async () => {
  await addCheckCounts(api.db, [{ parent: 'co.uk.', checked: 9, turned: 3, off: 1 }]);
  const hour = expect.stringMatching(/:00:00\.000Z$/);
  expect((await ask('GET', 'registries')).body).toEqual([
    { parent: 'co.uk', hours: [{ hour, checked: 9, turned: 3, off: 1 }] },
  ]);
});

const SLOW_MS = 500;

describe('slow calls', () => {
  const call = (ms: number, route = '/domains/{domain}') => ({
    ...{ at: new Date(), method: 'GET', route, status: 200, ms, accountId: undefined },
  });

  it('are listed by route and account, without parameters', async () => {
    const slowRoute = route(account(), {
      method: 'GET',
      path: '/naps/{secret}/',
      operationId: 'nap',
      tag: 'Naps',
      summary: 'Sleeps.',
      params: z.object({ secret: z.string() }),
      response: z.object({}),
      async run() {
        await pause(SLOW_MS + 20);
        return {};
      },
    });
    const own = await startTestApi({ routes: [...ROUTES, slowRoute] });
    try {
      expect((await own.ask('GET', '/naps/hunter2/?')).status).toBe(200);
      const admin = await signIn(own, 'operator');
      const { body, text } = await admin.ask('GET', '/admin/slow-calls');
      const nap = body.find(({ route }: { route: string }) => route.startsWith('/naps'));
      expect(nap).toEqual({
        at: expect.any(String),
        method: 'GET',
        route: '/naps/{secret}/',
        status: 200,
        milliseconds: expect.any(Number),
        user_id: own.accountIds.owner,
      });
      expect(text).not.toContain('hunter2');
    } finally {
      await own.stop();
    }
  });

  it('are kept up to a limit, newest first', () => {
    const calls = new SlowCalls();
    calls.note(call(SLOW_MS - 1));
    for (let i = 0; i < 1000; i++) calls.note(call(SLOW_MS + i));
    const kept = calls.list();
    expect(kept).toHaveLength(200);
    expect(kept[0]?.ms).toBe(SLOW_MS + 999);
  });
});

it('observers are listed without their keys', async () => {
  await api.query`insert into vantages (name, network, public_key) values ('ob1', 'net-a', 'THE-KEY')`;
  const { body, text } = await ask('GET', 'vantages');
  expect(body).toEqual([
    { name: 'ob1', network: 'net-a', created_at: expect.any(String), answers: 0, dropped: 0 },
  ]);
  expect(text).not.toContain('THE-KEY');
});

it('queues are listed with their depth, or as unreachable', async () => {
  const depth = { waiting: 3, active: 1, delayed: 0, dead: 2 };
  const queues = [
    { name: 'check-delegation', depth: async () => depth },
    { name: 'verify-txt', depth: () => Promise.reject(new Error('away')) },
  ];
  const getQueues = ROUTES.find(({ operationId }) => operationId === 'adminGetQueues');
  expect(await getQueues?.run({ api: { queues } })).toEqual([
    { name: 'check-delegation', reachable: true, ...depth },
    { name: 'verify-txt', reachable: false },
  ]);
  expect((await ask('GET', 'queues')).body).toEqual([]); // this API has none
});

describe('the breaker', () => {
  it('is listed and released once', async () => {
    const released = (body?: object) => told('POST', 'breaker/release', body);
    expect((await ask('GET', 'breaker')).body).toMatchObject({ held: false, trips: [] });
    expect(await released()).toMatchObject({ status: 400, rows: [] });
    const figures = { checked: 100, turned: 60 };
    await tripBreaker(api.db, [
      { parent: '', ...figures, off: 0 },
      { parent: 'example.', checked: 50, turned: 40, off: 0 },
    ]);
    expect((await ask('GET', 'breaker')).body).toMatchObject({
      held: true,
      trips: [{ parent: 'example', checked: 50, turned: 40 }, { checked: 100 }],
    });
    expect((await released({ parent: 'elsewhere.test' })).status).toBe(400);
    expect((await released({ parent: '..' })).body.fields[0].field).toBe('parent');
    expect(await released({ parent: 'Example' })).toMatchObject({
      body: { held: true },
      rows: [{ action: 'breaker.release', targetName: 'example.' }],
    });
    const all = await released();
    expect(all).toMatchObject({ body: { held: false }, rows: [{ targetName: '(all)', after: figures }] });
    expect(all.body.trips[0].released_by).toBe('operator@zonefleet.test');
  });

  it('can be frozen for all domains or one zone, and released', async () => {
    const reason = 'The registry said so.';
    const freeze = (body: object) => told('POST', 'breaker/freeze', body);
    const until = new Date(Date.now() + 3_600_000).toISOString();
    const figures = { checked: 4, turned: 1 };
    await addCheckCounts(api.db, [{ parent: 'frozen.', ...figures, off: 1 }]);
    const frozen = { parent: 'frozen', ...figures, reason, until, frozen_by: 'operator@zonefleet.test' };
    const one = await freeze({ parent: 'Frozen', reason, until });
    expect(one).toMatchObject({
      status: 200,
      body: { held: true },
      rows: [{ action: 'breaker.freeze', targetName: 'frozen.', after: { reason, until } }],
    });
    expect(one.body.trips[0]).toMatchObject(frozen);
    const all = await freeze({ reason: ` ${reason} ` });
    expect(all.rows).toMatchObject([{ targetName: '(all)', after: { reason, until: null } }]);
    expect(all.body.trips[0]).not.toHaveProperty('ended_at');
    const released = await told('POST', 'breaker/release');
    expect([released.body.held, released.rows.length]).toEqual([false, 2]);
    expect(released.body.trips[0]).toMatchObject({ reason, ended_at: expect.any(String) });
  });

  it.each([
    ['reason', {}],
    ['reason', { reason: '  ' }],
    ['reason', { reason: 'x'.repeat(501) }],
    ['reason', { reason: 'steers \u001b[2J the terminal' }],
    ['parent', { reason: 'x', parent: '..' }],
    ['parent', { reason: 'x', parent: 'con' }],
    ['until', { reason: 'x', until: 'tomorrow' }],
    ['until', { reason: 'x', until: '2020-01-01T00:00:00Z' }],
    ['until', { reason: 'x', until: '2999-01-01T00:00:00Z' }],
  ])('a freeze with a wrong %s is rejected: %j', async (field, body) => {
    const { status, body: answer, rows } = await told('POST', 'breaker/freeze', body);
    expect([status, answer.fields?.[0].field, rows]).toEqual([400, field, []]);
    expect((await ask('GET', 'breaker')).body.held).toBe(false);
  });
});

it('the audit log is filtered by actor, account, action and time', async () => {
  const { operator: id, owner } = api.accountIds;
  const list = async (query: string) => (await ask('GET', `audit?${query}`)).body;
  const mine = await list(`by=${id}&limit=1000`);
  expect(mine.length).toBeGreaterThan(5);
  for (const { actor } of mine) expect(actor.user_id).toBe(id);
  const plans = [{ action: 'plan.update' }, { action: 'plan.create' }];
  expect(await list('action=plan.create,plan.update')).toMatchObject(plans);
  for (const { user_id } of await list(`user=${id}`)) expect(user_id).toBe(id);
  expect([await list(`by=${owner}`), await list('since=2090-01-01T00:00:00Z')]).toEqual([[], []]);
  expect((await ask('GET', 'audit?count=true')).status).toBe(400);
});
