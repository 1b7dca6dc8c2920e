import { describe, expect, it } from 'vitest';
import { AccountShares, shareSlotTime } from '../../src/jobs/account-shares.ts';
import { countManualCheck, purgeShares } from '../../src/store/checks/check-shares.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { until } from '../support/tests/until.ts';

it('the slot time of accounts includes that of running checks', () => {
  let at = 0;
  const shares = new AccountShares(() => at);
  const first = shares.begin(7);
  at = 100;
  const second = shares.begin(7);
  shares.begin(8)();
  at = 150;
  expect(shares.take()).toEqual([{ accountId: 7, slotMs: 200 }]);
  at = 250;
  first();
  at = 300;
  expect(shares.take()).toEqual([{ accountId: 7, slotMs: 250 }]);
  second();
  expect(shares.take()).toEqual([]);
  at = 400;
  expect(shares.take()).toEqual([]);
});

describe('shared slot times', () => {
  const { db, query, value } = sharedDatabase();
  const rows = () => query<{ account_id: number; slot_ms: number }>`
    select account_id, slot_ms from check_shares order by account_id`;

  it('add up and fade, and old rows are deleted', async () => {
    const shares = new AccountShares(() => 0);
    const [seventh, ninth] = [
      { accountId: 7, slotMs: 500 },
      { accountId: 9, slotMs: 1 },
    ];
    const given = [[{ accountId: 7, slotMs: 1000 }], [seventh, ninth]];
    shares.take = () => given.shift() ?? [];
    const sharing = shareSlotTime(db, shares, { onTrouble: () => {}, idleMs: 1 });
    await until(async () => (await rows()).length === 2);
    await sharing.stop();
    const [seven, nine] = await rows();
    expect(seven?.slot_ms).toBeGreaterThan(1000);
    expect(seven?.slot_ms).toBeLessThanOrEqual(1500);
    expect(nine?.account_id).toBe(9);
    await query`update check_shares set at = at - interval '20 minutes' where account_id = 7`;
    await purgeShares(db);
    expect(await rows()).toEqual([nine]);
  });

  it('include requested checks, up to their limit', async () => {
    const counts = [await countManualCheck(db, 11), await countManualCheck(db, 11)];
    expect(counts[0]).toBe(0);
    expect(counts[1]).toBeGreaterThan(0.9);
    await query`update check_shares set at = at - interval '10 minutes' where account_id = 11`;
    expect(await countManualCheck(db, 11)).toBeLessThan(0.01);
    await query`insert into check_shares (account_id, slot_ms, manual, at) values (12, 0, 100, now())`;
    for (let i = 0; i < 3; i++) expect(await countManualCheck(db, 12)).toBeGreaterThan(98);
    expect(await value<number>`select manual from check_shares where account_id = 12`).toBeLessThan(101);
  });
});
