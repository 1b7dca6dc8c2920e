// `analytics dns`: what nameservers answered for a domain.

import { type DNS_PERIODS, dnsWindowOf } from '../../analytics/dns/dns-window.ts';
import { type DnsCount, loadDnsCounts } from '../../analytics/dns/load-dns-counts.ts';
import { rcodeMnemonic } from '../../dns/message/rcodes.ts';
import { typeMnemonic } from '../../dns/type-codes.ts';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { Cli } from '../terminal/cli.ts';
import { type Cell, printTable } from '../terminal/print-table.ts';
import { askAnalytics, type PeriodOption } from './ask-analytics.ts';

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
