import { beforeAll, expect, it } from 'vitest';
import { WHOLE_SCOPE } from '../../../src/api/callers/caller.ts';
import { findDomainOfName } from '../../../src/api/compat/find-domain-of-name.ts';
import { parseName } from '../../../src/dns/name.ts';
import { loadAccount } from '../../../src/store/accounts/accounts.ts';
import { printWithoutDot } from '../../../src/zone/name-text.ts';
import { sharedTestApi, type TestAccount } from '../../support/api/api.ts';

const api = sharedTestApi();

beforeAll(async () => {
  for (const name of ['shop.example', 'deep.shop.example', 'off.example']) await api.makeDomain(name);
  await api.query`update domains set status = 'disabled', served = 'none', pending_since = null where name = 'off.example.'`;
});

const found = async (name: string, as: TestAccount = 'owner', key = {}) => {
  const account = await loadAccount(api.db, api.accountIds[as]);
  const caller = { account, credential: { kind: 'key', id: 1 }, key: { ...WHOLE_SCOPE, ...key } };
  const outcome = await findDomainOfName({ api: { db: api.db }, caller } as never, parseName(name));
  return 'error' in outcome ? outcome.status : printWithoutDot(outcome.name);
};

it.each([
  ['www.Shop.example.', 'owner', {}, 'shop.example'],
  ['shop.example.', 'editor', {}, 'shop.example'],
  ['a.b.deep.shop.example.', 'owner', {}, 'deep.shop.example'],
  ['a.deep.shop.example.', 'owner', { domains: ['shop.example'] }, 'shop.example'],
  ['a.shop.example.', 'owner', { names: ['_acme-challenge.shop.example'] }, 'shop.example'],
  ['a.shop.example.', 'owner', { domains: ['off.example'] }, 404],
  ['a.shop.example.', 'stranger', {}, 404],
  ['a.shop.example.', 'viewer', {}, 403],
  ['a.off.example.', 'owner', {}, 409],
  ['example.', 'owner', {}, 404],
  ['.', 'owner', {}, 404],
] as const)('findDomainOfName finds the domain of %s for %s with the key %j: %s', async (name, as, key, expected) => {
  expect(await found(name, as, key)).toBe(expected);
});
