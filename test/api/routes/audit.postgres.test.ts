import { beforeAll, describe, expect, it } from 'vitest';
import { ROUTES } from '../../../src/features/every-route.ts';
import type { AuditRow } from '../../../src/store/audit/load-audit.ts';
import { makeLink } from '../../../src/store/people/credentials.ts';
import { type Answer, readPages, sharedTestApi } from '../../support/api/api.ts';
import { appCode, Browser, emailOf, givePassword, PASSWORD } from '../../support/api/people.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';

const api = sharedTestApi();
const TRACED = { key_id: expect.any(Number), address: '127.0.0.1' };
const secrets: string[] = [PASSWORD, 'another battery horse', 'not this one'];

beforeAll(async () => {
  for (const account of ['owner', 'admin', 'editor', 'stranger', 'operator'] as const)
    await givePassword(api, account);
  await api.makeDomain('shop.example');
});

/** Records the secrets in a response. */
function keep(answer: Answer): Answer {
  const found = JSON.stringify([answer.body, answer.headers]).match(/(ses|svc|lnk|dev)_[\w-]{20,}/g) ?? [];
  secrets.push(...found, ...[answer.body?.secret ?? [], answer.body?.recovery_codes ?? []].flat());
  return answer;
}

async function rowsOf(work: () => Promise<Answer>): Promise<[Answer, AuditRow[]]> {
  const before = await lastAudit(api.db);
  const answer = keep(await work());
  return [answer, await auditAfter(api.db, before)];
}

async function signedIn(account: 'owner' | 'editor' | 'stranger' | 'operator'): Promise<Browser> {
  const browser = new Browser(api);
  keep(await browser.login(account));
  return browser;
}

/** A successful call of each route whose handler writes the row. */
const IN_HANDLER: Readonly<Record<string, () => Promise<Answer>>> = {
  login: () => new Browser(api).login('owner'),
  confirmPassword: async () => (await signedIn('owner')).ask('POST', '/auth/confirm', { password: PASSWORD }),
  async register() {
    const token = await makeLink(api.database.db, { kind: 'register', email: 'new@shop.example' });
    secrets.push(token);
    return await new Browser(api).ask('POST', '/auth/register', { token, password: PASSWORD });
  },
  async resetPassword() {
    const token = await makeLink(api.database.db, { kind: 'reset', accountId: api.accountIds.admin });
    secrets.push(token);
    return await new Browser(api).ask('POST', '/auth/password/reset', { token, password: PASSWORD });
  },
  changePassword: async () =>
    (await signedIn('owner')).ask('PUT', '/users/me/password', { password: PASSWORD }),
  changeEmail: async () =>
    (await signedIn('owner')).ask('PUT', '/users/me/email', { email: 'next@shop.example' }),
  async confirmEmail() {
    const [accountId, email] = [api.accountIds.stranger, 'stranger2@shop.example'];
    const token = await makeLink(api.database.db, { kind: 'email', accountId, email });
    secrets.push(token);
    return await (await signedIn('stranger')).ask('POST', '/users/me/email/confirm', { token });
  },
  enableOtp: async () => (await signedIn('editor')).ask('POST', '/auth/otp/enable'),
  async confirmOtp() {
    const browser = await signedIn('editor');
    const { body } = keep(await browser.ask('POST', '/auth/otp/enable'));
    return await browser.ask('POST', '/auth/otp/confirm', { otp: appCode(body.secret) });
  },
  async disableOtp() {
    const browser = new Browser(api);
    const code = secrets.findLast((text) => /^\w{4}-\w{4}-/.test(text)) ?? '';
    const other = secrets.filter((text) => /^\w{4}-\w{4}-/.test(text)).at(-2) ?? '';
    keep(await browser.login('editor', { otp: code }));
    return await browser.ask('POST', '/auth/otp/disable', { otp: other });
  },
  adminCreateDomains: async () =>
    (await signedIn('operator')).ask('POST', '/admin/domains/batch', {
      approve: true,
      domains: [{ name: 'taken-in.com', user_id: api.accountIds.owner }],
    }),
};

