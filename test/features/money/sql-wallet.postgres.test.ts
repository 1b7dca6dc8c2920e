import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { type Movement, moveMoney } from '../../../src/features/money/sql-wallet.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { newAccount } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const AT = new Date('2026-05-01T00:00:00Z');
const { db, query, value } = keptDatabase();
let [a, b] = [0, 0];

beforeAll(async () => {
  a = await newAccount(db, 'a@example.org');
  b = await newAccount(db, 'b@example.org');
});

const move = (movement: Pick<Movement, 'from' | 'to' | 'amountRials'> & Partial<Movement>) =>
  inTransaction(db, (trx) =>
    moveMoney(trx, { refType: 'adjustment', description: 'test', at: AT, ...movement }),
  );
const give = (accountId: number, amountRials: number) =>
  move({ from: { outside: 'operator' }, to: { accountId }, amountRials });
const balances = async () => {
  const rows = await query<{ id: number; balance: number }>`
    select account_id as id, balance_rials as balance from wallets order by 1`;
  return new Map(rows.map(({ id, balance }) => [id, balance]));
};
const rowsOf = async () => (await query`select from ledger`).length;

it('writes both rows and both balances, which add up', async () => {
  await give(a, 1000);
  const moved = await move({ from: { accountId: a }, to: { accountId: b }, amountRials: 300 });
  expect(moved).toMatchObject({ kind: 'moved', from: 700, to: 300 });
  const rows = await query`
    select account_id, outside, amount_rials, balance_rials, ref_type, description, created_at
    from ledger order by id`;
  const common = { ref_type: 'adjustment', description: 'test', created_at: AT };
  expect(rows).toEqual([
    { account_id: null, outside: 'operator', amount_rials: -1000, balance_rials: null, ...common },
    { account_id: a, outside: null, amount_rials: 1000, balance_rials: 1000, ...common },
    { account_id: a, outside: null, amount_rials: -300, balance_rials: 700, ...common },
    { account_id: b, outside: null, amount_rials: 300, balance_rials: 300, ...common },
  ]);
});

it('writes nothing if the wallet would fall below its floor by one rial', async () => {
  const before = [await balances(), await rowsOf()];
  expect(await move({ from: { accountId: b }, to: { accountId: a }, amountRials: 301 })).toEqual({
    kind: 'short',
    balanceRials: 300,
  });
  const from = { accountId: b, floorRials: -50 };
  expect((await move({ from, to: { accountId: a }, amountRials: 351 })).kind).toBe('short');
  expect([await balances(), await rowsOf()]).toEqual(before);
  expect((await move({ from, to: { accountId: a }, amountRials: 350 })).kind).toBe('moved');
});

it('records since when a balance is negative, and clears this at zero', async () => {
  const since = async () =>
    (await db.selectFrom('wallets').selectAll().where('account_id', '=', b).executeTakeFirstOrThrow()) ?? {};
  expect(await since()).toMatchObject({ balance_rials: -50, negative_since: AT });
  await query`update wallets set suspended_at = ${AT} where account_id = ${b}`;
  await give(b, 49);
  expect(await since()).toMatchObject({ balance_rials: -1, negative_since: AT, suspended_at: AT });
  await give(b, 1);
  expect(await since()).toMatchObject({ balance_rials: 0, negative_since: null, suspended_at: null });
});

it.each([0, -1, 1.5, Number.NaN, 1_000_000_000_000_001])('rejects the amount %s', async (amountRials) => {
  await expect(give(a, amountRials)).rejects.toThrow(RangeError);
});

it('rejects a balance above the maximum', async () => {
  expect((await give(b, 1_000_000_000_000_000)).kind).toBe('moved');
  expect((await give(b, 1)).kind).toBe('full');
  await move({ from: { accountId: b }, to: { outside: 'operator' }, amountRials: 1_000_000_000_000_000 });
});

it('rejects changes of written rows, and commits no movement that does not add up', async () => {
  for (const statement of [
    sql`update ledger set amount_rials = 5`,
    sql`delete from ledger where id = 1`,
    sql`truncate ledger`,
  ])
    await expect(statement.execute(db)).rejects.toThrow('ledger is never changed');
  const row = { ref_type: 'adjustment' as const, description: 'x', created_at: AT, movement_id: 99_999 };
  const half = { ...row, account_id: null, outside: 'sales' as const, amount_rials: 5, balance_rials: null };
  await expect(db.insertInto('ledger').values(half).execute()).rejects.toThrow('add up to zero');
});

it('moves money both ways concurrently without a deadlock or a loss', async () => {
  await give(a, 10_000);
  await give(b, 10_000);
  const before = await balances();
  const moved = await Promise.all(
    Array.from({ length: 60 }, (_, i) =>
      move({
        from: { accountId: i % 2 === 0 ? a : b },
        to: { accountId: i % 2 === 0 ? b : a },
        amountRials: i + 1,
      }),
    ),
  );
  expect(moved.every(({ kind }) => kind === 'moved')).toBe(true);
  const sum = (map: Map<number, number>) => [...map.values()].reduce((total, balance) => total + balance, 0);
  expect(sum(await balances())).toBe(sum(before));
  expect(
    await value<number>`
    select count(*)::integer as wrong from wallets w where balance_rials <>
      (select sum(amount_rials) from ledger l where l.account_id = w.account_id)`,
  ).toBe(0);
  const chain = await sql`
    select 1 from (select balance_rials - amount_rials as before,
      lag(balance_rials, 1, 0::bigint) over (partition by account_id order by id) as last
      from ledger where account_id is not null) s where before <> last`.execute(db);
  expect(chain.rows).toEqual([]);
});
