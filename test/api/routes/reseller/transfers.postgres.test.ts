// Credit and debit: a transfer happens once, with both of its rows or none.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { purgeIdempotency } from '../../../../src/store/housekeeping/purge-idempotency.ts';
import { type Answer, startTestApi, type TestApi } from '../../../support/api/api.ts';
import { giveMoney } from '../../../support/billing/give-money.ts';
import { makeClient, makeReseller, type Reseller } from '../../../support/walk/resellers.ts';

let api: TestApi;
let reseller: Reseller;
let clientId: number;
let keys = 0;
beforeAll(async () => {
  // The overdraft is for purchases: whatever it is, a credit has none.
  api = await startTestApi({ maxNegativeRials: 1_000_000 });
});
afterAll(() => api?.stop());

async function begin(own: number, clients: number): Promise<void> {
  reseller = await makeReseller(api, `reseller-${++keys}@transfers.test`);
  clientId = await makeClient(api, reseller, `client-${keys}@transfers.test`);
  if (own > 0) await giveMoney(api.database.db, reseller.id, own);
  if (clients > 0) await giveMoney(api.database.db, clientId, clients);
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
  const { rows } = await sql<{ amount: number; type: string; description: string; movement: number }>`
    select amount_rials as amount, ref_type as type, description, movement_id as movement from ledger
    where account_id = ${accountId} and ref_type <> 'adjustment' order by id`.execute(api.database.db);
  return rows;
}

const balances = async () => {
  const wallet = async (path: string) =>
    (await api.ask('GET', `/reseller/v1${path}`, { as: reseller.token })).body.balance_rials;
  return [await wallet('/wallet'), await wallet(`/clients/${clientId}/wallet`)];
};

