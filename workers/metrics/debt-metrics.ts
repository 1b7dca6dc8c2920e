// Counts wallets whose time to be below zero was over, and the domains that this suspended and resumed.

import { Counter, type Registry } from 'prom-client';
import type { SettledDebts } from '../../src/store/money/settle-debts.ts';

type Settled = Omit<SettledDebts, 'isMore'>;

export function addDebtMetrics(registry: Registry): (settled: Settled) => void {
  const wallets = new Counter({
    name: 'zonefleet_wallets_overdue_total',
    help: 'Wallets that were below zero for longer than RESELLER_NEGATIVE_GRACE_DAYS.',
    registers: [registry],
  });
  const domains = new Counter({
    name: 'zonefleet_debt_suspensions_total',
    help: 'Domains that a debt suspended, and that were resumed since it is paid: suspended, resumed.',
    labelNames: ['became'],
    registers: [registry],
  });
  return (settled) => {
    wallets.inc(settled.wallets);
    domains.inc({ became: 'suspended' }, settled.suspended);
    domains.inc({ became: 'resumed' }, settled.resumed);
  };
}
