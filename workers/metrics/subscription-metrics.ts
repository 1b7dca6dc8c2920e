// Counts what became of subscriptions whose time had come.

import { Counter, type Registry } from 'prom-client';
import type { MovedSubscriptions } from '../../src/store/change/move-subscriptions.ts';

type Moved = Omit<MovedSubscriptions, 'isMore'>;

export function addSubscriptionMetrics(registry: Registry): (moved: Moved) => void {
  const moves = new Counter({
    name: 'zonefleet_subscription_moves_total',
    help: 'What became of subscriptions whose time had come: renewed, unpaid (a renewal that nobody paid), grace, ended, failed (tried again).',
    labelNames: ['became'],
    registers: [registry],
  });
  return (moved) => {
    for (const [became, count] of Object.entries(moved)) if (count > 0) moves.inc({ became }, count);
  };
}
