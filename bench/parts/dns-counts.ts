// Counts by domain, on compared with off: one zone of 10,000 names, and ten thousand zones queried evenly, with a different
// counter for each answer.

import type { BenchOptions, Part, Section } from '../part.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { interleave, measure, mediansOf } from '../rounds.ts';
import { say } from '../say.ts';
import { type RunningZonefleet, startZonefleet } from '../servers/zonefleet.ts';
import { median } from '../statistics.ts';
import { warmUp } from '../warm-up.ts';
import { makeOneZone } from '../zones/one-zone.ts';
import { writeQueries } from '../zones/query-file.ts';
import { makeRecipeZones, recipeName } from '../zones/recipe-zones.ts';
import type { ZoneSet } from '../zones/zone-set.ts';

const NAMES = 10_000;
const ZONES = 10_000;
const QUESTIONS = 200_000;
const ADDRESS = '127.0.0.1';
/** Relative to the time without counts. */
const LIMIT = 1.02;
/** Minimum number of rounds: the difference is smaller than disturbances of the machine. */
const LEAST_ROUNDS = 9;

interface Load {
  readonly title: string;
  readonly set: ZoneSet;
  /** Lines for dnsperf. */
  readonly questions: string;
}

export const dnsCounts: Part = {
  names: ['dns_counts'],
  async run(options) {
    const blocks = [
      'The node takes the counts of each thread every two seconds, and reports them every minute. Runs alternate; the ratio is the median of ' +
        'the rounds’ ratios.',
    ];
    const rounds = Math.max(options.rounds, LEAST_ROUNDS);
    for (const load of loads()) blocks.push(`### ${load.title}`, await compare(load, rounds, options));
    const section: Section = {
      part: 'dns_counts',
      title: 'Counts by domain',
      blocks,
      charts: [],
      runs: `medians of ${rounds} runs each`,
    };
    return [section];
  },
};

function loads(): Load[] {
  const one = makeOneZone('counts', NAMES);
  return [
    { title: 'One zone of 10,000 names', set: one.set, questions: one.questions(QUESTIONS, 1) },
    { title: '10,000 zones, queried evenly', set: makeRecipeZones(ZONES), questions: evenly() },
  ];
}

/** Returns queries for all zones. 7,919 is prime to their number, so each is queried once before any is queried again. */
function evenly(): string {
  return Array.from({ length: ZONES }, (_, i) => `www.${recipeName((i * 7919) % ZONES)} A\n`).join('');
}

async function compare(
  { title, set, questions }: Load,
  rounds: number,
  options: BenchOptions,
): Promise<string> {
  say(`dns_counts: ${title}`);
  const running: RunningZonefleet[] = [];
  try {
    for (const dnsCounts of [false, true])
      running.push(
        await startZonefleet({
          set: { ...set, name: `${set.name}_${dnsCounts ? 'on' : 'off'}` },
          address: ADDRESS,
          cpu: options.serverCpu,
          limitsRates: false,
          timeoutMs: 60_000,
          dnsCounts,
        }),
      );
    const queries = writeQueries(options.directory, set.name, questions);
    const edns = { kind: 'none' } as const;
    const contestants = running.map((server, i) => ({ label: i === 0 ? 'off' : 'on', server }));
    for (const { server } of contestants) await warmUp(server, { queries, edns }, options);
    const runs = await interleave(contestants, { ...options, rounds }, ({ server }) =>
      measure(server, { queries, edns, seconds: options.seconds }, options),
    );
    const basis = runs.get(contestants[0] as (typeof contestants)[number]) ?? [];
    const rows = [...runs].map(([{ label }, list]) => {
      const figures = mediansOf(list);
      const ratio = median(list.map((run, round) => run.cpuMicros / (basis[round]?.cpuMicros ?? Number.NaN)));
      return [
        label,
        count(figures.queriesPerSecond),
        fixed(figures.cpuMicros, 2),
        `${fixed(figures.lowestCpuMicros, 2)}–${fixed(figures.highestCpuMicros, 2)}`,
        label === 'off' ? '' : judged(ratio, LIMIT),
      ];
    });
    return table(
      ['counts', 'q/s', 'CPU µs per query', 'lowest–highest', 'ratio, median of the rounds'],
      rows,
    );
  } finally {
    for (const server of running) await server.stop();
  }
}