describe('a route whose handler writes the row', () => {
  // Routes of people. Notices of payment gateways are covered by `money/topups.test.ts`, sign-ins with an identity provider by
  // `oidc/routes.nightly.test.ts`.
  const routes = ROUTES.filter(
    ({ access, operationId }) => access.kind !== 'gateway' && !operationId.endsWith('Identity'),
  ).flatMap(({ operationId, audit }) =>
    typeof audit === 'object' && 'inHandler' in audit ? [{ operationId, action: audit.inHandler }] : [],
  );

  it('is listed here', () => {
    expect(Object.keys(IN_HANDLER).sort()).toEqual(routes.map(({ operationId }) => operationId).sort());
  });

  it.each(
    routes.toSorted(
      (a, b) =>
        Object.keys(IN_HANDLER).indexOf(a.operationId) - Object.keys(IN_HANDLER).indexOf(b.operationId),
    ),
  )('$operationId writes $action', async ({ operationId, action }) => {
    const [answer, rows] = await rowsOf(IN_HANDLER[operationId] as () => Promise<Answer>);
    expect(answer.status).toBe(200);
    expect(rows.map((row) => row.action)).toContain(action);
    for (const { actor } of rows) expect(actor.address).toMatch(/^10\.1\./);
  });
});

describe('writes of an account', () => {
  it('contain the properties of a key but not the key, once for a repeated Idempotency-Key', async () => {
    const browser = await signedIn('owner');
    const body = { name: 'acme', read_only: true, domains: ['shop.example'] };
    const create = () =>
      rowsOf(() => browser.ask('POST', '/users/me/keys', body, { headers: { 'idempotency-key': 'k1' } }));
    const [made, rows] = await create();
    const { id: keyId, prefix } = made.body;
    expect(rows).toMatchObject([
      {
        action: 'key.create',
        actor: { kind: 'session', accountId: api.accountIds.owner, address: browser.address },
        accountId: api.accountIds.owner,
        targetId: keyId,
        targetName: 'acme',
        after: { ...body, prefix },
      },
    ]);
    expect((await create())[1]).toEqual([]);
    const remove = () => rowsOf(() => browser.ask('DELETE', `/users/me/keys/${keyId}`));
    expect(await remove()).toMatchObject([{ status: 200 }, [{ action: 'key.revoke', targetId: keyId }]]);
    const [again, none] = await remove();
    expect([again.status, none]).toEqual([404, []]);
  });

  it('are recorded only if something changes', async () => {
    const browser = await signedIn('owner');
    const rename = () => rowsOf(() => browser.ask('PUT', '/users/me', { name: 'Ann' }));
    expect((await rename())[1]).toMatchObject([{ action: 'account.update', after: { name: 'Ann' } }]);
    expect((await rename())[1]).toEqual([]);
  });

  it('record the end of sessions', async () => {
    const [browser, other] = [await signedIn('owner'), await signedIn('owner')];
    const [, ended] = await rowsOf(() => browser.ask('DELETE', '/users/me/sessions'));
    expect(ended).toMatchObject([{ action: 'session.end', before: { ended: expect.any(Number) } }]);
    expect((await other.ask('GET', '/users/me')).status).toBe(401);
    const [, out] = await rowsOf(() => browser.ask('POST', '/auth/logout'));
    expect(out).toMatchObject([{ action: 'session.end' }]);
  });

  it('record failed sign-ins to existing accounts', async () => {
    const before = await lastAudit(api.db);
    const browser = new Browser(api);
    for (const email of [emailOf('viewer'), 'nobody@shop.example']) {
      const { status } = await browser.ask('POST', '/auth/login', { email, password: 'not this one' });
      expect(status).toBe(401);
    }
    expect(await auditAfter(api.db, before)).toMatchObject([
      {
        action: 'session.fail',
        accountId: api.accountIds.viewer,
        after: { step: 'password' },
        actor: { kind: 'session', address: browser.address },
      },
    ]);
  });
});

