import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createDebtMetrics } from '../../../src/features/money/job.ts';

test('counts overdue wallets, and domains that were suspended or resumed because of debts', async () => {
  const registry = new Registry();
  const count = createDebtMetrics(registry);
  count({ wallets: 2, suspended: 5, resumed: 0 });
  count({ wallets: 0, suspended: 1, resumed: 3 });
  expect(await registry.metrics()).toMatch(
    /wallets_overdue_total 2\n[\s\S]*="suspended"} 6\n.*="resumed"} 3/,
  );
});
