import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { waitForVerification } from '../../../src/store/verifications/wait-for-verification.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { makeVerification, type SaidWorld } from '../../support/world/made-verifications.ts';

let database: TestDatabase;
let accountId: number;
let domains = 0;
beforeAll(async () => {
  database = await createDatabase();
  accountId = await newAccount(database.db, 'ann@shop.example');
});
afterAll(() => database.drop());

async function waiting({ timeoutMs = 20_000, signal = new AbortController().signal } = {}) {
  const domain = await newDomain(database.db, accountId, `d${++domains}.com.`, { dnsMode: 'external' });
  const wanted = {
    domainId: domain.id,
    value: domain.verification?.value as string,
    request: randomUUID(),
    since: new Date(),
  };
  return { ...wanted, wait: () => waitForVerification(database.db, wanted, { timeoutMs, signal }) };
}
const make = (domainId: number, said: SaidWorld, request?: string) =>
  makeVerification(database.db, { domainId, ...(request && { request }) }, () => said);

it('ends with the run of its request, and with no other that began before and leaves the domain unverified', async () => {
  const { domainId, request, since, wait } = await waiting();
  const waited = wait();
  await make(domainId, { servers: ['nodata'], at: since.getTime() }, randomUUID());
  const mine = await make(domainId, { servers: ['nxdomain', 'nodata'] }, request);
  expect(await waited).toMatchObject({
    kind: 'run',
    run: { id: mine.kind === 'saved' && mine.runId, asked: 2 },
  });
});

it('has the run that made the domain active, and not only that it is over', async () => {
  const { domainId, value, request, wait } = await waiting();
  await make(domainId, { servers: [[value]] }, request);
  expect(await wait()).toMatchObject({ kind: 'run', run: { verdict: 'verified' } });
});

it('ends with a run of another request that began later', async () => {
  const { domainId, since, wait } = await waiting();
  const waited = wait();
  const other = await make(domainId, { servers: ['nodata'], at: since.getTime() + 1000 }, randomUUID());
  expect(await waited).toMatchObject({ kind: 'run', run: { id: other.kind === 'saved' && other.runId } });
});

it('ends with one that was under way, once the time is over', async () => {
  const { domainId, since, wait } = await waiting({ timeoutMs: 400 });
  await make(domainId, { servers: ['nodata'], at: since.getTime() });
  const waited = wait();
  await new Promise((resolve) => setTimeout(resolve, 100));
  const running = await make(domainId, { servers: ['nodata'], at: since.getTime() });
  expect(await waited).toMatchObject({ kind: 'run', run: { id: running.kind === 'saved' && running.runId } });
});

it('is over when there is nothing more to be verified by that value', async () => {
  const proved = await waiting();
  await make(proved.domainId, { servers: [[proved.value]] });
  expect(await proved.wait()).toEqual({ kind: 'over' });
  const disabled = await waiting();
  await changeStatus(database.db, { ...BY, domainId: disabled.domainId, event: 'disable' });
  expect(await disabled.wait()).toEqual({ kind: 'over' });
  const expired = await waiting();
  await sql`update domain_verifications set expires_at = now() where domain_id = ${expired.domainId}`.execute(
    database.db,
  );
  expect(await expired.wait()).toEqual({ kind: 'over' });
});

it('ends with nothing when the time is over, or nobody wants it any more', async () => {
  expect(await (await waiting({ timeoutMs: 80 })).wait()).toBeUndefined();
  expect(await (await waiting({ timeoutMs: 60_000, signal: AbortSignal.abort() })).wait()).toBeUndefined();
});
