// A reseller below zero for too long: its domains and those of its clients are suspended, and resumed when money comes in.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addTerm } from '../../../../src/store/accounts/plans.ts';
import { changeStatus } from '../../../../src/store/change/change-status.ts';
import { setSuspended } from '../../../../src/store/change/update-domain.ts';
import { settleDebts } from '../../../../src/store/money/settle-debts.ts';
import { type Answer, startTestApi, type TestApi } from '../../../support/api/api.ts';
import { giveMoney } from '../../../support/billing/give-money.ts';
import { newDomain } from '../../../support/database/domains.ts';
import { bearerSession, makeClient, makeReseller, type Reseller } from '../../../support/walk/resellers.ts';

const DAY = 86_400_000;
const GRACE_DAYS = 7;
const PRICE = 1000;
let api: TestApi;
let reseller: Reseller;
let clientId: number;
let domains: Readonly<Record<'service' | 'own' | 'off' | 'byHand' | 'others', number>>;
beforeAll(async () => {
  api = await startTestApi({ maxNegativeRials: PRICE });
  const { db } = api.database;
  reseller = await makeReseller(api, 'reseller@suspension.test');
  clientId = await makeClient(api, reseller, 'client@suspension.test');
  const termId = (await addTerm(db, 'pro', { days: 30, priceRials: PRICE }))?.terms.at(-1)?.id as number;
  const made = await ask('POST', '/services', {
    client_id: clientId,
    domain: 'service.test',
    plan_term_id: termId,
  });
  domains = {
    service: made.body.id,
    own: (await newDomain(db, reseller.id, 'own.test.')).id,
    off: (await newDomain(db, clientId, 'off.test.')).id,
    byHand: (await newDomain(db, clientId, 'hand.test.')).id,
    others: (await newDomain(db, api.accountIds.owner, 'others.test.')).id,
  };
  const by = { kind: 'cli' } as const;
  await changeStatus(db, { domainId: domains.off, event: 'disable', by, source: 'test' });
  await setSuspended(db, { domainId: domains.byHand, suspended: true });
});
afterAll(() => api?.stop());

const ask = (method: string, path: string, body?: object): Promise<Answer> =>
  api.ask(method, `/reseller/v1${path}`, {
    as: reseller.token,
    ...(body && { body: JSON.stringify(body) }),
  });

/** As whoever owns it reads it. */
async function suspended(): Promise<Record<string, boolean>> {
  const readers = {
    service: await bearerSession(api, clientId),
    own: await reseller.session(),
    off: await bearerSession(api, clientId),
    byHand: await bearerSession(api, clientId),
    others: api.keys.owner,
  };
  const entries = await Promise.all(
    Object.entries(readers).map(async ([name, as]) => {
      const { body } = await api.ask('GET', `/domains/${domains[name as keyof typeof readers]}`, { as });
      expect([name, typeof body.suspended_at === 'string']).toEqual([name, body.suspended]);
      return [name, body.suspended] as const;
    }),
  );
  return Object.fromEntries(entries);
}

const settle = (at: number) => settleDebts(api.db, { at: new Date(at), graceDays: GRACE_DAYS });

describe('a reseller whose wallet is below zero', () => {
  it('has its own domains and its clients’ suspended once the days are over, and nobody else’s', async () => {
    expect((await ask('GET', '/wallet')).body).toEqual({
      balance_rials: -PRICE,
      overdraft_rials: PRICE,
    });
    const { rows } = await sql<{ since: Date }>`
      select negative_since as since from wallets where account_id = ${reseller.id}`.execute(api.db);
    const since = (rows[0]?.since as Date).getTime();
    await settle(since + GRACE_DAYS * DAY - 1);
    expect(await suspended()).toMatchObject({ service: false, own: false, off: false });
    await settle(since + GRACE_DAYS * DAY);
    expect(await suspended()).toEqual({
      service: true,
      own: true,
      off: true,
      byHand: true,
      others: false,
    });
    // It is a flag beside the status: records are written and answered as before.
    expect((await ask('GET', `/domains/${domains.service}`)).body.status).toBe('pending');
    const record = { name: 'www', type: 'A', destination: '192.0.2.1' };
    expect((await ask('POST', `/domains/${domains.service}/records/`, record)).status).toBe(200);
  });

  it('stays suspended one rial below zero; at zero those are resumed that the debt suspended', async () => {
    await giveMoney(api.db, reseller.id, PRICE - 1);
    await settle(Date.now());
    expect((await suspended()).service).toBe(true);
    await giveMoney(api.db, clientId, 1);
    const headers = { 'idempotency-key': 'to zero' };
    const paid = await api.ask('POST', `/reseller/v1/clients/${clientId}/debit`, {
      as: reseller.token,
      body: { amount_rials: 1 },
      headers,
    });
    expect(paid.body).toEqual({ amount_rials: 1, reseller_balance_rials: 0, client_balance_rials: 0 });
    await settle(Date.now());
    expect(await suspended()).toEqual({
      service: false,
      own: false,
      off: false,
      byHand: true,
      others: false,
    });
    expect((await ask('GET', `/domains/${domains.off}`)).body.status).toBe('disabled');
  });
});
