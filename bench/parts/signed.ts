// Signed zones of 10,000 names, signed externally and served unchanged: CPU time per answer with DO of the servers that
// keep zones in memory; nonexistent names alone, since their proofs are the most expensive; and the cost of signatures for
// clients that do not request them.

import type { EdnsChoice } from '../dnsperf.ts';
import type { BenchOptions, Part, Section } from '../part.ts';
import type { Chart } from '../report/chart.ts';
import { comparisonTable, cpuBars, type Limits } from '../report/comparison.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { interleave, measure, mediansOf } from '../rounds.ts';
import { say } from '../say.ts';
import { type Contestant, serversNamed, startServers, stopServers } from '../servers/all.ts';
import { median } from '../statistics.ts';
import { warmUp } from '../warm-up.ts';
import { writeQueries } from '../zones/query-file.ts';
import { makeSignedZones, type SignedZones } from '../zones/signed-zones.ts';

const NAMES = 10_000;
const QUESTIONS = 200_000;
const DNSSEC: EdnsChoice = { kind: 'dnssec' };

const VARIANTS = [
  { name: 'mixed', title: 'All kinds of answers, NSEC', limits: { nsd: 1, knot: 1 }, leastNoError: 80 },
  { name: 'nsec', title: 'Names that do not exist, NSEC', limits: { nsd: 1.05 }, leastNoError: 0 },
  { name: 'nsec3', title: 'Names that do not exist, NSEC3', limits: { nsd: 1.2 }, leastNoError: 0 },
] as const satisfies readonly { name: string; title: string; limits: Limits; leastNoError: number }[];

/** Time for the signed zone without DO, relative to the unsigned one. */
const UNASKED_LIMIT = 1.03;

export const signed: Part = {
  names: ['signed'],
  async run(options) {
    const zones = await makeSignedZones(NAMES);
    const servers = serversNamed(options.servers, 'zonefleet', 'nsd', 'knot');
    const contestants = await startServers(servers, zones.set, options);
    try {
      return [await compare(contestants, zones, options)];
    } finally {
      await stopServers(contestants);
    }
  },
};

async function compare(
  contestants: readonly Contestant[],
  zones: SignedZones,
  options: BenchOptions,
): Promise<Section> {
  const write = (name: string, lines: string) => writeQueries(options.directory, `signed-${name}`, lines);
  const files = {
    mixed: write('mixed', zones.questions('nsec', QUESTIONS, 1)),
    nsec: write('nsec', zones.absentNames('nsec', QUESTIONS, 2)),
    nsec3: write('nsec3', zones.absentNames('hash', QUESTIONS, 2)),
    bare: write('bare', zones.questions('bare', QUESTIONS, 1)),
  };
  const blocks: string[] = [
    'The zone of the first part with 100 more cuts, half of them with DS, signed by dnssec-signzone (ECDSA P-256, one key; NSEC3 ' +
      'without salt and additional iterations). All kinds: nine tenths of the queries of the first part, 5 % missing types, ' +
      '5 % referrals. Names that do not exist are random, directly below the apex. All queries have DO, except in the last table.',
  ];
  const charts: Chart[] = [];
  for (const { name, title, limits, leastNoError } of VARIANTS) {
    say(`signed: ${title}`);
    const load = { queries: files[name], edns: DNSSEC };
    for (const { running } of contestants) await warmUp(running, load, options, leastNoError);
    const runs = await interleave(contestants, options, ({ running }) =>
      measure(running, { ...load, seconds: options.seconds }, options),
    );
    blocks.push(`### ${title}`, comparisonTable(runs, limits));
    charts.push({
      name: `signed-${name}`,
      title: `CPU per query with DO. ${title}`,
      unit: 'µs',
      digits: 2,
      bars: cpuBars(runs),
    });
  }
  blocks.push('### All kinds, without DO', await compareUnasked(contestants, files, options));
  return { part: 'signed', title: 'Answers from a signed zone', blocks, charts };
}

/** The cost of signatures for us when no client requests them. */
async function compareUnasked(
  contestants: readonly Contestant[],
  files: { readonly mixed: string; readonly bare: string },
  options: BenchOptions,
): Promise<string> {
  say('signed: without DO, and the unsigned zone');
  const ours = contestants.find(({ server }) => server.name === 'zonefleet');
  if (ours === undefined) return '–';
  const { running } = ours;
  const unsigned = { label: 'unsigned zone', queries: files.bare };
  const signedZone = { label: 'signed zone', queries: files.mixed };
  for (const { queries } of [unsigned, signedZone]) await warmUp(running, { queries }, options);
  const runs = await interleave([unsigned, signedZone], options, ({ queries }) =>
    measure(running, { queries, seconds: options.seconds }, options),
  );
  const basis = runs.get(unsigned) ?? [];
  return table(
    ['Zonefleet', 'q/s', 'CPU µs per query', 'lowest–highest', 'ratio, median of the rounds'],
    [...runs].map(([{ label }, list]) => {
      const figures = mediansOf(list);
      // The ratio of each round: disturbances of the machine last longer than a round, and are larger than the difference.
      const ratio = median(list.map((run, round) => run.cpuMicros / (basis[round]?.cpuMicros ?? Number.NaN)));
      return [
        label,
        count(figures.queriesPerSecond),
        fixed(figures.cpuMicros, 2),
        `${fixed(figures.lowestCpuMicros, 2)}–${fixed(figures.highestCpuMicros, 2)}`,
        label === unsigned.label ? '' : judged(ratio, UNASKED_LIMIT),
      ];
    }),
  );
}
