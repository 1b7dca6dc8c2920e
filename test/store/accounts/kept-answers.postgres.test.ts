// A request with a key happens once, whatever is sent twice, at once, or fails in between.

import { beforeEach, expect, test } from 'vitest';
import {
  type IdempotentRequest,
  runOnce,
  type StoredResponse,
} from '../../../src/store/accounts/kept-answers.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { BY, listed, newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { edit } from '../../support/zone/customer-records.ts';

const database = sharedDatabase();
let accountId: number;
let domainId: number;

beforeEach(async () => {
  accountId = await newAccount(database.db, 'a@example.org');
  domainId = (await newDomain(database.db, accountId)).id;
});

const request = (rest: Partial<IdempotentRequest> = {}): IdempotentRequest => ({
  accountId,
  key: 'k',
  method: 'POST',
  path: '/domains/example.com/records/',
  bodyHash: new Uint8Array(32),
  ...rest,
});
/** Adds a TXT record, and fails with the status that it is given. */
const add = async (asked = request(), status = 200) =>
  await runOnce(database.db, asked, async (trx): Promise<StoredResponse> => {
    const result = await saveEdit(trx, {
      ...BY,
      domainId,
      edit: edit({ create: [`t TXT ${Math.random()}`] }),
    });
    if (result.kind !== 'saved') throw new Error(result.kind);
    return { status, headers: { 'x-change-id': String(result.changeId) }, body: { id: result.changeId } };
  });

test('a repeat gets the stored response; another method, path or body is a mismatch; keys are an account’s own', async () => {
  const first = await add();
  expect(first).toMatchObject({ kind: 'response', replayed: false, response: { status: 200 } });
  expect(await add()).toEqual({ ...first, replayed: true });
  for (const other of [{ method: 'PUT' }, { path: '/' }, { bodyHash: new Uint8Array(32).fill(1) }])
    expect(await add(request(other))).toEqual({ kind: 'mismatch' });
  const second = await newAccount(database.db, 'b@example.org');
  expect(await add(request({ accountId: second }))).toMatchObject({ replayed: false });
  expect(await listed(database.db, domainId)).toHaveLength(2);
});

test('of many at once one does the work, and the others get its response', async () => {
  const results = await Promise.all(Array.from({ length: 9 }, () => add()));
  expect(results.filter((result) => result.kind === 'response' && !result.replayed)).toHaveLength(1);
  expect(
    new Set(results.map((result) => JSON.stringify(result.kind === 'response' && result.response))).size,
  ).toBe(1);
  expect(await listed(database.db, domainId)).toHaveLength(1);
});

test('a failure, told or thrown, leaves nothing behind', async () => {
  const failed = await add(request(), 409);
  expect(failed).toMatchObject({ replayed: false, response: { status: 409 } });
  const thrown = runOnce(database.db, request(), async (trx) => {
    await saveEdit(trx, { ...BY, domainId, edit: edit({ create: ['t TXT x'] }) });
    throw new Error('lost');
  });
  await expect(thrown).rejects.toThrow('lost');
  expect(await listed(database.db, domainId)).toEqual([]);
  expect(await add()).toMatchObject({ replayed: false, response: { status: 200 } });
});
