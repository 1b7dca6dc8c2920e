import { describe, expect, it } from 'vitest';
import { purgeIdempotency } from '../../../src/store/housekeeping/purges.ts';
import { type Answer, ownApi, startTestApi } from '../../support/api/api.ts';
import { giveMoney } from '../../support/billing/give-money.ts';
import { makeClient, makeReseller, type Reseller } from '../../support/walk/resellers.ts';

// The overdraft is only for purchases, so no transfer may use it.
const api = ownApi(() => startTestApi({ maxNegativeRials: 1_000_000 }));
let reseller: Reseller;
let clientId: number;
let keys = 0;

async function begin(own: number, clients: number): Promise<void> {
  reseller = await makeReseller(api, `reseller-${++keys}@transfers.test`);
  clientId = await makeClient(api, reseller, `client-${keys}@transfers.test`);
  if (own > 0) await giveMoney(api.db, reseller.id, own);
  if (clients > 0) await giveMoney(api.db, clientId, clients);
}

interface Sent {
  readonly key?: string | null;
  readonly to?: number;
  readonly as?: string;
}

async function move(
  what: 'credit' | 'debit',
  body: object,
  { key = `key-${++keys}`, to = clientId, as = reseller.token }: Sent = {},
): Promise<Answer> {
  const headers = key === null ? {} : { 'idempotency-key': key };
  const url = `/reseller/v1/clients/${to}/${what}`;
  return await api.ask('POST', url, { as, body: JSON.stringify(body), headers });
}

const told = ({ status, body, headers }: Answer) => [status, body, headers['idempotent-replay']];

async function rowsOf(accountId: number) {
  const rows = await api.query<{ amount: number; type: string; description: string; movement: number }>`
    select amount_rials as amount, ref_type as type, description, movement_id as movement from ledger
    where account_id = ${accountId} and ref_type <> 'adjustment' order by id`;
  return rows;
}

const balances = async () => {
  const wallet = async (path: string) =>
    (await api.ask('GET', `/reseller/v1${path}`, { as: reseller.token })).body.balance_rials;
  return [await wallet('/wallet'), await wallet(`/clients/${clientId}/wallet`)];
};

describe('the Idempotency-Key', () => {
  it('is required', async () => {
    await begin(1000, 0);
    const body = { amount_rials: 1, description: 'x' };
    for (const what of ['credit', 'debit'] as const)
      expect((await move(what, body, { key: null })).status).toBe(400);
    expect(await balances()).toEqual([1000, 0]);
  });

  it('replays the stored response, and does not move money again', async () => {
    await begin(1000, 0);
    const first = await move('credit', { amount_rials: 300, description: 'a' }, { key: 'once' });
    const answer = { amount_rials: 300, reseller_balance_rials: 700, client_balance_rials: 300 };
    expect(told(first)).toEqual([200, answer, undefined]);
    await move('credit', { amount_rials: 1, description: 'b' });
    const again = await move('credit', { amount_rials: 300, description: 'a' }, { key: ' once ' });
    expect(told(again)).toEqual([200, answer, 'true']);
    expect(await balances()).toEqual([699, 301]);
  });

  it('never expires, and its response is kept whole', async () => {
    await begin(1000, 0);
    const body = { amount_rials: 5, description: 'a' };
    const first = await move('credit', body, { key: 'for ever' });
    await api.query`update idempotency_keys set created_at = now() - interval '10 years'
      where account_id = ${reseller.id}`;
    await purgeIdempotency(api.db, { keptDays: 30, accountBytes: 1, rows: 100 });
    const again = await move('credit', body, { key: 'for ever' });
    expect(told(again)).toEqual([200, first.body, 'true']);
    const rows = await api.query`
      select from idempotency_octets where account_id = ${reseller.id} and octets > 0`;
    expect(rows).toEqual([]);
  });
});

describe('a transfer', () => {
  it('is one debit and one credit with the same description, as reseller_transfer', async () => {
    await begin(1000, 0);
    await move('credit', { amount_rials: 300, description: 'For May' });
    await move('debit', { amount_rials: 100, description: 'Back' });
    const own = await rowsOf(reseller.id);
    expect(own).toMatchObject([
      { amount: -300, type: 'reseller_transfer', description: 'For May' },
      { amount: 100, type: 'reseller_transfer', description: 'Back' },
    ]);
    expect(await rowsOf(clientId)).toEqual(own.map((row) => ({ ...row, amount: -row.amount })));
  });

  it('is 400 unless the amount is a positive integer', async () => {
    await begin(1000, 1000);
    for (const amount_rials of [0, -1, 1.5, '5', null, 2 ** 53, 1_000_000_000_000_001, undefined])
      for (const what of ['credit', 'debit'] as const)
        expect((await move(what, { amount_rials, description: 'x' })).status).toBe(400);
    expect((await move('credit', { amount_rials: 1, description: 'x', to: 5 })).status).toBe(400);
    expect(await rowsOf(reseller.id)).toEqual([]);
  });

  it.each([
    ['credit', 99, 0, 'the balance of your wallet is too low'],
    ['debit', 0, 50, "the balance of the client's wallet is too low"],
  ] as const)('%s moves at most what the wallet holds, without overdraft: 402 otherwise', async (what, own, clients, error) => {
    await begin(own, clients);
    const all = own + clients;
    const refused = await move(what, { amount_rials: all + 1, description: 'x' });
    expect(told(refused)).toEqual([402, { error }, undefined]);
    expect([await rowsOf(reseller.id), await rowsOf(clientId)]).toEqual([[], []]);
    expect((await move(what, { amount_rials: all, description: 'x' })).status).toBe(200);
    expect(await balances()).toEqual([clients, own]);
  });

  it('is audited with its amount', async () => {
    await begin(10, 0);
    await move('credit', { amount_rials: 7, description: 'not told' });
    const rows = await api.query<{ target: number; after: object; kind: string }>`
      select target_id as target, after, actor_kind as kind from audit_log
      where action = 'client.credit' and account_id = ${reseller.id}`;
    expect(rows).toEqual([{ target: clientId, after: { amount_rials: 7 }, kind: 'token' }]);
  });
});
