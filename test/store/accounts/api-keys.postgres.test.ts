// Keys are found by their hash alone, and say whether they still hold; accounts belong to one email in any case.

import { beforeEach, expect, test } from 'vitest';
import {
  createAccount,
  findAccount,
  listAccounts,
  updateAccount,
} from '../../../src/store/accounts/accounts.ts';
import {
  createApiKey,
  generateKey,
  isKeyText,
  listApiKeys,
  revokeApiKey,
  touchApiKey,
} from '../../../src/store/accounts/api-keys.ts';
import { findApiKey } from '../../support/database/api-keys.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

test('a key is 40 base62 characters behind its prefix, another one each time', () => {
  const keys = Array.from({ length: 500 }, generateKey);
  expect(keys.every(isKeyText)).toBe(true);
  expect(new Set(keys).size).toBe(500);
  expect(new Set(keys.join('').replaceAll('svc_', '')).size).toBe(62);
  for (const text of ['', 'svc_', `svc_${'a'.repeat(39)}`, `svc_${'a'.repeat(41)}`, `svc_${'-'.repeat(40)}`])
    expect(isKeyText(text)).toBe(false);
});

const database = sharedDatabase();
let accountId: number;

beforeEach(async () => {
  const created = await createAccount(database.db, { email: 'Me@example.org', name: 'Me' });
  accountId = created.kind === 'created' ? created.account.id : 0;
});

test('only the hash is stored; a key is valid until it is revoked or expired', async () => {
  const { db } = database;
  const text = generateKey();
  const narrowed = { domains: ['a.test'], types: ['TXT'], readOnly: true };
  const key = await createApiKey(db, text, { accountId, name: 'ci', ...narrowed });
  expect(key).toMatchObject({ ...narrowed, names: null, prefix: text.slice(0, 10), lastUsedAt: null });
  expect(await createApiKey(db, text, { accountId, name: 'again' })).toBeUndefined();
  const rows = await db.selectFrom('api_keys').selectAll().execute();
  expect(JSON.stringify(rows)).not.toContain(text.slice(12));
  const found = await findApiKey(db, text);
  expect(found).toMatchObject({
    credential: key,
    state: 'valid',
    account: { id: accountId, email: 'Me@example.org' },
  });
  expect(found?.account.createdAt).toBeInstanceOf(Date);
  expect(await findApiKey(db, generateKey())).toBeUndefined();
  await touchApiKey(db, key?.id as number);
  expect((await listApiKeys(db, accountId))[0]?.lastUsedAt).toBeInstanceOf(Date);
  expect(await listApiKeys(db, 4711)).toEqual([]);
  expect(await revokeApiKey(db, key?.id as number)).toMatchObject({ id: key?.id });
  expect(await revokeApiKey(db, key?.id as number)).toMatchObject({ id: key?.id });
  expect(await revokeApiKey(db, 4711)).toBeUndefined();
  expect((await findApiKey(db, text))?.state).toBe('revoked');
  const old = generateKey();
  await createApiKey(db, old, { accountId, name: 'old', expiresAt: new Date(Date.now() - 1000) });
  expect((await findApiKey(db, old))?.state).toBe('expired');
});

test('an account has one email, whatever its case, and is found by it or by its id', async () => {
  const { db } = database;
  expect(await createAccount(db, { email: 'ME@example.org' })).toMatchObject({ kind: 'taken' });
  expect(await createAccount(db, { email: 'x@example.org', planSlug: 'gold' })).toMatchObject({
    kind: 'unknown_plan',
  });
  expect(await findAccount(db, 'me@EXAMPLE.org')).toMatchObject({
    id: accountId,
    planSlug: 'free',
    active: true,
  });
  expect(await findAccount(db, String(accountId))).toMatchObject({ id: accountId });
  expect(await findAccount(db, 'nobody')).toBeUndefined();
  const change = { isAdmin: true, active: false, planSlug: null };
  expect(await updateAccount(db, accountId, change)).toMatchObject(change);
  expect(await updateAccount(db, accountId, { planSlug: 'gold' })).toBe('unknown_plan');
  expect(await updateAccount(db, 4711, { active: true })).toBeUndefined();
  expect(await listAccounts(db)).toMatchObject([change]);
});
