import { beforeEach, expect, it } from 'vitest';
import { handOver } from '../../../src/store/change/hand-over.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';
import { BY } from '../../support/database/domains.ts';

const api = sharedTestApi();
let domain: Domain;
let path: string;
let key: { id: number; name: string };
let made = 0;
beforeEach(async () => {
  const name = `granted${made++}.test`;
  domain = await api.makeDomain(name);
  path = `/domains/${name}/update-grants`;
  key = await newKey();
});

const newKey = async (as: 'owner' | 'stranger' = 'owner') =>
  (await api.ask('POST', '/tsig-keys/', { as, body: { label: 'updates' } })).body;
const put = (...grants: object[]) => api.ask('PUT', path, { body: { grants } });
const stored = () => api.query`select id from update_grants where domain_id = ${domain.id}`;
const endKey = () => api.ask('DELETE', `/tsig-keys/${key.id}`);

it('replaces the grants of a domain, and keeps the ids of unchanged ones', async () => {
  const before = await lastAudit(api.db);
  const challenge = { tsig_key: key.id, name: '_acme-challenge', types: ['TXT'] };
  const first = await put(challenge, { tsig_key: key.id, name: '@', match: 'subtree', edits_origin: true });
  const [kept] = first.body.grants;
  expect(first.body.grants).toMatchObject([
    { ...challenge, match: 'exact', edits_origin: false },
    { name: '@', match: 'subtree', types: null, edits_origin: true },
  ]);
  const second = await put({ ...challenge, name: `_ACME-challenge.granted${made - 1}.test.` });
  expect(second.body.grants).toEqual([kept]);
  expect((await api.ask('GET', path, { as: 'admin' })).body).toEqual(second.body);
  expect((await auditAfter(api.db, before)).at(-1)).toMatchObject({
    action: 'update_grants.edit',
    after: { grants: [`${key.name} exact _acme-challenge.granted${made - 1}.test. TXT`] },
  });
  await put();
  await endKey();
});

it('does not revoke a key that has grants', async () => {
  await put({ tsig_key: key.id, name: 'home' });
  const refused = await endKey();
  expect([refused.status, refused.body.code]).toEqual([409, 'tsig_key_in_use']);
  await put();
  expect((await endKey()).status).toBe(200);
  expect((await put({ tsig_key: key.id, name: 'home' })).body.fields[0].field).toBe('grants[0].tsig_key');
});

it('does not show or replace grants of operator keys', async () => {
  await api.query`
    with k as (insert into tsig_keys (name, algorithm, use, wrap, sealed)
      values (${`operator${made}.`}, 'hmac-sha256', 'serve', 'x', '') returning id)
    insert into update_grants (key_id, domain_id, match, owner) select id, ${domain.id}, 'exact', 'a.test.' from k`;
  expect((await put()).body).toEqual({ grants: [] });
  expect(await stored()).toHaveLength(1);
  await endKey();
});

it.each([
  ['name', () => ({ name: 'other.example.' })],
  ['types[0]', () => ({ name: 'a', types: ['ANAME'] })],
  ['types[0]', () => ({ name: 'a', types: ['NONE'] })],
  ['types', () => ({ name: 'a', types: [] })],
  ['match', () => ({ name: 'a', match: 'below' })],
  ['tsig_key', async () => ({ name: 'a', tsig_key: (await newKey('stranger')).id })],
])('rejects a wrong %s', async (field, grant) => {
  const { status, body } = await put({ tsig_key: key.id, ...(await grant()) });
  expect([status, body.fields[0].field]).toEqual([400, `grants[0].${field}`]);
  await endKey();
});

it('allows 50 grants', async () => {
  const many = Array.from({ length: 51 }, (_, i) => ({ tsig_key: key.id, name: `n${i}` }));
  expect((await put(...many)).status).toBe(400);
  expect((await put(...many.slice(1))).body.grants).toHaveLength(50);
  await put();
  await endKey();
});

it('deletes the grants of a domain that is deleted or gets another owner', async () => {
  await put({ tsig_key: key.id, name: 'home' });
  const order = { ...BY, domainId: domain.id, accountId: api.accountIds.stranger };
  expect((await handOver(api.db, order)).kind).toBe('passed');
  expect(await stored()).toEqual([]);
  const name = `granted${made++}.test`;
  domain = await api.makeDomain(name);
  path = `/domains/${name}/update-grants`;
  await put({ tsig_key: key.id, name: 'home' });
  await deleteDomain(api.db, { ...BY, domainId: domain.id });
  expect(await stored()).toEqual([]);
});
