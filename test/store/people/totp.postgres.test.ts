import { afterAll, beforeAll, expect, it } from 'vitest';
import { confirmTotp, saveTotp, takeRecoveryCode, takeStep } from '../../../src/store/people/totp.ts';
import { KeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount } from '../../support/database/domains.ts';

let database: TestDatabase;
let accountId: number;
beforeAll(async () => {
  database = await createDatabase();
  const { db } = database;
  accountId = await newAccount(db, 'ann@shop.example');
  const boxes = new KeyBoxes([{ name: 'k', secret: Buffer.alloc(32, 1) }]);
  await saveTotp(db, accountId, await boxes.seal(db, ['totp', String(accountId)], Buffer.from('secret')));
});
afterAll(() => database.drop());

it('of many calls at once with the same code one counts, and no earlier code after it', async () => {
  const { db } = database;
  const taken = await Promise.all(Array.from({ length: 8 }, () => takeStep(db, accountId, 7)));
  expect(taken.filter(Boolean)).toHaveLength(1);
  expect(await takeStep(db, accountId, 6)).toBe(false);
  expect(await takeStep(db, accountId, 8)).toBe(true);
});

it('of many calls at once with the same recovery code one counts', async () => {
  const { db } = database;
  await confirmTotp(db, accountId, [Buffer.from('a'), Buffer.from('b')]);
  const taken = await Promise.all(
    Array.from({ length: 8 }, () => takeRecoveryCode(db, accountId, Buffer.from('a'))),
  );
  expect(taken.filter(Boolean)).toHaveLength(1);
  expect(await takeRecoveryCode(db, accountId, Buffer.from('b'))).toBe(true);
});
