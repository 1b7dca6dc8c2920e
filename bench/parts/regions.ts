// Regional answers: a zone whose names are all proxied, once without regions and once with a set for the client's region.
// Half of the existing names are queried for addresses that a region replaces, and each query searches the table of
// countries.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { openDatabase } from '../../src/store/postgres/database.ts';
import type { EdgeSets } from '../../src/zone/edge-sets.ts';
import { countryFile } from '../../test/support/answer/country-file.ts';
import { until } from '../../test/support/tests/until.ts';
import type { EdnsChoice } from '../dnsperf.ts';
import type { BenchOptions, Part, Section } from '../part.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { interleave, measure, mediansOf } from '../rounds.ts';
import { say } from '../say.ts';
import { type RunningZonefleet, startZonefleet } from '../servers/zonefleet.ts';
import { median } from '../statistics.ts';
import { warmUp } from '../warm-up.ts';
import { makeOneZone, type OneZone } from '../zones/one-zone.ts';
import { writeQueries } from '../zones/query-file.ts';
import type { ZoneSet } from '../zones/zone-set.ts';

const NAMES = 10_000;
const QUESTIONS = 200_000;
const ADDRESS = '127.0.0.1';
/** Relative to the time without regions. */
const LIMIT = 1.03;
/** Minimum number of rounds: the difference is smaller than disturbances of the machine. */
const LEAST_ROUNDS = 9;

const SETS: EdgeSets = {
  version: 1,
  countries: { DE: 'eu' },
  regions: [{ region: 'eu', v4: [['203.0.113.1']], v6: [['2001:db8:e::1']] }],
};

/** 127.0.0.0/24 by client subnet, and by the client's address. */
const SUBNET: EdnsChoice = { kind: 'subnet', subnet: '000118007f0000' };
const LOADS = [
  { title: 'By the client’s address', edns: { kind: 'none' } as EdnsChoice, limit: LIMIT },
  { title: 'By CLIENT-SUBNET, which is not read without regions', edns: SUBNET, limit: undefined },
];

export const regions: Part = {
  names: ['regions'],
  async run(options) {
    const directory = mkdtempSync(join(tmpdir(), 'zonefleet-bench-regions-'));
    const countryDb = join(directory, 'countries.mmdb');
    // a /16 with more prefixes than almost any of the real table
    const addresses = Array.from({ length: 256 }, (_, i) => [`127.0.${i}.1`, i === 0 ? 'DE' : 'US'] as const);
    writeFileSync(countryDb, countryFile(Object.fromEntries(addresses)));
    const running: RunningZonefleet[] = [];
    try {
      const zone = makeOneZone('regions', NAMES);
      for (const isOn of [false, true]) running.push(await startWith(zone, isOn, countryDb, options));
      return [await compare(running, zone, options)];
    } finally {
      for (const server of running) await server.stop();
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

async function startWith(
  zone: OneZone,
  isOn: boolean,
  countryDb: string,
  options: BenchOptions,
): Promise<RunningZonefleet> {
  const set = proxied(zone.set, isOn ? 'on' : 'off');
  const databaseUrl = await zonefleetDatabase(set);
  const db = openDatabase(databaseUrl, { maxConnections: 1 });
  try {
    const sets = isOn ? SETS : { version: 0, regions: [], countries: {} };
    await sql`update edge_sets set sets = ${JSON.stringify(sets)}::jsonb`.execute(db);
  } finally {
    await db.destroy();
  }
  const server = await startZonefleet({
    set,
    address: ADDRESS,
    cpu: options.serverCpu,
    limitsRates: false,
    timeoutMs: 60_000,
    databaseUrl,
    countryDb,
  });
  if (isOn)
    await until(async () => (await server.metric('zonefleet_regions')) === 1, 'the regions are loaded');
  return server;
}

/** Returns the zone with an edge marker at every host. */
function proxied({ name, zones, records }: ZoneSet, suffix: string): ZoneSet {
  const marked = zones.map(({ apex, text }) => {
    const hosts = text.split('\n').filter((line) => / A /.test(line) && !line.startsWith('@'));
    const marks = hosts.map((line) => `${line.split(' ')[0]} TYPE65535 \\# 0`);
    return { apex, text: `${text}${marks.join('\n')}\n` };
  });
  return { name: `${name}_${suffix}`, zones: marked, records: records + NAMES };
}

async function compare(
  running: readonly RunningZonefleet[],
  zone: OneZone,
  options: BenchOptions,
): Promise<Section> {
  const queries = writeQueries(options.directory, 'regions', zone.questions(QUESTIONS, 1));
  const contestants = running.map((server, i) => ({ label: i === 0 ? 'off' : 'on', server }));
  const blocks = [
    'The zone of the first part, with an edge marker at every host. Nine tenths of the answers have addresses, and with regions on ' +
      'almost all of these are the set of a region. Runs alternate; the ratio is the median of the rounds’ ratios.',
  ];
  const rounds = Math.max(options.rounds, LEAST_ROUNDS);
  for (const { title, edns, limit } of LOADS) {
    say(`regions: ${title}`);
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
        label === 'off' ? '' : limit === undefined ? fixed(ratio, 3) : judged(ratio, limit),
      ];
    });
    const head = ['regions', 'q/s', 'CPU µs per query', 'lowest–highest', 'ratio, median of the rounds'];
    blocks.push(`### ${title}`, table(head, rows));
  }
  return {
    part: 'regions',
    title: 'Answers by region',
    blocks,
    charts: [],
    runs: `medians of ${rounds} runs each`,
  };
}
