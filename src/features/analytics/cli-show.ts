// Shows analytics of requests and of DNS queries.

import { AnalyticsFault, openAnalytics } from '../../analytics/open-analytics.ts';
import type { Asking } from '../../analytics/requests/asked-requests.ts';
import { loadSummary, loadVolume, trafficHours } from '../../analytics/requests/load-summary.ts';
import { entitlementsOf } from '../../billing/entitlements.ts';
import { GB } from '../../billing/quota.ts';
import type { Cli } from '../../cli/terminal/cli.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { onOneDomain } from '../../cli/terminal/on-one-domain.ts';
import { type Cell, printTable } from '../../cli/terminal/print-table.ts';
import type { OwnerOption } from '../../cli/terminal/with-owner.ts';
import { rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import { windowOf } from '../../edge/analytics/window.ts';
import { ownSubscriptions } from '../../store/accounts/subscriptions.ts';
import type { Domain } from '../../store/domains/domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import { type DNS_PERIODS, type DnsCount, dnsWindowOf, loadDnsCounts } from './sql-dns.ts';

export interface PeriodOption extends OwnerOption {
  readonly period: string;
}

/** Time limit of a query. */
const SECONDS = 45;

/** Runs `work`, which returns the exit code. Throws Failure if the analytics store cannot answer. */
async function askAnalytics(
  cli: Cli,
  text: string,
  options: OwnerOption,
  work: (asking: Asking, domain: Domain, db: Database) => Promise<number>,
): Promise<void> {
  const url = await cli.analyticsUrl();
  await cli.withStore((db) =>
    onOneDomain(db, text, options, cli.output, async (domain) => {
      const store = openAnalytics(url);
      try {
        return await work({ store, seconds: SECONDS }, domain, db);
      } catch (error) {
        if (error instanceof AnalyticsFault) throw new Failure('analytics', error.message, { cause: error });
        throw error;
      } finally {
        await store.close();
      }
    }),
  );
}

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
        ['to', end?.toISOString() ?? 'the quota is never reset'],
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

export async function showDns(cli: Cli, text: string, options: PeriodOption): Promise<void> {
  const { output } = cli;
  await askAnalytics(cli, text, options, async (asking, { id, name }) => {
    const period = options.period as (typeof DNS_PERIODS)[number];
    const { counts, nodes, names } = await loadDnsCounts(asking, id, dnsWindowOf(period, Date.now()));
    const total = counts.reduce((sum, { count }) => sum + count, 0);
    const types = sumBy(counts, ({ type }) => (type === 0 ? 'other' : typeMnemonic(type)));
    const rcodes = sumBy(counts, ({ rcode }) => rcodeMnemonic(rcode));
    const domain = printWithoutDot(name);
    if (output.json) {
      const sums = { types: Object.fromEntries(types), rcodes: Object.fromEntries(rcodes) };
      await output.print(JSON.stringify({ domain, period, total, ...sums, nodes, names }));
      return 0;
    }
    const rows = (kind: string, sums: Iterable<readonly [string, number]>) =>
      [...sums].map(([of, count]): Cell[] => [kind, of, count]);
    const largest = (sums: Map<string, number>) => [...sums].sort(([, a], [, b]) => b - a);
    await output.print(`${domain}, ${period}: ${total} answers`);
    if (total === 0) return 0;
    await output.print(
      printTable(
        ['BY', '', 'ANSWERS'],
        [
          ...rows('type', largest(types)),
          ...rows('rcode', largest(rcodes)),
          ...rows(
            'node',
            nodes.map(({ node, count }) => [node, count]),
          ),
          ...rows(
            'name (sampled)',
            names.map(({ name, count }) => [name, count]),
          ),
        ],
      ),
    );
    return 0;
  });
}

function sumBy(counts: readonly DnsCount[], key: (count: DnsCount) => string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const each of counts) sums.set(key(each), (sums.get(key(each)) ?? 0) + each.count);
  return sums;
}
