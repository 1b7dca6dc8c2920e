import { beforeAll, describe, expect, it } from 'vitest';
import { createAccount } from '../../../../src/store/accounts/accounts.ts';
import { type Answer, readPages, sharedTestApi } from '../../../support/api/api.ts';
import { Browser, givePassword, PASSWORD } from '../../../support/api/people.ts';
import { auditAfter, lastAudit } from '../../../support/database/audit-rows.ts';

const api = sharedTestApi();
let operator: Browser;
const ids: Record<string, number> = {};

beforeAll(async () => {
  await givePassword(api, 'operator');
  await signIn();
  await api.makeDomain('shop.example');
  for (const [of, name] of Object.entries({ ada: 'Ada Lovelace', grace: 'Grace Hopper', emilie: 'Émilie' })) {
    const made = await createAccount(api.db, { email: `${of}@people.example`, name });
    if (made.kind === 'created') ids[of] = made.account.id;
  }
});

async function signIn(): Promise<void> {
  operator = new Browser(api);
  await operator.login('operator');
}
const emails = ({ body }: Answer): string[] => body.map(({ email }: { email: string }) => email);
const list = (query = '') => operator.ask('GET', `/admin/accounts${query}`);
const patch = (id: number | undefined, body: object) => operator.ask('PATCH', `/admin/accounts/${id}`, body);

describe('the list of accounts', () => {
  it('can be searched by part of the email address or the name, in any case', async () => {
    for (const [search, found] of [
      ['PEOPLE.ex', ['ada', 'emilie', 'grace']],
      ['hopper', ['grace']],
      ['Émilie', ['emilie']],
      ["%'", []],
    ] as const)
      expect(emails(await list(`?sort=email&search=${encodeURIComponent(search)}`))).toEqual(
        found.map((name) => `${name}@people.example`),
      );
  });

  it('can be paged in either order', async () => {
    for (const sort of ['email', '-email', 'created_at', '-created_at']) {
      const whole = emails(await list(`?sort=${sort}`));
      expect(whole).toHaveLength(9);
      const pages = await readPages(operator, `/admin/accounts?sort=${sort}&limit=2&count=true`);
      expect([sort, pages.flatMap(emails)]).toEqual([sort, whole]);
      for (const { headers } of pages) expect(headers['x-total-count']).toBe('9');
    }
    expect((await list('?cursor=e30')).status).toBe(400);
    expect((await list('?sort=password_hash')).status).toBe(400);
  });

  it('can be filtered by state, role, plan and provider', async () => {
    expect(emails(await list('?role=admin'))).toEqual(['operator@zonefleet.test']);
    expect(emails(await list('?plan=free&role=customer'))).toHaveLength(3);
    expect(emails(await list('?status=inactive'))).toEqual([]);
    expect(emails(await list('?provider=4711'))).toEqual([]);
  });
});

describe('one account', () => {
  it('is returned without hashes', async () => {
    const { status, body } = await operator.ask('GET', `/admin/accounts/${api.accountIds.owner}`);
    expect([status, body]).toEqual([
      200,
      {
        id: api.accountIds.owner,
        email: 'owner@zonefleet.test',
        email_confirmed: true,
        admin: false,
        reseller: false,
        active: true,
        plan: 'pro',
        password_set: false,
        otp: false,
        domains: 1,
        created_at: expect.any(String),
      },
    ]);
    for (const id of ['0', 'abc', '4711', '-1'])
      expect((await operator.ask('GET', `/admin/accounts/${id}`)).status).toBe(404);
  });

  it('is created once and audited', async () => {
    const before = await lastAudit(api.db);
    const create = (body: object) => operator.ask('POST', '/admin/accounts', body);
    const { status, body } = await create({ email: ' New@people.example ', name: 'New', plan: null });
    const made = { email: 'New@people.example', name: 'New' };
    expect([status, body]).toMatchObject([200, { ...made, domains: 0 }]);
    expect(body.plan).toBeUndefined();
    const actor = { kind: 'session', accountId: api.accountIds.operator };
    expect(await auditAfter(api.db, before)).toMatchObject([
      { action: 'account.create', actor, accountId: body.id, after: { ...made, admin: false, plan: null } },
    ]);
    expect((await create({ email: 'NEW@people.example' })).status).toBe(409);
    for (const [wrong, field] of [
      [{ email: 'x' }, 'email'],
      [{}, 'email'],
      [{ email: 'a@b.example', plan: 'gold' }, 'plan'],
      [{ email: 'a@b.example', password: 'p' }, 'password'],
    ] as const)
      expect(await create(wrong)).toMatchObject({ status: 400, body: { fields: [{ field }] } });
    expect(await auditAfter(api.db, before)).toHaveLength(1);
  });
});

