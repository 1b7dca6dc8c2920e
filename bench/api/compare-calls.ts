// Compares concurrent calls of two HTTP APIs, in alternating runs: complete lists of records, and single created records.

import type { BenchOptions } from '../part.ts';
import { atLeast, type Cell, count, fixed, table } from '../report/table.ts';
import { say } from '../say.ts';
import { median } from '../statistics.ts';
import type { ApiUnderTest, ZoneRecord } from './api-under-test.ts';
import { type Answered, CONNECTIONS, runAutocannon } from './autocannon.ts';

interface Comparison {
  readonly words: string;
  readonly zoneRecords: number;
  readonly call: 'list' | 'create';
  /** Minimum ratio of Zonefleet's responses per second to those of the other server. */
  readonly wanted: number;
}

const COMPARISONS: readonly Comparison[] = [
  { words: 'list of all 50 records', zoneRecords: 50, call: 'list', wanted: 7 },
  { words: 'list of all 2 000 records', zoneRecords: 2000, call: 'list', wanted: 2 },
  { words: 'one record created, in a zone of 50', zoneRecords: 50, call: 'create', wanted: 2.5 },
];

/** Returns the table and the text above it. */
export async function compareCalls(
  contestants: readonly ApiUnderTest[],
  records: readonly ZoneRecord[],
  options: BenchOptions,
): Promise<string[]> {
  const rows: Cell[][] = [];
  for (const comparison of COMPARISONS) {
    const figures = await runInPairs(comparison, contestants, records, options);
    const cells = figures.map((runs) => {
      const perSecond = median(runs.map((run) => run.requestsPerSecond));
      return `${count(perSecond)} (${fixed(median(runs.map((run) => run.p50Ms)), 1)})`;
    });
    const [ours = [], theirs] = figures;
    const ratios = theirs?.map((run, i) => (ours[i]?.requestsPerSecond ?? 0) / run.requestsPerSecond) ?? [];
    rows.push([comparison.words, ...cells, atLeast(median(ratios), comparison.wanted)]);
  }
  return [
    `### Concurrent calls\n\n${CONNECTIONS} connections, each of which sends its next call as soon as the previous one is answered (autocannon), for ${options.seconds} s in each of ${options.rounds} alternating rounds. Figures are answers per second and, in brackets, the median time in milliseconds. ` +
      'The API has one core, Postgres and the client the other. The ratio is the median of the rounds’ ratios.',
    table(['', ...contestants.map(({ label }) => label), 'Zonefleet ÷ PowerDNS'], rows),
  ];
}

/** Returns the runs of each contestant. Each run that creates records has a new zone, because zones grow. */
async function runInPairs(
  { words, zoneRecords, call }: Comparison,
  contestants: readonly ApiUnderTest[],
  records: readonly ZoneRecord[],
  { rounds, seconds, loadCpu }: BenchOptions,
): Promise<Answered[][]> {
  const runs = contestants.map((): Answered[] => []);
  for (let round = 0; round < rounds; round++) {
    const zone = `${call}${zoneRecords}-${round}.example`;
    for (const one of contestants) await one.load(zone, records.slice(0, zoneRecords));
    for (let i = 0; i < contestants.length; i++) {
      const place = (i + round) % contestants.length;
      const one = contestants[place] as ApiUnderTest;
      const run = await runAutocannon(one.repeated(zone)[call], { seconds, cpu: loadCpu });
      runs[place]?.push(run);
      say(
        `  ${words}, round ${round + 1} of ${rounds}, ${one.label}: ${fixed(run.requestsPerSecond, 1)} per second`,
      );
    }
  }
  return runs;
}
