// `analytics summary` and `analytics traffic`: what edges answered for a domain.

import { loadSummary, loadVolume } from '../../analytics/requests/load-summary.ts';
import { trafficHours } from '../../analytics/requests/traffic-hours.ts';
import { entitlementsOf } from '../../billing/entitlements.ts';
import { GB } from '../../billing/quota.ts';
import { windowOf } from '../../edge/analytics/window.ts';
import { ownSubscriptions } from '../../store/accounts/subscriptions.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Cli } from '../terminal/cli.ts';
import { type Cell, printTable } from '../terminal/print-table.ts';
import type { OwnerOption } from '../terminal/with-owner.ts';
import { askAnalytics, type PeriodOption } from './ask-analytics.ts';

export async function showSummary(cli: Cli, text: string, options: PeriodOption): Promise<void> {
  const { output } = cli;
  await askAnalytics(cli, text, options, async (asking, { id, name }) => {
    const { period } = options;
    const { from, until } = windowOf(period, new Date());
    const { requests, octets, visitors, failures, times } = await loadSummary(asking, {
      domainId: id,
      from,
      until,
    });
    const domain = printWithoutDot(name);
    const { average, p90, p95, p99 } = times;
    if (output.json) {
      const summary = { requests, bytes: octets, visitors, failures, average_ms: average, p90, p95, p99 };
      const span = { from: from.toISOString(), until: until.toISOString() };
      await output.print(JSON.stringify({ domain, period, ...span, ...summary }));
      return 0;
    }
    const share = requests === 0 ? '' : ` (${((failures * 100) / requests).toFixed(2)} %)`;
    await output.print(
      linesOf(`${domain}, ${period}`, [
        ['requests', String(requests)],
        ['traffic', gb(octets)],
        ['visitors', String(visitors)],
        ['failed', `${failures}${share}`],
        ['milliseconds', `average ${ms(average)}, p90 ${ms(p90)}, p95 ${ms(p95)}, p99 ${ms(p99)}`],
      ]),
    );
    return 0;
  });
}

export async function showTraffic(cli: Cli, text: string, options: OwnerOption): Promise<void> {
  const { output } = cli;
  await askAnalytics(cli, text, options, async (asking, { id, name }, db) => {
    const domain = printWithoutDot(name);
    const subscription = (await ownSubscriptions(db, [id])).get(id);
    if (subscription === undefined) {
      const error = 'it has no active plan';
      if (output.json) await output.print(JSON.stringify({ domain, outcome: 'refused', error }));
      else await output.complain(`${domain}: ${error}`);
      return 1;
    }
    const { start, end, from, until } = trafficHours(subscription, new Date());
    const { requests, octets } = await loadVolume(asking, { domainId: id, from, until });
    const limit = entitlementsOf(subscription.plan, subscription.overrides).maxTrafficGb;
    if (output.json) {
      const span = { period_start: start.toISOString(), period_end: end?.toISOString() ?? null };
      await output.print(JSON.stringify({ domain, ...span, requests, used_bytes: octets, limit_gb: limit }));
      return 0;
    }
    await output.print(
      linesOf(domain, [
        ['from', start.toISOString()],
        ['to', end?.toISOString() ?? 'it is never reset'],
        ['requests', String(requests)],
        ['traffic', gb(octets)],
        ['included', limit === null ? 'no limit' : `${limit} GB`],
      ]),
    );
    return 0;
  });
}

function linesOf(head: string, lines: readonly (readonly [string, string])[]): string {
  return printTable(
    [head, ''],
    lines.map(([what, value]): Cell[] => [`  ${what}`, value]),
  );
}

function gb(octets: number): string {
  return `${(octets / GB).toFixed(3)} GB`;
}

function ms(value: number): string {
  return value.toFixed(1);
}
