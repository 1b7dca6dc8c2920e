import type { KeyObject } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Problem } from '../../../src/api/answers/problem.ts';
import { type ClaimedVantage, VantageCallers } from '../../../src/api/callers/vantage-callers.ts';
import {
  makeVantageKey,
  readPrivateKey,
  signVantageRequest,
} from '../../../src/process/vantage-signature.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { addVantage } from '../../../src/store/vantage/vantages.ts';
import { countStatements } from '../../support/database/count-statements.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

const SIGNED = { method: 'POST', path: '/vantage/v1/jobs', body: Buffer.from('{}') };
const ADDRESS = '192.0.2.1';

let database: TestDatabase;
let db: Database;
const keys: Record<string, KeyObject> = {};
beforeAll(async () => {
  database = await createDatabase();
  ({ db } = database);
  for (const name of ['ams', 'fra']) {
    const { privateKey, publicKey } = makeVantageKey();
    keys[name] = readPrivateKey(privateKey) as KeyObject;
    await addVantage(db, { name, network: name, publicKey, address: null });
  }
});
afterAll(() => database.drop());

const headersOf = (name: string, by = keys[name] as KeyObject) => signVantageRequest(by, name, SIGNED);
const statusOf = (outcome: unknown) => (outcome instanceof Problem ? outcome.status : 200);

async function call(callers: VantageCallers, name: string, by?: KeyObject): Promise<number> {
  const claimed = await callers.claim(headersOf(name, by), ADDRESS);
  if (claimed instanceof Problem) return claimed.status;
  claimed.release();
  return statusOf(await callers.verify(claimed, SIGNED));
}

it('a vantage has a limit of its own, and what others forge in its name does not count', async () => {
  const callers = new VantageCallers(db, { limits: { perMinute: 4 } });
  const other = readPrivateKey(makeVantageKey().privateKey) as KeyObject;
  for (let i = 0; i < 20; i++) expect(await call(callers, 'ams', other)).toBe(401);
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) statuses.push(await call(callers, 'ams'));
  expect(statuses).toEqual([200, 200, 200, 200, 429]);
  expect(await call(callers, 'fra')).toBe(200);
});

it('a request that nobody can have signed costs no body and no statement', async () => {
  const callers = new VantageCallers(db, { limits: { keysMs: 60_000 } });
  await callers.claim(headersOf('ams'), ADDRESS);
  const later = new VantageCallers(db, { nowMs: () => Date.now() + 120_000 });
  const { statements } = await countStatements(async () => {
    expect(statusOf(await callers.claim({}, ADDRESS))).toBe(401);
    expect(statusOf(await callers.claim({ ...headersOf('ams'), 'x-vantage-nonce': 'x' }, ADDRESS))).toBe(401);
    expect(statusOf(await callers.claim(headersOf('lon', keys.ams), ADDRESS))).toBe(401);
    expect(statusOf(await later.claim(headersOf('ams'), ADDRESS))).toBe(401);
  });
  expect(statements).toBe(0);
});

it('only so many bodies are received at a time, of all and of one address, and each gives its place back once', async () => {
  const callers = new VantageCallers(db, { limits: { bodies: 3, bodiesOfAddress: 2 } });
  const claim = async (address: string) => await callers.claim(headersOf('ams'), address);
  const first = (await claim(ADDRESS)) as ClaimedVantage;
  await claim(ADDRESS);
  expect(statusOf(await claim(ADDRESS))).toBe(503);
  await claim('198.51.100.1');
  expect(statusOf(await claim('198.51.100.2'))).toBe(503);
  first.release();
  first.release();
  expect(statusOf(await claim(ADDRESS))).toBe(200);
  expect(statusOf(await claim('198.51.100.2'))).toBe(503);
});
