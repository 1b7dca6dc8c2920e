import { createConfig, lintFromString } from '@redocly/openapi-core';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { ROUTES } from '../../../src/features/every-route.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { type Browser, signIn } from '../../support/api/people.ts';
import { lastAudit } from '../../support/database/audit-rows.ts';

const api = sharedTestApi();
let operator: Browser;
let owner: Browser;

beforeAll(async () => {
  operator = await signIn(api, 'operator');
  owner = await signIn(api, 'owner');
});

const agePasswords = (minutes: number) =>
  api.query`update sessions set password_at = clock_timestamp() - make_interval(mins => ${minutes})`;

// Every route of /admin declares the same access (test/api/routes.test.ts), and test/api/calls/surfaces.test.ts proves who passes.
it('a write below /admin requires the console and a recent password, and is unknown to other sessions', async () => {
  const url = `/admin/accounts/${api.accountIds.owner}`;
  const before = await lastAudit(api.db);
  const nowhere = await owner.ask('PATCH', '/nothing/of/the/kind');
  const answer = await owner.ask('PATCH', url);
  expect([answer.status, answer.body]).toEqual([nowhere.status, nowhere.body]);
  expect((await owner.ask('OPTIONS', url)).status).toBe(404);
  expect((await operator.ask('OPTIONS', url)).status).toBe(200);
  expect((await operator.ask('PATCH', url, {}, { origin: null })).body.code).toBe('foreign_origin');
  await agePasswords(16);
  expect(await operator.ask('PATCH', url, {})).toMatchObject({
    status: 403,
    body: { code: 'reauthenticate' },
  });
  expect((await operator.ask('GET', url)).status).toBe(200);
  await agePasswords(0);
  expect(await lastAudit(api.db)).toBe(before);
});

it('a former admin is refused immediately', async () => {
  const setAdmin = (isAdmin: boolean) =>
    api.query`update accounts set is_admin = ${isAdmin} where id = ${api.accountIds.operator}`;
  await setAdmin(false);
  expect((await operator.ask('GET', '/admin/accounts')).status).toBe(404);
  await setAdmin(true);
  expect((await operator.ask('GET', '/admin/accounts')).status).toBe(200);
});

it('the description of /admin is for global admins, and lists every route of /admin and no other', async () => {
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
  const routes = ROUTES.filter(({ path }) => path.startsWith('/admin'));
  expect(described.sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  expect(document.openapi).toBe('3.1.0');
  const config = await createConfig({ extends: ['minimal'] });
  const problems = await lintFromString({ source: text, config });
  expect(problems.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([]);
});