describe('a change', () => {
  it('is applied completely or not at all, and audited with the changed fields', async () => {
    const before = await lastAudit(api.db);
    const { ada } = ids;
    const wanted = { email: 'ada@engine.example', plan: 'pro', reseller: true };
    const { status, body } = await patch(ada, { name: null, ...wanted });
    expect([status, body]).toMatchObject([200, wanted]);
    const was = { name: 'Ada Lovelace', email: 'ada@people.example', plan: 'free', reseller: false };
    expect(await auditAfter(api.db, before)).toMatchObject([
      { action: 'account.update', accountId: ada, before: was, after: { name: null, ...wanted } },
    ]);
    const mark = await lastAudit(api.db);
    for (const [body, status] of [
      [{ name: 'Other', plan: 'gold' }, 400],
      [{ name: 'Other', email: 'grace@people.example' }, 409],
      [{ name: 'Other', provider: 4711 }, 409],
      [{ name: 'Other', provider: ada }, 409],
      [{ name: '' }, 400],
      [{ is_admin: true }, 400],
    ] as const)
      expect([body, (await patch(ada, body)).status]).toEqual([body, status]);
    expect((await operator.ask('GET', `/admin/accounts/${ada}`)).body.name).toBeUndefined();
    expect((await patch(ada, { plan: 'pro' })).status).toBe(200);
    expect((await patch(4711, { plan: 'pro' })).status).toBe(404);
    expect(await auditAfter(api.db, mark)).toEqual([]);
  });

  it('makes an account a client or a reseller, not both', async () => {
    const { ada, grace } = ids;
    expect((await patch(grace, { provider: ada })).body.provider).toBe(ada);
    expect(emails(await list(`?provider=${ada}`))).toEqual(['grace@people.example']);
    expect((await patch(ada, { reseller: false })).status).toBe(409);
    expect((await patch(grace, { reseller: true })).status).toBe(409);
    expect((await patch(grace, { reseller: true, provider: null })).body).toMatchObject({ reseller: true });
    expect((await patch(ada, { reseller: false })).body.reseller).toBe(false);
  });

  it('of rights ends the sessions, and a deactivated account cannot sign in', async () => {
    await givePassword(api, 'stranger');
    const browser = new Browser(api);
    await browser.login('stranger');
    for (const [change, status] of [
      [{ plan: 'free' }, 200],
      [{ admin: true }, 401],
    ] as const) {
      await patch(api.accountIds.stranger, change);
      expect((await browser.ask('GET', '/users/me')).status).toBe(status);
    }
    await patch(api.accountIds.stranger, { admin: false });
    await browser.login('stranger');
    expect((await patch(api.accountIds.stranger, { active: false })).body.active).toBe(false);
    expect((await browser.ask('GET', '/users/me')).status).toBe(401);
    expect((await browser.login('stranger')).body.code).toBe('account_suspended');
    const order = { kind: 'sign-in' };
    const url = `/admin/accounts/${api.accountIds.stranger}/links`;
    expect((await operator.ask('POST', url, order)).body.code).toBe('wrong_state');
    await patch(api.accountIds.stranger, { active: true });
    expect((await browser.login('stranger')).status).toBe(200);
  });

  it('cannot remove the last global admin', async () => {
    const own = api.accountIds.operator;
    const error = expect.stringContaining('last global admin');
    for (const body of [{ admin: false }, { active: false }, { admin: false, name: 'Nobody' }])
      expect(await patch(own, body)).toMatchObject({ status: 409, body: { error } });
    const second = ids.emilie as number;
    await patch(second, { admin: true });
    await patch(second, { active: false });
    expect((await patch(own, { admin: false })).status).toBe(409); // an inactive one does not count
    await patch(second, { active: true });
    expect((await patch(own, { active: false })).status).toBe(200);
    await api.query`update accounts set active = true where id = ${own}`;
    await signIn();
    await patch(second, { admin: false });
  });

  it('leaves one global admin if two of them remove each other concurrently', async () => {
    const second = ids.emilie as number;
    await patch(second, { admin: true });
    const [a, b] = await Promise.all([
      patch(second, { admin: false }),
      patch(api.accountIds.operator, { admin: false }),
    ]);
    expect([a.status, b.status].filter((status) => status === 200).length).toBeLessThanOrEqual(1);
    const rows = await api.query`select from accounts where is_admin and active`;
    expect(rows.length).toBeGreaterThanOrEqual(1);
    await api.query`update accounts set is_admin = (id = ${api.accountIds.operator})`;
    await signIn();
  });
});

it('a link works once, is shown once, and is audited without its token', async () => {
  const before = await lastAudit(api.db);
  const url = `/admin/accounts/${api.accountIds.viewer}/links`;
  const headers = { 'idempotency-key': 'link-1' };
  const made = await operator.ask('POST', url, { kind: 'reset' }, { headers });
  expect(made.body).toEqual({
    kind: 'reset',
    expires_in_minutes: 30,
    link: expect.stringMatching(/^https:\/\/dns\.zonefleet\.test\/console\/#reset=lnk_\w/),
  });
  const again = await operator.ask('POST', url, { kind: 'reset' }, { headers });
  expect(again.body).toEqual({ kind: 'reset', expires_in_minutes: 30 });
  const token = String(made.body.link).split('=')[1] as string;
  const rows = await auditAfter(api.db, before);
  expect(rows).toMatchObject([
    { action: 'account.link', accountId: api.accountIds.viewer, after: { kind: 'reset' } },
  ]);
  expect(JSON.stringify(rows)).not.toContain('lnk_');
  const reset = () => new Browser(api).ask('POST', '/auth/password/reset', { token, password: PASSWORD });
  expect((await reset()).status).toBe(200);
  expect((await reset()).status).toBe(400);
  expect((await operator.ask('POST', url, { kind: 'register' })).status).toBe(400);
});

it('keys of an account are listed without their text, and can be revoked', async () => {
  const text = await api.makeKey({ name: 'old' }, 'viewer');
  const url = `/admin/accounts/${api.accountIds.viewer}/keys`;
  const { body, text: sent } = await operator.ask('GET', url);
  expect(sent).not.toContain(text);
  const { id } = body.find(({ name }: { name: string }) => name === 'old');
  expect((await operator.ask('DELETE', `/admin/accounts/${api.accountIds.owner}/keys/${id}`)).status).toBe(
    404,
  );
  expect((await api.ask('GET', '/whoami', { as: text })).status).toBe(200);
  expect((await operator.ask('DELETE', `${url}/${id}`)).status).toBe(200);
  expect((await api.ask('GET', '/whoami', { as: text })).status).toBe(401);
  const revoked = (await operator.ask('GET', url)).body.find((key: { id: number }) => key.id === id);
  expect(revoked.revoked_at).toEqual(expect.any(String));
});