describe('writes of a domain', () => {
  const PATH = '/domains/shop.example/records/';
  const A = (name: string, destination = '192.0.2.1') => ({ name, type: 'A', destination });

  it('refer to their change, in one row', async () => {
    const [made, rows] = await rowsOf(() => api.ask('POST', PATH, { body: A('www') }));
    expect(rows).toMatchObject([
      {
        action: 'records.edit',
        actor: { kind: 'key', accountId: api.accountIds.owner, keyId: expect.any(Number) },
        changeId: Number(made.headers['x-change-id']),
        targetName: 'shop.example',
        before: null,
        after: null,
      },
    ]);
    const create = Array.from({ length: 300 }, (_, i) => A(`h${i}`));
    const [, bulk] = await rowsOf(() => api.ask('PUT', `${PATH}batch`, { body: { create } }));
    expect(bulk).toHaveLength(1);
    const [refused, none] = await rowsOf(() => api.ask('POST', PATH, { body: A('x', '?') }));
    expect([refused.status, none]).toEqual([400, []]);
  });

  it('contain settings before and after', async () => {
    const put = () => rowsOf(() => api.ask('PUT', '/domains/shop.example', { body: { sec_no_sniff: true } }));
    const row = { action: 'domain.update', before: { sec_no_sniff: false }, after: { sec_no_sniff: true } };
    expect((await put())[1]).toMatchObject([row]);
    expect((await put())[1]).toEqual([]);
  });

  it('record creation and deletion, and outlive the domain', async () => {
    const body = { name: 'brief.example', scan: false };
    const [made, created] = await rowsOf(() => api.ask('POST', '/domains/', { body }));
    expect(created).toMatchObject([{ action: 'domain.create', after: { status: 'pending' } }]);
    const { id } = made.body;
    const [, deleted] = await rowsOf(() => api.ask('DELETE', '/domains/brief.example'));
    expect(deleted).toMatchObject([{ action: 'domain.delete', domainId: id, targetName: 'brief.example' }]);
    await api.query`delete from domains where id = ${id}`;
    const rows = await api.query`select from audit_log where domain_id = ${id}`;
    expect(rows).toHaveLength(2);
  });
});

describe('the list of a domain', () => {
  const list = (query = '', as = 'owner') => api.ask('GET', `/domains/shop.example/audit${query}`, { as });

  it('is paged, filtered and counted, newest first', async () => {
    const { body: all, headers } = await list('?count=true');
    expect(Number(headers['x-total-count'])).toBe(all.length);
    expect(all[0]).toEqual({
      id: expect.any(Number),
      at: expect.stringMatching(/Z$/),
      actor: { kind: 'key', user_id: api.accountIds.owner, ...TRACED },
      action: 'domain.update',
      target: { kind: 'domain', id: expect.any(Number), name: 'shop.example' },
      domain_id: expect.any(Number),
      before: { sec_no_sniff: false },
      after: { sec_no_sniff: true },
    });
    const ids = all.map(({ id }: { id: number }) => id);
    expect(ids).toEqual(ids.toSorted((a: number, b: number) => b - a));
    const pages = await readPages(api, '/domains/shop.example/audit?limit=2');
    expect(pages.flatMap(({ body }) => body)).toEqual(all);
    const edit = { action: 'records.edit' };
    expect((await list('?action=records.edit&actor=key')).body).toMatchObject([edit, edit]);
    expect((await list('?since=2090-01-01T00:00:00Z')).body).toEqual([]);
    expect((await list('?until=2090-01-01T00:00:00Z')).body).toHaveLength(all.length);
    for (const wrong of ['?action=nothing', '?since=yesterday', '?limit=1001', '?by=1'])
      expect([wrong, (await list(wrong)).status]).toEqual([wrong, 400]);
  });

  it('hides addresses and keys of operators from customers', async () => {
    await api.ask('PUT', '/domains/shop.example', { as: 'operator', body: { sec_no_sniff: false } });
    const [seen] = (await list('?limit=1')).body;
    expect(seen.actor).toEqual({ kind: 'key', user_id: api.accountIds.operator });
    const [own] = (await list('?limit=1', 'operator')).body;
    expect(own.actor).toMatchObject(TRACED);
    expect(JSON.stringify((await list()).body)).not.toContain('"name":"test"'); // the user of the command line
  });
});

it('the list of an account is for its sessions', async () => {
  const browser = await signedIn('owner');
  const { status, body } = await browser.ask('GET', '/users/me/audit');
  expect(status).toBe(200);
  expect(new Set(body.map(({ user_id }: { user_id: number }) => user_id))).toEqual(
    new Set([api.accountIds.owner]),
  );
  expect(body[0]).toMatchObject({ action: 'session.begin', after: { by: 'password', otp: false } });
  expect((await api.ask('GET', '/users/me/audit')).status).toBe(403);
});

it('the log contains no secrets and no hashes', async () => {
  expect(secrets.length).toBeGreaterThan(20);
  const rows = await api.query<{ text: string }>`select row_to_json(l)::text as text from audit_log l`;
  const text = rows.map((row) => row.text).join('\n');
  expect(rows.length).toBeGreaterThan(30);
  for (const secret of secrets) expect([secret, text.includes(secret)]).toEqual([secret, false]);
  expect(text).not.toMatch(/argon2|password_hash|\b(ses|lnk|dev)_\w{10}/);
});