describe('the Idempotency-Key', () => {
  it('is required: missing, empty or over 191 bytes it is 400, before and after spaces are trimmed', async () => {
    await begin(1000, 0);
    const body = { amount_rials: 1, description: 'x' };
    for (const key of [null, '', '   ', 'k'.repeat(192)])
      expect([key, (await move('credit', body, { key })).status]).toEqual([key, 400]);
    for (const key of ['k'.repeat(191), `  ${'l'.repeat(191)}  `])
      expect((await move('credit', body, { key })).status).toBe(200);
    expect(await balances()).toEqual([998, 2]);
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

  it('is 422 with another path or body, and belongs to one reseller', async () => {
    await begin(1000, 500);
    const body = { amount_rials: 10, description: 'a' };
    expect((await move('credit', body, { key: 'shared' })).status).toBe(200);
    const second = await makeClient(api, reseller, `second-${keys}@transfers.test`);
    const refused = [
      await move('credit', { ...body, amount_rials: 11 }, { key: 'shared' }),
      await move('debit', body, { key: 'shared' }),
      await move('credit', body, { key: 'shared', to: second }),
    ];
    for (const answer of refused)
      expect([answer.status, answer.body.code]).toEqual([422, 'idempotency_mismatch']);
    expect(await balances()).toEqual([990, 510]);
    await begin(1000, 0);
    expect((await move('credit', body, { key: 'shared' })).headers['idempotent-replay']).toBeUndefined();
    expect(await balances()).toEqual([990, 10]);
  });

  it('can be used again after a failure', async () => {
    await begin(100, 0);
    const body = { amount_rials: 200, description: 'a' };
    expect((await move('credit', body, { key: 'later' })).status).toBe(402);
    await giveMoney(api.database.db, reseller.id, 100);
    expect(told(await move('credit', body, { key: 'later' }))).toEqual([
      200,
      { amount_rials: 200, reseller_balance_rials: 0, client_balance_rials: 200 },
      undefined,
    ]);
  });

  it('never expires, and its response is kept whole', async () => {
    await begin(1000, 0);
    const body = { amount_rials: 5, description: 'a' };
    const first = await move('credit', body, { key: 'for ever' });
    await sql`update idempotency_keys set created_at = now() - interval '10 years'
      where account_id = ${reseller.id}`.execute(api.database.db);
    await purgeIdempotency(api.database.db, { keptDays: 30, accountBytes: 1, rows: 100 });
    const again = await move('credit', body, { key: 'for ever' });
    expect(told(again)).toEqual([200, first.body, 'true']);
    const { rows } = await sql`
      select from idempotency_octets where account_id = ${reseller.id} and octets > 0`.execute(
      api.database.db,
    );
    expect(rows).toEqual([]);
  });
});

describe('a transfer', () => {
  it('is one debit and one credit with the same description, as reseller_transfer', async () => {
    await begin(1000, 0);
    await move('credit', { amount_rials: 300, description: 'For May' });
    await move('debit', { amount_rials: 100, description: 'Back' });
    const [own, clients] = [await rowsOf(reseller.id), await rowsOf(clientId)];
    const shown = (rows: typeof own) =>
      rows.map(({ amount, type, description }) => [amount, type, description]);
    expect(shown(own)).toEqual([
      [-300, 'reseller_transfer', 'For May'],
      [100, 'reseller_transfer', 'Back'],
    ]);
    expect(shown(clients)).toEqual([
      [300, 'reseller_transfer', 'For May'],
      [-100, 'reseller_transfer', 'Back'],
    ]);
    expect(own.map(({ movement }) => movement)).toEqual(clients.map(({ movement }) => movement));
  });

  it('is 400 unless the amount is a positive integer', async () => {
    await begin(1000, 1000);
    for (const amount_rials of [0, -1, 1.5, '5', null, 2 ** 53, 1_000_000_000_000_001, undefined])
      for (const what of ['credit', 'debit'] as const)
        expect((await move(what, { amount_rials, description: 'x' })).status).toBe(400);
    expect((await move('credit', { amount_rials: 1, description: 'x', to: 5 })).status).toBe(400);
    expect(await rowsOf(reseller.id)).toEqual([]);
  });

  it('credits at most what the wallet holds, without overdraft: 402 otherwise', async () => {
    await begin(99, 0);
    const refused = await move('credit', { amount_rials: 100, description: 'x' });
    expect(told(refused)).toEqual([402, { error: 'your wallet holds too little' }, undefined]);
    expect([await rowsOf(reseller.id), await rowsOf(clientId)]).toEqual([[], []]);
    expect((await move('credit', { amount_rials: 99, description: 'x' })).status).toBe(200);
    expect(await balances()).toEqual([0, 99]);
  });

  it('debits at most what the client’s wallet holds: 402 otherwise', async () => {
    await begin(0, 50);
    const refused = await move('debit', { amount_rials: 51, description: 'x' });
    expect(told(refused)).toEqual([402, { error: "the client's wallet holds too little" }, undefined]);
    expect((await move('debit', { amount_rials: 50, description: 'x' })).status).toBe(200);
    expect(await balances()).toEqual([50, 0]);
  });

  it('is audited with its amount', async () => {
    await begin(10, 0);
    await move('credit', { amount_rials: 7, description: 'not told' });
    const { rows } = await sql<{ target: number; after: object; kind: string }>`
      select target_id as target, after, actor_kind as kind from audit_log
      where action = 'client.credit' and account_id = ${reseller.id}`.execute(api.database.db);
    expect(rows).toEqual([{ target: clientId, after: { amount_rials: 7 }, kind: 'token' }]);
  });
});

it('concurrent transfers in both directions, with replays, lose nothing and do not deadlock', async () => {
  await begin(1000, 1000);
  const calls = Array.from({ length: 80 }, (_, i) => i);
  const answers = await Promise.all(
    calls.map((i) =>
      move(
        i % 2 === 0 ? 'credit' : 'debit',
        { amount_rials: 1 + (Math.floor(i / 4) % 7), description: 'x' },
        { key: `both-${Math.floor(i / 4)}-${i % 2}` }, // of four calls two are repeats
      ),
    ),
  );
  expect([...new Set(answers.map(({ status }) => status))]).toEqual([200]);
  const [own = 0, clients = 0] = await balances();
  expect(own + clients).toBe(2000);
  expect(await rowsOf(reseller.id)).toHaveLength(40);
  const moved = (await rowsOf(reseller.id)).reduce((sum, { amount }) => sum + amount, 0);
  expect(own).toBe(1000 + moved);
  expect(api.logged.filter(({ level }) => Number(level) >= 40)).toEqual([]);
});
