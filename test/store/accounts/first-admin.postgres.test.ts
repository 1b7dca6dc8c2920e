import { describe, expect, it } from 'vitest';
import { listAccounts } from '../../../src/store/accounts/accounts.ts';
import { findKeyIds, generateKey, listApiKeys, revokeApiKey } from '../../../src/store/accounts/api-keys.ts';
import { createFirstAdminKey, ensureAdminKey } from '../../../src/store/accounts/first-admin.ts';
import { findApiKey } from '../../support/database/api-keys.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();

describe('the first admin', () => {
  it('is made once, with a key that works, however many start at the same time', async () => {
    const { db } = database;
    const keys = await Promise.all([1, 2, 3, 4].map(() => createFirstAdminKey(db)));
    const made = keys.filter((key) => key !== undefined);
    expect(made).toHaveLength(1);
    const found = await findApiKey(db, made[0] as string);
    expect(found).toMatchObject({
      state: 'valid',
      account: { isAdmin: true, active: true, planSlug: 'pro' },
    });
    expect(await createFirstAdminKey(db)).toBeUndefined();
    expect(await listAccounts(db)).toHaveLength(1);
  });

  it('gets the key that the operator has chosen, once, and does not get a revoked one back', async () => {
    const { db } = database;
    const key = generateKey();
    await Promise.all([ensureAdminKey(db, key), ensureAdminKey(db, key)]);
    expect(await listApiKeys(db)).toHaveLength(1);
    for (const id of await findKeyIds(db, key)) await revokeApiKey(db, id);
    await ensureAdminKey(db, key);
    expect(await findApiKey(db, key)).toMatchObject({ state: 'revoked' });
    await ensureAdminKey(db, generateKey());
    const keys = await listApiKeys(db);
    expect(keys).toHaveLength(2);
    expect(keys[1]?.accountId).toBe(keys[0]?.accountId);
    expect(await createFirstAdminKey(db)).toBeUndefined();
  });
});
