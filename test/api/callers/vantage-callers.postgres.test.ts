import type { KeyObject } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { Problem } from '../../../src/api/answers/problem.ts';
import { VantageCallers, type VerifiedVantage } from '../../../src/api/callers/vantage-callers.ts';
import {
  makeVantageKey,
  readPrivateKey,
  signVantageRequest,
} from '../../../src/process/vantage-signature.ts';
import { addVantage } from '../../../src/store/vantage/vantages.ts';
import { countStatements } from '../../support/database/count-statements.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const SIGNED = { method: 'POST', path: '/vantage/v1/jobs', body: Buffer.from('{}') };

const { db } = keptDatabase();
const keys: Record<string, KeyObject> = {};
beforeAll(async () => {
  for (const name of ['ams', 'fra']) {
    const { privateKey, publicKey } = makeVantageKey();
    keys[name] = readPrivateKey(privateKey) as KeyObject;
    await addVantage(db, { name, network: name, publicKey, address: null });
  }
});

const headersOf = (name: string, by = keys[name] as KeyObject) => signVantageRequest(by, name, SIGNED);
const statusOf = (outcome: unknown) => (outcome instanceof Problem ? outcome.status : 200);

async function call(callers: VantageCallers, name: string, by?: KeyObject): Promise<number> {
  const verified = await callers.verify(headersOf(name, by), SIGNED);
  if (!(verified instanceof Problem)) verified.release();
  return statusOf(verified);
}

it('an observer has its own limit, which requests forged in its name do not use up', async () => {
  const callers = new VantageCallers(db, { limits: { perMinute: 4 } });
  const other = readPrivateKey(makeVantageKey().privateKey) as KeyObject;
  for (let i = 0; i < 20; i++) expect(await call(callers, 'ams', other)).toBe(401);
  const statuses: number[] = [];
  for (let i = 0; i < 5; i++) statuses.push(await call(callers, 'ams'));
  expect(statuses).toEqual([200, 200, 200, 200, 429]);
  expect(await call(callers, 'fra')).toBe(200);
});

it('a request without a valid signature costs no body and no statement, whatever name it claims', async () => {
  const other = readPrivateKey(makeVantageKey().privateKey) as KeyObject;
  const callers = new VantageCallers(db, { limits: { keysMs: 60_000 } });
  await callers.verify(headersOf('ams', other), SIGNED);
  const later = new VantageCallers(db, { nowMs: () => Date.now() + 120_000 });
  const { statements } = await countStatements(async () => {
    expect(statusOf(await callers.verify({}, SIGNED))).toBe(401);
    expect(statusOf(await callers.verify({ ...headersOf('ams'), 'x-vantage-nonce': 'x' }, SIGNED))).toBe(401);
    expect(statusOf(await later.verify(headersOf('ams'), SIGNED))).toBe(401);
    const [unknown, wrong] = await Promise.all([
      callers.verify(headersOf('lon', keys.ams), SIGNED),
      callers.verify(headersOf('ams', other), SIGNED),
    ]);
    expect(statusOf(unknown)).toBe(401);
    expect(unknown).toEqual(wrong);
  });
  expect(statements).toBe(0);
});

it('a limited number of bodies per observer is received concurrently, and each releases its slot once', async () => {
  const callers = new VantageCallers(db, { limits: { bodies: 2 } });
  const begin = async (name: string) => await callers.verify(headersOf(name), SIGNED);
  const first = (await begin('ams')) as VerifiedVantage;
  await begin('ams');
  expect(statusOf(await begin('ams'))).toBe(503);
  expect(statusOf(await begin('fra'))).toBe(200);
  first.release();
  first.release();
  expect(statusOf(await begin('ams'))).toBe(200);
  expect(statusOf(await begin('ams'))).toBe(503);
});

it('a nonce is used before the body arrives, and the body must be the signed one', async () => {
  const callers = new VantageCallers(db);
  const headers = headersOf('ams');
  const verified = (await callers.verify(headers, SIGNED)) as VerifiedVantage;
  expect(await callers.verify(headers, SIGNED)).toMatchObject({ error: 'x-vantage-nonce: used before' });
  expect(verified.judgeBody(SIGNED.body)).toBeUndefined();
  expect(verified.judgeBody(Buffer.from('{ }'))).toMatchObject({ status: 401 });
});
