import { beforeAll, expect, it } from 'vitest';
import { addWalletCommands } from '../../../src/features/money/cli-wallet.ts';
import { orderTopup } from '../../../src/features/money/sql-payments.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db, url, column } = keptDatabase();
let accountId = 0;
beforeAll(async () => {
  accountId = await newAccount(db, 'ann@shop.test');
});

const run = (...args: string[]) => runCommands(addWalletCommands, ['wallet', ...args], url);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);

it('shows and adjusts a wallet with a reason and an audit row, and rejects more than the balance', async () => {
  expect((await run('show', 'ann@shop.test')).stdout).toBe('ann@shop.test 0 rials\n');
  const added = await run('adjust', 'ann@shop.test', '--add', '700', '--reason', 'for the outage');
  expect([added.code, added.stdout]).toEqual([0, 'adjusted ann@shop.test: 700 rials\n']);
  const taken = await json('adjust', 'ann@shop.test', '--take', '200', '--reason', 'too much');
  expect(taken).toEqual({ email: 'ann@shop.test', outcome: 'adjusted', balance_rials: 500 });
  const short = await run('adjust', 'ann@shop.test', '--take', '501', '--reason', 'more');
  expect([short.code, short.stderr]).toEqual([1, 'ann@shop.test: the wallet is short, with 500 rials\n']);
  expect(await json('show', 'ann@shop.test')).toEqual({
    account_id: accountId,
    email: 'ann@shop.test',
    balance_rials: 500,
  });
  const { transactions } = await json('transactions', 'ann@shop.test', '--limit', '1');
  expect(transactions).toMatchObject([{ amount_rials: -200, balance_rials: 500, description: 'too much' }]);
  expect((await run('transactions', 'ann@shop.test')).stdout).toContain('for the outage');
  const afters = await column<object>`
    select after from audit_log where action = 'wallet.adjust' order by id`;
  expect(afters).toEqual([
    { amount_rials: 700, balance_rials: 700, description: 'for the outage' },
    { amount_rials: -200, balance_rials: 500, description: 'too much' },
  ]);
});

it('confirms a top-up once', async () => {
  const ordered = await orderTopup(db, { accountId, gateway: 'manual', amountRials: 50_000 });
  const topup = ordered.kind === 'ordered' ? ordered.payment : undefined;
  const id = String(topup?.id);
  expect((await json('topups', '--state', 'open')).topups).toMatchObject([{ reference: topup?.reference }]);
  expect((await run('confirm', id)).stdout).toBe('credited ann@shop.test with 50000 rials\n');
  const again = await run('confirm', id);
  expect([again.code, again.stderr]).toEqual([1, `${id}: it is already paid\n`]);
  expect((await run('confirm', '999999')).code).toBe(1);
  expect((await json('topups', 'ann@shop.test')).topups).toMatchObject([{ state: 'paid' }]);
  expect((await run('topups')).stdout).toContain('ann@shop.test');
  expect((await json('show', 'ann@shop.test')).balance_rials).toBe(50_500);
});

it.each([
  [['adjust', 'ann@shop.test', '--reason', 'x']],
  [['adjust', 'ann@shop.test', '--add', '1', '--take', '1', '--reason', 'x']],
  [['adjust', 'ann@shop.test', '--add', '0', '--reason', 'x']],
  [['adjust', 'ann@shop.test', '--add', '1.5', '--reason', 'x']],
  [['adjust', 'ann@shop.test', '--add', '1000000000000001', '--reason', 'x']],
  [['adjust', 'ann@shop.test', '--add', '1', '--reason', ' ']],
  [['topups', '--state', 'gone']],
  [['confirm', 'x']],
])('rejects %j', async (args) => {
  expect((await run(...args)).code).toBe(2);
});

it('fails for an unknown account', async () => {
  const { code, stderr } = await run('show', 'nobody@shop.test');
  expect([code, stderr]).toEqual([1, 'nobody@shop.test: no such account\n']);
});
