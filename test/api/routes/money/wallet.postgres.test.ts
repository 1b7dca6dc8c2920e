import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { moveMoney } from '../../../../src/store/money/move-money.ts';
import { changeAccount } from '../../../../src/store/people/change-account.ts';
import { inTransaction } from '../../../../src/store/postgres/transaction.ts';
import { startTestApi, type TestApi } from '../../../support/api/api.ts';
import { giveMoney } from '../../../support/billing/give-money.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ maxNegativeRials: 5000 });
});
afterAll(() => api.stop());

const read = async (path: string, as: string = 'owner') => (await api.ask('GET', path, { as })).body;

describe('the wallet', () => {
  it('is empty if no money has moved', async () => {
    expect(await read('/wallet')).toEqual({ balance_rials: 0, overdraft_rials: 0 });
    expect(await read('/wallet/transactions')).toEqual([]);
  });

  it('lists the movements, newest first, each with its balance', async () => {
    const { db, accountIds } = api;
    await giveMoney(db, accountIds.owner, 700);
    await giveMoney(db, accountIds.stranger, 9);
    await inTransaction(db, (trx) =>
      moveMoney(trx, {
        from: { accountId: accountIds.owner },
        to: { accountId: accountIds.stranger },
        amountRials: 200,
        refType: 'reseller_transfer',
        refId: 12,
        description: 'passed on',
        at: new Date('2026-05-01T10:00:00Z'),
      }),
    );
    expect(await read('/wallet')).toEqual({ balance_rials: 500, overdraft_rials: 0 });
    const [passed, given, ...rest] = await read('/wallet/transactions');
    expect(passed).toEqual({
      id: expect.any(Number),
      amount_rials: -200,
      balance_rials: 500,
      ref_type: 'reseller_transfer',
      ref_id: 12,
      description: 'passed on',
      created_at: '2026-05-01T10:00:00.000Z',
    });
    expect([given.amount_rials, given.balance_rials, given.ref_type, rest]).toEqual([
      700,
      700,
      'adjustment',
      [],
    ]);
    expect((await read('/wallet', 'stranger')).balance_rials).toBe(209);
  });

  it('has pages and a count', async () => {
    for (let i = 0; i < 3; i++) await giveMoney(api.db, api.accountIds.admin, 1 + i);
    const first = await api.ask('GET', '/wallet/transactions?limit=2&count=true', { as: 'admin' });
    expect([first.body.length, first.headers['x-total-count']]).toEqual([2, '3']);
    const next = /<([^>]+)>/.exec(String(first.headers.link))?.[1] as string;
    const second = await api.ask('GET', next, { as: 'admin' });
    const amounts = [...first.body, ...second.body].map(({ amount_rials }) => amount_rials);
    expect([amounts, second.headers.link]).toEqual([[3, 2, 1], undefined]);
    const [newest] = first.body;
    expect(await read(`/wallet/transactions?after=${newest.id}`, 'admin')).toEqual([]);
  });

  it('of a reseller has an overdraft', async () => {
    await changeAccount(api.db, api.accountIds.editor, { isReseller: true });
    expect(await read('/wallet', 'editor')).toEqual({ balance_rials: 0, overdraft_rials: 5000 });
  });
});
