// Twenty concurrent scans in three places: each server and each resolver still receives no more queries than its limit.

import { PUBLIC_QUESTIONS_PER_SECOND } from '../../src/resolver/state/public-resolvers.ts';
import { type CorpusZone, makeCorpus } from '../../test/support/corpus/scan-corpus.ts';
import { ScanTally } from '../../test/support/corpus/scan-tally.ts';
import type { BenchOptions } from '../part.ts';
import { fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { percentile } from '../statistics.ts';
import { HELD_OUT_SEED, PER_SECOND, REPLY_DELAY_MS } from './measure-scans.ts';
import { startScanning } from './start-scanning.ts';

const SCANS = 20;
const RESOLVERS = 4;

/** Burst size of the limiter: `AddressRates` grants the tokens of a fifth of a second together, and at least five. */
const burstOf = (perSecond: number) => Math.max(5, perSecond / 5);

interface Place {
  readonly title: string;
  readonly hosters: number;
  /** Number of public resolvers. If it is not 0, the zones' own servers are silent. */
  readonly resolvers: number;
  readonly limit: number;
}

const PLACES: readonly Place[] = [
  { title: '16 hosters', hosters: 16, resolvers: 0, limit: PER_SECOND },
  { title: 'one hoster with 4 addresses', hosters: 1, resolvers: 0, limit: PER_SECOND },
  {
    title: `silent hosters, ${RESOLVERS} public resolvers`,
    hosters: 16,
    resolvers: RESOLVERS,
    limit: PUBLIC_QUESTIONS_PER_SECOND,
  },
];

export async function measureCrowd(options: BenchOptions): Promise<string> {
  const rows = [];
  for (const place of PLACES) rows.push(await measurePlace(place, options));
  return table(
    [
      '',
      'all done after s',
      's per scan',
      'complete',
      'found',
      'false',
      'queries per second',
      'in the busiest second',
    ],
    rows,
  );
}

async function measurePlace(
  { title, hosters, resolvers, limit }: Place,
  options: BenchOptions,
): Promise<string[]> {
  say(`  ${title}`);
  const order = { seed: HELD_OUT_SEED + 1, zones: SCANS, hosters };
  const corpus = makeCorpus(order);
  const scanning = await startScanning(
    { ...order, delayMs: REPLY_DELAY_MS, areSilent: resolvers > 0, resolvers, at53: undefined },
    options,
  );
  try {
    const report = await scanning.scan({ first: 0, zones: SCANS, atOnce: SCANS, perSecond: PER_SECOND });
    const tally = new ScanTally();
    for (const { zone, keys } of report.scans) tally.add(corpus[zone] as CorpusZone, new Set(keys));
    const seconds = report.scans.map((scan) => scan.seconds);
    return [
      title,
      fixed(report.seconds, 1),
      fixed(percentile(seconds, 0.5), 1),
      `${report.scans.filter(({ isComplete }) => isComplete).length} of ${SCANS}`,
      `${fixed(100 * tally.recall, 1)} %`,
      String(tally.foreign.length),
      fixed(report.mean, 1),
      judged(report.peak, limit + burstOf(limit), 0),
    ];
  } finally {
    await scanning.stop();
  }
}
