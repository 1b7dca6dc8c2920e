import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { addTerm } from '../../../../src/store/accounts/plans.ts';
import type { Domain } from '../../../../src/store/domains/domain.ts';
import { sharedTestApi } from '../../../support/api/api.ts';
import { Browser, givePassword } from '../../../support/api/people.ts';
import { auditAfter, lastAudit } from '../../../support/database/audit-rows.ts';

const api = sharedTestApi();
let operator: Browser;
let shop: Domain;

beforeAll(async () => {
  await givePassword(api, 'operator');
  operator = new Browser(api);
  await operator.login('operator');
  shop = await api.makeDomain('shop.example', { planSlug: 'free' });
  await api.makeDomain('other.example', { dnsMode: 'external' });
  await api.ask('POST', '/domains/', { as: 'stranger', body: { name: 'strange.example', scan: false } });
});

const list = async (query = '') => {
  const { status, body } = await operator.ask('GET', `/admin/domains${query}`);
  expect(status).toBe(200);
  return body.map(({ name }: { name: string }) => name);
};
const post = (what: string, body?: object, id = shop.id) =>
  operator.ask('POST', `/admin/domains/${id}/${what}`, body);

/** The status, and the actions that came to the log. */
async function told(work: () => ReturnType<typeof post>) {
  const before = await lastAudit(api.db);
  const { status, body } = await work();
  const rows = await auditAfter(api.db, before);
  for (const { actor } of rows)
    if (actor.kind !== 'system')
      expect(actor).toMatchObject({ kind: 'session', accountId: api.accountIds.operator });
  return { status, body, actions: rows.map(({ action }) => action), rows };
}

describe('the list', () => {
  it('has the domains of all accounts, with their owners', async () => {
    expect(await list()).toEqual(['other.example', 'shop.example', 'strange.example']);
    expect(await list('?search=ST')).toEqual(['strange.example']);
    expect(await list('?status=unverified')).toEqual(['other.example']);
    expect(await list(`?user=${api.accountIds.stranger}`)).toEqual(['strange.example']);
    expect(await list(`?user=${api.accountIds.owner}&sort=-name`)).toEqual(['shop.example', 'other.example']);
    expect(await list(`?user=${api.accountIds.owner}&sort=next_check_at&limit=5`)).toHaveLength(2);
    expect(await list('?user=4711')).toEqual([]);
    const { body, headers } = await operator.ask('GET', '/admin/domains?limit=2&count=true');
    expect(headers['x-total-count']).toBe('3');
    expect(headers.link).toMatch(/rel="next"/);
    expect(body[1]).toMatchObject({
      id: shop.id,
      user_email: 'owner@zonefleet.test',
      subscription: { plan: { slug: 'free' } },
    });
  });
});

describe('moves', () => {
  it('are audited with their actor, and rejected if nothing changes', async () => {
    expect(await told(() => post('ban'))).toMatchObject({
      status: 200,
      body: { status: 'banned' },
      rows: [
        {
          action: 'domain.status',
          before: { status: 'pending' },
          after: { status: 'banned' },
          domainId: shop.id,
        },
      ],
    });
    expect(await told(() => post('ban'))).toMatchObject({ status: 400, actions: [] });
    expect((await api.ask('PUT', '/domains/shop.example', { body: {} })).body.code).toBe('domain_banned');
    expect(await told(() => post('unban'))).toMatchObject({
      body: { status: 'pending' },
      actions: ['domain.status'],
    });
    expect(await told(() => post('disable'))).toMatchObject({ body: { status: 'disabled' } });
    expect((await post('unban')).body.code).toBe('wrong_state');
    expect(await told(() => post('enable'))).toMatchObject({
      body: { status: 'pending' },
      actions: ['domain.status'],
    });
    expect((await post('ban', undefined, 4711)).status).toBe(404);
    expect((await post('ban', { why: 'x' })).status).toBe(400);
  });

  it('suspend and resume a domain', async () => {
    expect(await told(() => post('suspend'))).toMatchObject({
      body: { suspended: true, suspended_by: ['operator'] },
      rows: [
        {
          action: 'domain.suspend',
          before: { suspended: false, suspended_by: [] },
          after: { suspended: true, suspended_by: ['operator'] },
        },
      ],
    });
    expect((await told(() => post('suspend'))).actions).toEqual([]);
    expect(await told(() => post('resume'))).toMatchObject({
      body: { suspended: false, suspended_by: [] },
      actions: ['domain.suspend'],
    });
  });

  it('cannot resume a domain that a debt suspended', async () => {
    const mark = (at: Date | null) => sql`update domains set debt_suspended_at = ${at}`.execute(api.db);
    await mark(new Date());
    expect((await post('suspend')).body).toMatchObject({ suspended_by: ['operator', 'debt'] });
    expect(await told(() => post('resume'))).toMatchObject({
      body: { suspended: true, suspended_by: ['debt'] },
      rows: [{ before: { suspended_by: ['operator', 'debt'] }, after: { suspended_by: ['debt'] } }],
    });
    const refused = await post('resume');
    expect([refused.status, refused.body.code, refused.body.error]).toEqual([
      400,
      'wrong_state',
      expect.stringContaining('below zero'),
    ]);
    await mark(null);
  });

  it('approve the nameservers of the parent or of the fleet only', async () => {
    const { body } = await operator.ask('GET', `/admin/domains/${shop.id}`);
    expect((await post('approve', { svc_ns: ['ns.elsewhere.example'] })).body.fields[0].field).toBe('svc_ns');
    expect((await post('approve', { svc_ns: ['not a name'] })).body.fields[0].field).toBe('svc_ns[0]');
    // It is proved by its own set already: nothing is written.
    expect(await told(() => post('approve', { svc_ns: body.svc_ns }))).toMatchObject({
      status: 200,
      actions: [],
    });
    await sql`update domains set open = false where id = ${shop.id}`.execute(api.db);
    expect(await told(() => post('approve', { svc_ns: body.svc_ns, take: true }))).toMatchObject({
      status: 200,
      actions: ['domain.status', 'domain.approve'],
      rows: [{}, { after: { take: true, svc_ns: body.svc_ns } }],
    });
    const id = (await operator.ask('GET', '/admin/domains?search=other')).body[0].id;
    expect((await post('approve', undefined, id)).body.code).toBe('wrong_state');
  });

  it('restore deleted domains only', async () => {
    expect((await post('restore')).body.code).toBe('wrong_state');
    expect((await api.ask('DELETE', '/domains/shop.example')).status).toBe(200);
    expect(await list('?deleted=true')).toEqual(['shop.example']);
    expect((await operator.ask('GET', `/admin/domains/${shop.id}`)).status).toBe(404);
    expect((await post('ban')).status).toBe(404);
    expect(await told(() => post('restore'))).toMatchObject({ status: 200, actions: ['domain.restore'] });
    expect(await list('?deleted=true')).toEqual([]);
  });

  it('check: is a 503 without a worker, and not audited', async () => {
    expect(await told(() => post('check'))).toMatchObject({ status: 503, actions: [] });
    const external = (await operator.ask('GET', '/admin/domains?search=other')).body[0].id;
    expect((await post('check', undefined, external)).body.code).toBe('wrong_state');
  });
});

