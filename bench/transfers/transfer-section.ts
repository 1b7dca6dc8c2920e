// The section of the part `transfer` in RESULTS.md.

import { loadavg } from 'node:os';
import type { Section } from '../part.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import type { Contestant } from '../servers/all.ts';
import type { ServerName } from '../servers/server.ts';
import type { OneZone } from '../zones/one-zone.ts';
import { AXFR_KINDS, type AxfrCosts, type LatencyDuring } from './measure-axfr.ts';
import type { MeasuredCopy } from './measure-copy.ts';
import type { MeasuredHistory } from './measure-history.ts';
import type { MeasuredIxfr } from './measure-ixfr.ts';

/** The limits of times apply to this many records. */
export const RECORDS = 1_000_000;

export interface MeasuredTransfers {
  readonly zone: OneZone;
  /** The load of the queries during transfers. */
  readonly queriesPerSecond: number;
  readonly axfr: ReadonlyMap<Contestant, AxfrCosts>;
  readonly latency: ReadonlyMap<Contestant, LatencyDuring>;
  readonly ixfr: MeasuredIxfr;
  readonly copy: MeasuredCopy | undefined;
  readonly history: MeasuredHistory;
}

export function transferSection({
  zone,
  queriesPerSecond,
  axfr,
  latency,
  ixfr,
  copy,
  history,
}: MeasuredTransfers): Section {
  const { records } = zone.set;
  const scale = Math.max(1, records) / RECORDS;
  const mib = (octets: number) => fixed(octets / 2 ** 20, 1);
  const title = ({ server }: Contestant) =>
    server.name === 'zonefleet' ? `**${server.title}**` : server.title;
  return {
    part: 'transfer',
    title: 'Zone transfers',
    blocks: [
      `A zone of ${count(records)} records. Each server runs on one core, and the client, which only counts records, on the ` +
        `other. Load of the machine at the end: ${loadavg()[0]?.toFixed(1)}.`,
      '### AXFR\n\n“First” is the first transfer after a change of the zone; the others have not changed.',
      table(
        ['', ...AXFR_KINDS.flatMap((kind) => [`${kind}, s`, 'CPU, s']), 'MiB'],
        [...axfr].map(([contestant, costs]) => [
          title(contestant),
          ...AXFR_KINDS.flatMap((kind) => [fixed(costs[kind].seconds, 2), fixed(costs[kind].cpuSeconds, 2)]),
          mib(costs.first.octets),
        ]),
      ),
      axfrRatios(axfr),
      `### UDP during transfers\n\n${count(queriesPerSecond)} queries per second, without transfers and during one transfer ` +
        'after the other.',
      table(
        ['', 'p99 ms without', 'p99 ms during', 'times as much'],
        [...latency].map(([contestant, { quietP99Ms, busyP99Ms }]) => [
          title(contestant),
          fixed(quietP99Ms, 3),
          fixed(busyP99Ms, 3),
          judged(busyP99Ms / quietP99Ms, contestant.server.name === 'zonefleet' ? 1.2 : undefined),
        ]),
      ),
      '### IXFR',
      table(
        ['', 'ms', 'octets', 'records'],
        [
          ['one edit', judged(ixfr.single.ms, 5, 1), judged(ixfr.single.octets, 1024, 0), ''],
          [
            `${count(ixfr.edits)} edits, condensed`,
            judged(ixfr.many.ms, 300, 0),
            count(ixfr.many.octets),
            count(ixfr.many.records),
          ],
        ],
      ),
      '### Cost of the history\n\nEdits of a domain of 50 records through the API: processor time of the API and of Postgres.',
      table(
        ['', 'with history, ms', 'without, ms', 'times as much'],
        [['an edit', fixed(history.withHistory, 2), fixed(history.without, 2), judged(history.ratio, 1.15)]],
      ),
      ...(copy === undefined ? [] : copyBlocks(copy, scale)),
    ],
    charts: [],
  };
}

/** Returns the table of the ratios that have a target. */
function axfrRatios(axfr: MeasuredTransfers['axfr']): string {
  const costsOf = (name: ServerName) => [...axfr].find(([{ server }]) => server.name === name)?.[1];
  const [ours, nsd, knot] = [costsOf('zonefleet'), costsOf('nsd'), costsOf('knot')];
  const ratio = (ours: number | undefined, theirs: number | undefined, limit: number) =>
    judged((ours ?? Number.NaN) / (theirs ?? Number.NaN), limit);
  return table(
    ['Zonefleet ÷', 'time', 'CPU, first', 'CPU, repeated'],
    [
      [
        'NSD',
        ratio(ours?.first.seconds, nsd?.first.seconds, 1.5),
        ratio(ours?.first.cpuSeconds, nsd?.repeated.cpuSeconds, 2),
        ratio(ours?.repeated.cpuSeconds, nsd?.repeated.cpuSeconds, 0.7),
      ],
      ['Knot DNS', ratio(ours?.first.seconds, knot?.first.seconds, 1), '', ''],
      [
        'Zonefleet without TSIG',
        ratio(ours?.signed.seconds, ours?.repeated.seconds, 1.2),
        '',
        ratio(ours?.signed.cpuSeconds, ours?.repeated.cpuSeconds, 1.2),
      ],
    ],
  );
}

function copyBlocks({ whole, residentBytes, single }: MeasuredCopy, scale: number): string[] {
  return [
    '### Transfers in\n\nThe workers copy the zone from NSD, then its changes from Zonefleet. Processor time is that of the ' +
      'workers and of Postgres; memory is the largest resident size of the workers.',
    table(
      ['', 'form', 'seconds', 'CPU, s', 'MiB'],
      [
        [
          'the whole zone',
          whole.form,
          judged(whole.seconds, 60 * scale, 1),
          fixed(whole.cpuSeconds, 1),
          judged(residentBytes / 2 ** 20, 1024, 0),
        ],
        ['one edit', 'ixfr', fixed(single.seconds, 2), judged(single.cpuSeconds, 0.05, 3), ''],
      ],
    ),
  ];
}
