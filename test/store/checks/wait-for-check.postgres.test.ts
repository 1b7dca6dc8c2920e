import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitForCheck } from '../../../src/store/checks/wait-for-check.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { evidenceOf, makeCheck } from '../../support/world/made-checks.ts';

let database: TestDatabase;
let domainId: number;
beforeAll(async () => {
  database = await createDatabase();
  domainId = (await newDomain(database.db, await newAccount(database.db, 'ann@shop.example'))).id;
});
afterAll(() => database.drop());

const never = new AbortController().signal;
const make = (request: string) =>
  makeCheck(database.db, { domainId, request }, (domain) => evidenceOf(domain, 'nxdomain'));

describe('waiting for a check', () => {
  it('ends with the run that was saved with the request, and no other', async () => {
    const request = randomUUID();
    await make(randomUUID());
    const waited = waitForCheck(database.db, request, { timeoutMs: 20_000, signal: never });
    await make(randomUUID());
    const mine = await make(request);
    expect(mine.kind).toBe('saved');
    expect(await waited).toMatchObject({
      domainId,
      verdict: 'unregistered',
      id: mine.kind === 'saved' && mine.checkId,
    });
  });

  it('finds one that is there already, even without any time', async () => {
    const request = randomUUID();
    await make(request);
    expect(await waitForCheck(database.db, request, { timeoutMs: 0, signal: never })).toBeDefined();
  });

  it('ends with nothing when the time is over, or nobody wants it any more', async () => {
    expect(await waitForCheck(database.db, randomUUID(), { timeoutMs: 120, signal: never })).toBeUndefined();
    const gone = new AbortController();
    const waited = waitForCheck(database.db, randomUUID(), { timeoutMs: 3_600_000, signal: gone.signal });
    gone.abort();
    expect(await waited).toBeUndefined();
  });
});
