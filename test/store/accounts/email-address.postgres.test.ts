import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAccount, findAccount } from '../../../src/store/accounts/accounts.ts';
import { emailKeyOf, readEmail } from '../../../src/store/accounts/email-address.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

describe('an email address', () => {
  it.each([
    'ann@shop.example',
    'admin@localhost',
    "o'neil+dns@shop.example",
    'jürgen@bücher.example',
  ])('may be %s', (text) => {
    expect(readEmail(` ${text} `)).toBe(text);
  });

  it.each([
    'ann',
    '@shop.example',
    'ann@',
    'a@b@c',
    'ann@shop.example\r\nBcc: eve@evil.test',
    'Ann <ann@shop.example>',
    'a,b@shop.example',
    'ann@shop.example\u0000',
    `${'a'.repeat(65)}@shop.example`,
    `a@${'b'.repeat(253)}`,
  ])('is not %j', (text) => {
    expect(readEmail(text)).toBeUndefined();
  });

  it('is one account, in whatever case and form of Unicode, also beyond ASCII', async () => {
    const { db } = database;
    const composed = 'Jürgen@bücher.example'.normalize('NFC');
    const decomposed = 'JÜRGEN@bücher.example'.normalize('NFD');
    expect(composed).not.toBe(decomposed);
    expect(emailKeyOf(composed)).toBe(emailKeyOf(decomposed));
    const made = await createAccount(db, { email: composed });
    expect(made.kind).toBe('created');
    expect((await createAccount(db, { email: decomposed })).kind).toBe('taken');
    expect(await findAccount(db, decomposed)).toMatchObject({ email: composed });
  });
});
