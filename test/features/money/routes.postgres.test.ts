import { describe, expect, it } from 'vitest';
import { moveMoney } from '../../../src/features/money/sql-wallet.ts';
import { changeAccount } from '../../../src/store/people/change-account.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { ownApi, readPages, startTestApi } from '../../support/api/api.ts';
import { giveMoney } from '../../support/billing/give-money.ts';

const api = ownApi(() => startTestApi({ maxNegativeRials: 5000 }));

const read = async (path: string, as: string = 'owner') => (await api.ask('GET', path, { as })).body;

describe('the wallet', () => {
  it('lists the transactions, newest first, each with its balance', async () => {
    expect(await read('/wallet')).toEqual({ balance_rials: 0, overdraft_rials: 0 });
    expect(await read('/wallet/transactions')).toEqual([]);
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
    expect(given).toMatchObject({ amount_rials: 700, balance_rials: 700, ref_type: 'adjustment' });
    expect(rest).toEqual([]);
    expect((await read('/wallet', 'stranger')).balance_rials).toBe(209);
  });

  it('has pages and a count', async () => {
    for (let i = 0; i < 3; i++) await giveMoney(api.db, api.accountIds.admin, 1 + i);
    const asAdmin = { ask: (method: string, url: string) => api.ask(method, url, { as: 'admin' }) };
    const pages = await readPages(asAdmin, '/wallet/transactions?limit=2&count=true');
    expect(pages.map(({ body, headers }) => [body.length, headers['x-total-count']])).toEqual([
      [2, '3'],
      [1, '3'],
    ]);
    const [newest, ...others] = pages.flatMap(({ body }) => body);
    expect([newest, ...others].map(({ amount_rials }) => amount_rials)).toEqual([3, 2, 1]);
    expect(await read(`/wallet/transactions?after=${newest.id}`, 'admin')).toEqual([]);
  });

  it('of a reseller has an overdraft', async () => {
    await changeAccount(api.db, api.accountIds.editor, { isReseller: true });
    expect(await read('/wallet', 'editor')).toEqual({ balance_rials: 0, overdraft_rials: 5000 });
  });
});
