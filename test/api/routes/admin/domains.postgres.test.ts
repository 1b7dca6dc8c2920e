import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addTerm } from '../../../../src/store/accounts/plans.ts';
import type { Domain } from '../../../../src/store/domains/domain.ts';
import { sharedTestApi } from '../../../support/api/api.ts';
import { type Browser, signIn } from '../../../support/api/people.ts';
import { auditAfter, lastAudit } from '../../../support/database/audit-rows.ts';

const api = sharedTestApi();
let operator: Browser;
let shop: Domain;

beforeAll(async () => {
  operator = await signIn(api, 'operator');
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

/** Returns the response and the rows that were added to the audit log. */
async function told(answer: () => ReturnType<typeof post>) {
  const before = await lastAudit(api.db);
  const { status, body } = await answer();
  const rows = await auditAfter(api.db, before);
  for (const { actor } of rows)
    if (actor.kind !== 'system')
      expect(actor).toMatchObject({ kind: 'session', accountId: api.accountIds.operator });
  return { status, body, rows };
}

it('the list contains the domains of all accounts, with their owners', async () => {
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

describe('status changes', () => {
  it('are audited with their actor, and rejected if nothing changes', async () => {
    const row = { action: 'domain.status', domainId: shop.id };
    const [pending, banned] = [{ status: 'pending' }, { status: 'banned' }];
    expect(await told(() => post('ban'))).toMatchObject({
      status: 200,
      body: banned,
      rows: [{ ...row, before: pending, after: banned }],
    });
    expect(await told(() => post('ban'))).toMatchObject({ status: 400, rows: [] });
    expect((await api.ask('PUT', '/domains/shop.example', { body: {} })).body.code).toBe('domain_banned');
    expect(await told(() => post('unban'))).toMatchObject({ body: pending, rows: [row] });
    expect(await told(() => post('disable'))).toMatchObject({ body: { status: 'disabled' } });
    expect((await post('unban')).body.code).toBe('wrong_state');
    expect(await told(() => post('enable'))).toMatchObject({ body: pending, rows: [row] });
    expect((await post('ban', undefined, 4711)).status).toBe(404);
    expect((await post('ban', { why: 'x' })).status).toBe(400);
  });

  it('suspend and resume a domain', async () => {
    const [off, on] = [
      { suspended: false, suspended_by: [] },
      { suspended: true, suspended_by: ['operator'] },
    ];
    const action = 'domain.suspend';
    expect(await told(() => post('suspend'))).toMatchObject({
      body: on,
      rows: [{ action, before: off, after: on }],
    });
    expect((await told(() => post('suspend'))).rows).toEqual([]);
    expect(await told(() => post('resume'))).toMatchObject({ body: off, rows: [{ action }] });
  });

  it('cannot resume a domain that a debt suspended', async () => {
    const mark = (at: Date | null) => api.query`update domains set debt_suspended_at = ${at}`;
    await mark(new Date());
    expect((await post('suspend')).body).toMatchObject({ suspended_by: ['operator', 'debt'] });
    expect(await told(() => post('resume'))).toMatchObject({
      body: { suspended: true, suspended_by: ['debt'] },
      rows: [{ before: { suspended_by: ['operator', 'debt'] }, after: { suspended_by: ['debt'] } }],
    });
    const problem = { code: 'wrong_state', error: expect.stringContaining('below zero') };
    expect(await post('resume')).toMatchObject({ status: 400, body: problem });
    await mark(null);
  });

  it('approve the nameservers of the parent or of the fleet only', async () => {
    const { body } = await operator.ask('GET', `/admin/domains/${shop.id}`);
    expect((await post('approve', { svc_ns: ['ns.elsewhere.example'] })).body.fields[0].field).toBe('svc_ns');
    expect((await post('approve', { svc_ns: ['not a name'] })).body.fields[0].field).toBe('svc_ns[0]');
    const { svc_ns } = body;
    // Its own set already proves it, so nothing is written.
    expect(await told(() => post('approve', { svc_ns }))).toMatchObject({ status: 200, rows: [] });
    await api.query`update domains set open = false where id = ${shop.id}`;
    const approved = { action: 'domain.approve', after: { take: true, svc_ns } };
    expect(await told(() => post('approve', { svc_ns, take: true }))).toMatchObject({
      status: 200,
      rows: [{ action: 'domain.status' }, approved],
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
    const restored = { status: 200, rows: [{ action: 'domain.restore' }] };
    expect(await told(() => post('restore'))).toMatchObject(restored);
    expect(await list('?deleted=true')).toEqual([]);
  });

  it('check: responds 503 without a worker, and is not audited', async () => {
    expect(await told(() => post('check'))).toMatchObject({ status: 503, rows: [] });
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
    expect((await told(() => put({ plan: 'pro' }))).rows).toEqual([]);
    const overrides = { max_records: 7 };
    expect(await told(() => put({ overrides }))).toMatchObject({
      body: { overrides },
      rows: [{ action: 'domain.plan', after: { overrides } }],
    });
    expect((await put({ overrides: {} })).body.overrides).toBeUndefined();
    const plan = await addTerm(api.db, 'pro', { days: 30, priceRials: 1000 });
    const renewed = { plan_term_id: plan?.terms.at(-1)?.id, auto_renew: true };
    expect((await put(renewed)).body.subscription).toMatchObject(renewed);
    expect(await told(() => operator.ask('DELETE', `/admin/domains/${shop.id}/subscription`))).toMatchObject({
      body: { subscription: { status: 'cancelled' } },
      rows: [{ action: 'domain.plan' }],
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
    expect([came.status, came.rows]).toEqual([400, []]);
    if (field !== 'body') expect(came.body.fields[0].field).toContain(field);
  });
});

it('the audit log of a purged domain can be listed by its id', async () => {
  const id = (await operator.ask('GET', '/admin/domains?search=strange')).body[0].id;
  await api.ask('DELETE', '/domains/strange.example', { as: 'stranger' });
  await api.query`delete from domains where id = ${id}`;
  const { body } = await operator.ask('GET', `/admin/audit?domain=${id}`);
  expect(body.map(({ action, target }: { action: string; target: object }) => [action, target])).toEqual([
    ['domain.delete', { kind: 'domain', id, name: 'strange.example' }],
    ['domain.create', { kind: 'domain', id, name: 'strange.example' }],
  ]);
});

describe('a batch', () => {
  const batch = (body: object, key?: string) =>
    operator.ask(
      'POST',
      '/admin/domains/batch',
      body,
      key === undefined ? {} : { headers: { 'idempotency-key': key } },
    );
  const outcomes = ({ body }: Pick<Awaited<ReturnType<typeof batch>>, 'body'>) =>
    body.domains.map(({ outcome, code }: { outcome: string; code?: string }) => code ?? outcome);

  it('creates and approves domains of several accounts, each with its audit rows', async () => {
    const domains = [
      { name: 'Moved-1.Example.', user_id: api.accountIds.owner, plan: 'free' },
      { name: 'moved-2.example', user_email: 'STRANGER@zonefleet.test', plan: null },
    ];
    const came = await told(() => batch({ domains, approve: true, scan: false }));
    expect(came).toMatchObject({
      status: 200,
      body: {
        domains: [
          { name: 'Moved-1.Example.', outcome: 'created', served: 'full', status: 'pending', findings: [] },
          { name: 'moved-2.example', outcome: 'created', served: 'full' },
        ],
        created: 2,
        existing: 0,
        refused: 0,
      },
    });
    const ids = came.body.domains.map(({ id }: { id: number }) => id);
    expect(came.rows.map(({ action, domainId }) => [action, domainId])).toEqual(
      ids.flatMap((id: number) => [
        ['domain.create', id],
        ['domain.approve', id],
      ]),
    );
    const { body } = await operator.ask('GET', `/admin/domains/${ids[0]}`);
    expect(body).toMatchObject({ name: 'moved-1.example', user_id: api.accountIds.owner });
    expect(body.subscription.plan.slug).toBe('free');
    const again = await told(() => batch({ domains, approve: true }));
    expect([outcomes(again), again.rows]).toEqual([['exists', 'exists'], []]);
  });

  it('creates domains in several transactions, and a refused one does not affect the others of its own', async () => {
    const known = { user_id: api.accountIds.owner };
    const refused = Array.from({ length: 97 }, () => ({ name: 'com', ...known }));
    const of = (...names: string[]) => names.map((name) => ({ name: `many-${name}.com`, ...known }));
    const domains = [
      ...of('a'),
      ...refused,
      { name: 'many-b.com', user_id: 999_999_999 },
      ...of('c', 'd', 'a', 'e'),
    ];
    const came = await batch({ domains, scan: false });
    expect(came.body).toMatchObject({ created: 4, existing: 1, refused: 98 });
    expect(outcomes(came).slice(96)).toEqual([
      'validation_failed',
      'validation_failed',
      'unknown_account',
      'created',
      'created',
      'exists',
      'created',
    ]);
  });

  describe('with a domain whose insertion fails', () => {
    const names = ['before', 'broken', 'after'].map((label) => `${label}.failing.example`);
    const domains = () => names.map((name) => ({ name, user_id: api.accountIds.owner }));
    const failWith = (errcode: string) =>
      sql
        .raw(`create trigger fails before insert on domains for each row when (new.name = '${names[1]}.')
          execute function public.fails('${errcode}')`)
        .execute(api.db);
    const created = async () =>
      (
        await api.query<{
          name: string;
        }>`select name from domains where name like '%.failing.example.' order by id`
      ).map(({ name }) => name);

    beforeAll(async () => {
      await sql`create or replace function public.fails() returns trigger language plpgsql as
        $$ begin raise exception 'made up' using errcode = tg_argv[0]; end $$`.execute(api.db);
    });
    afterEach(async () => {
      await sql`drop trigger fails on domains`.execute(api.db);
    });
    afterAll(async () => {
      await sql`drop function public.fails`.execute(api.db);
    });

    it('keeps earlier groups, and rolls back its own, if the database is busy', async () => {
      await failWith('55P03');
      const first = Array.from({ length: 100 }, (_, i) => ({
        ...domains()[0],
        name: i === 7 ? names[0] : 'com',
      }));
      const came = await batch({ domains: [...first, domains()[2], domains()[1]], scan: false });
      expect([came.status, await created()]).toEqual([503, [`${names[0]}.`]]);
    });

    it('creates the others, and reports and logs the error', async () => {
      await failWith('XX000');
      const came = await batch({ domains: domains(), scan: false });
      expect(outcomes(came)).toEqual(['exists', 'internal_error', 'created']);
      expect(came.body).toMatchObject({ created: 1, existing: 1, refused: 1 });
      expect(JSON.stringify(came.body)).not.toContain('made up');
      expect(await created()).toEqual([`${names[0]}.`, `${names[2]}.`]);
      expect(api.logged).toContainEqual(expect.objectContaining({ level: 50, domain: names[1] }));
    });
  });

  it('approves domains that their owners have created', async () => {
    const name = 'early.com';
    const created = await api.ask('POST', '/domains/', { body: { name, scan: false } });
    expect(created.body.served).toBe('apex');
    const domains = [{ name, user_id: api.accountIds.owner }];
    expect(outcomes(await batch({ domains }))).toEqual(['exists']);
    expect((await api.ask('GET', `/domains/${name}`)).body.served).toBe('apex');
    expect((await batch({ domains, approve: true })).body.domains[0]).toMatchObject({
      outcome: 'exists',
      served: 'full',
    });
    expect((await api.ask('GET', `/domains/${name}`)).body).toMatchObject({ served: 'full', findings: [] });
  });

  it('refuses domains one by one', async () => {
    await api.query`update domains set status = 'active', pending_since = null where name = 'early.com.'`;
    const user_id = api.accountIds.stranger;
    const came = await batch({
      domains: [
        { name: 'com', user_id },
        { name: 'early.com', user_id },
        { name: 'a.com', user_id: 4711 },
        { name: 'a.com', user_email: 'nobody@zonefleet.test' },
        { name: 'a.com', user_id, plan: 'gold' },
        { name: 'a.com', user_id, plan: 'none' },
        { name: 'a.com', user_id },
      ],
      approve: true,
    });
    const problems = came.body.domains.flatMap(({ code, error }: { code?: string; error: string }) =>
      code === undefined ? [] : [`${code} ${error}`],
    );
    expect(problems).toEqual([
      expect.stringMatching(/^validation_failed domains\[0\]\.name: /),
      expect.stringMatching(/^domain_taken early\.com is already registered here/),
      'unknown_account domains[2].user_id: the account 4711 does not exist',
      'unknown_account domains[3].user_email: the account "nobody@zonefleet.test" does not exist',
      'unknown_plan domains[4].plan: there is no plan "gold"',
      'unknown_plan domains[5].plan: there is no plan "none": use null for no plan',
    ]);
    expect(came.body).toMatchObject({ created: 1, existing: 0, refused: 6 });
    expect((await api.ask('GET', '/domains/early.com')).body).toMatchObject({ status: 'active' });
  });

  it('returns its first response to a repeat with its Idempotency-Key', async () => {
    const body = { domains: [{ name: 'once.com', user_id: api.accountIds.owner }], approve: true };
    const first = await batch(body, 'once');
    expect(outcomes(first)).toEqual(['created']);
    expect((await batch(body, 'once')).body).toEqual(first.body);
  });

  it.each([
    [{ domains: [] }, 'domains'],
    [{ domains: Array(1001).fill({ name: 'a.com', user_id: 1 }) }, 'domains'],
    [{ domains: [{ name: 'a.com' }] }, 'domains[0]'],
    [{ domains: [{ name: 'a.com', user_id: 1, user_email: 'a@b.example' }] }, 'domains[0]'],
    [{ domains: [{ name: 'a.com', user_id: 1 }], aprove: true }, 'aprove'],
  ])('rejects body %#', async (body, field) => {
    const { status, body: answer } = await batch(body);
    expect([status, answer.fields[0].field]).toEqual([400, field]);
  });
});
