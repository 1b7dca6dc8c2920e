// /admin as a whole: who gets in, what every call of it leaves in the audit log, and its description.

import { createConfig, lintFromString } from '@redocly/openapi-core';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { isWrite } from '../../../src/api/calls/route.ts';
import { ROUTES } from '../../../src/api/routes/every-route.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { Browser, givePassword } from '../../support/api/people.ts';
import { lastAudit } from '../../support/database/audit-rows.ts';

let api: TestApi;
let operator: Browser;
let owner: Browser;

beforeAll(async () => {
  api = await startTestApi({ trustedProxies: ['127.0.0.1/32'] });
  await api.makeDomain('shop.example');
  for (const account of ['owner', 'operator'] as const) await givePassword(api, account);
  operator = new Browser(api);
  owner = new Browser(api);
  await operator.login('operator');
  await owner.login('owner');
});
afterAll(() => api?.stop());

const ADMIN = ROUTES.filter(({ path }) => path.startsWith('/admin'));
const urlOf = (path: string) => path.replace(/\{(id|key)\}/g, '1').replace(/\{\w+\}/g, 'free');

describe('every route of it', () => {
  it.each(
    ADMIN.map(({ method, path }) => [method, path] as const),
  )('%s %s is closed to keys, and not there for others', async (method, path) => {
    const before = await lastAudit(api.db);
    const url = urlOf(path);
    const nowhere = await owner.ask(method, '/nothing/of/the/kind');
    const statuses: number[] = [];
    for (const as of [null, 'operator', 'owner']) statuses.push((await api.ask(method, url, { as })).status);
    expect(statuses).toEqual([401, 403, 403]);
    const answer = await owner.ask(method, url);
    expect([answer.status, answer.body]).toEqual([nowhere.status, nowhere.body]);
    expect((await owner.ask('OPTIONS', url)).status).toBe(404);
    expect((await operator.ask('OPTIONS', url)).status).toBe(200);
    expect(await lastAudit(api.db)).toBe(before);
  });

  it.each(
    ADMIN.filter(({ method }) => isWrite(method)).map(({ method, path }) => [method, path] as const),
  )('%s %s needs our origin and a fresh password', async (method, path) => {
    const url = urlOf(path);
    for (const origin of [null, 'https://evil.example'])
      expect((await operator.ask(method, url, {}, { origin })).body.code).toBe('foreign_origin');
    const stale = new Browser(api);
    await stale.login('operator');
    await sql`update sessions set password_at = clock_timestamp() - interval '16 minutes'`.execute(api.db);
    const answer = await stale.ask(method, url, {});
    const isThere = answer.status !== 404; // what the path names is looked for first
    if (isThere) expect([answer.status, answer.body.code]).toEqual([403, 'reauthenticate']);
    await sql`update sessions set password_at = clock_timestamp()`.execute(api.db);
  });

  it('of those that need one, most are asked for a password with something that is there', async () => {
    await sql`update sessions set password_at = clock_timestamp() - interval '16 minutes'`.execute(api.db);
    const id = api.accountIds.owner;
    for (const [method, url] of [
      ['POST', '/admin/accounts'],
      ['PATCH', `/admin/accounts/${id}`],
      ['POST', `/admin/accounts/${id}/links`],
      ['POST', '/admin/plans'],
      ['PATCH', '/admin/plans/free'],
      ['POST', '/admin/breaker/release'],
      ['POST', '/admin/breaker/freeze'],
      ['POST', '/admin/nodes/any/confirm'],
    ] as const)
      expect([url, (await operator.ask(method, url, {})).body.code]).toEqual([url, 'reauthenticate']);
    expect((await operator.ask('GET', '/admin/accounts')).status).toBe(200);
    await sql`update sessions set password_at = clock_timestamp()`.execute(api.db);
  });
});

it('an inactive or former admin is out at once', async () => {
  const browser = new Browser(api);
  await browser.login('operator');
  await sql`update accounts set is_admin = false where id = ${api.accountIds.operator}`.execute(api.db);
  expect((await browser.ask('GET', '/admin/accounts')).status).toBe(404);
  await sql`update accounts set is_admin = true where id = ${api.accountIds.operator}`.execute(api.db);
  expect((await browser.ask('GET', '/admin/accounts')).status).toBe(200);
});

describe('its description', () => {
  it('is for global admins, and has every route of it and no other', async () => {
    const url = '/admin/openapi.yaml';
    expect((await api.ask('GET', url, { as: null })).status).toBe(401);
    expect((await api.ask('GET', url, { as: 'operator' })).status).toBe(403);
    expect((await owner.ask('GET', url)).status).toBe(404);
    const { status, headers, text } = await operator.ask('GET', url);
    expect([status, headers['content-type']]).toEqual([200, 'application/yaml; charset=utf-8']);
    const document = parse(text);
    const described = Object.entries(document.paths as Record<string, object>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(ADMIN.map(({ method, path }) => `${method} ${path}`).sort());
    expect(document.openapi).toBe('3.1.0');
    const problems = await lintFromString({
      source: text,
      config: await createConfig({ extends: ['minimal'] }),
    });
    expect(problems.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([]);
  });

  it('is no part of the one that everybody reads', async () => {
    const { text } = await api.ask('GET', '/openapi.yaml', { as: null });
    expect(Object.keys(parse(text).paths).filter((path) => path.startsWith('/admin'))).toEqual([]);
    expect(text).not.toContain('adminListAccounts');
  });
});