describe('a subscription', () => {
  const put = (body: object, id = shop.id) => operator.ask('PUT', `/admin/domains/${id}/subscription`, body);

  it('receives a plan, a term, overrides; each change is audited', async () => {
    expect(await told(() => put({ plan: 'pro' }))).toMatchObject({
      status: 200,
      body: { subscription: { plan: { slug: 'pro' } } },
      rows: [{ action: 'domain.plan', before: { plan: 'free' }, after: { plan: 'pro' }, domainId: shop.id }],
    });
    expect((await told(() => put({ plan: 'pro' }))).actions).toEqual([]);
    expect(await told(() => put({ overrides: { max_records: 7 } }))).toMatchObject({
      body: { overrides: { max_records: 7 } },
      rows: [{ action: 'domain.plan', after: { overrides: { max_records: 7 } } }],
    });
    expect((await put({ overrides: {} })).body.overrides).toBeUndefined();
    const plan = await addTerm(api.db, 'pro', { days: 30, priceRials: 1000 });
    const term = plan?.terms.at(-1)?.id as number;
    expect((await put({ plan_term_id: term, auto_renew: true })).body.subscription).toMatchObject({
      plan_term_id: term,
      auto_renew: true,
    });
    expect(await told(() => operator.ask('DELETE', `/admin/domains/${shop.id}/subscription`))).toMatchObject({
      body: { subscription: { status: 'cancelled' } },
      actions: ['domain.plan'],
    });
    expect((await put({ plan: null })).body.subscription).toBeUndefined();
  });

  it.each([
    [{}, 'body'],
    [{ plan: 'gold' }, 'plan'],
    [{ plan: 'free', plan_term_id: 4711 }, 'plan_term_id'],
    [{ overrides: { max_wishes: 3 } }, 'overrides'],
    [{ overrides: { max_records: 'many' } }, 'overrides'],
    [{ overrides: { logs_enabled: 3 } }, 'overrides'],
    [{ plan: 'pro', auto_renew: true }, 'auto_renew'],
  ])('rejects %o', async (body, field) => {
    const came = await told(() => put(body));
    expect([came.status, came.actions]).toEqual([400, []]);
    if (field !== 'body') expect(came.body.fields[0].field).toContain(field);
  });
});

it('the log of a purged domain is found by its id', async () => {
  const id = (await operator.ask('GET', '/admin/domains?search=strange')).body[0].id;
  await api.ask('DELETE', '/domains/strange.example', { as: 'stranger' });
  await sql`delete from domains where id = ${id}`.execute(api.db);
  const { body } = await operator.ask('GET', `/admin/audit?domain=${id}`);
  expect(body.map(({ action, target }: { action: string; target: object }) => [action, target])).toEqual([
    ['domain.delete', { kind: 'domain', id, name: 'strange.example' }],
    ['domain.create', { kind: 'domain', id, name: 'strange.example' }],
  ]);
});
