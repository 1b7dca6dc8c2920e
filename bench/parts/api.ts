// Calls of the HTTP API with a large zone, and many concurrent ones with smaller zones, alternating with PowerDNS's API on
// the same Postgres, and pages of a long list of domains.

import type { ApiUnderTest, ZoneRecord } from '../api/api-under-test.ts';
import { compareCalls } from '../api/compare-calls.ts';
import { startPowerdnsApi } from '../api/powerdns-api.ts';
import { startZonefleetApi } from '../api/zonefleet-api.ts';
import type { BenchOptions, Part } from '../part.ts';
import { pinCluster } from '../postgres/cluster.ts';
import { count, fixed, table } from '../report/table.ts';
import { say } from '../say.ts';
import { median, percentile } from '../statistics.ts';

const RECORDS = 20_000;
const DOMAINS = 300_000;
/** This part uses this many domains per requested zone. */
const QUICK_DOMAINS = 10_000;
const CREATES = 100;
const READS = 3;
const PAGES = 200;

const STEPS = ['import', 'list', 'export', 'search', 'create'] as const;
type Step = (typeof STEPS)[number];
const WORDS: Readonly<Record<Step, string>> = {
  import: `import of ${count(RECORDS)} records`,
  list: 'list of all',
  export: 'export as a zone file',
  search: 'search, first 100',
  create: 'one record created',
};
type Figures = Readonly<Record<Step, number[]>>;

export const api: Part = {
  names: ['api'],
  async run(options) {
    const unpin = await pinCluster(options.loadCpu);
    const ours = await startZonefleetApi(options.serverCpu);
    const hasPowerdns = options.servers.some(({ name }) => name === 'powerdns');
    const theirs = hasPowerdns ? await startPowerdnsApi(options.serverCpu) : undefined;
    const contestants: ApiUnderTest[] = [ours, ...(theirs === undefined ? [] : [theirs])];
    try {
      const records = Array.from({ length: RECORDS }, (_, i) => recordOf(i));
      const figures = await measureInTurn(contestants, records, options);
      const compared = await compareCalls(contestants, records, options);
      const domains = options.zones === undefined ? DOMAINS : QUICK_DOMAINS;
      await ours.addDomains(domains);
      const pages: number[] = [];
      for (let i = 0; i < PAGES; i++) pages.push(await timed(() => ours.listDomains(100)));
      return [
        {
          part: 'api',
          title: 'The HTTP API',
          blocks: [
            `A zone of ${count(RECORDS)} records, written and read with one call at a time: medians of ${options.rounds} alternating rounds in milliseconds (lowest–highest). The API has one core, ` +
              `Postgres and the client the other. Each round uses a new zone, and repeats each list, export and search ${READS} times. A round before them warms the processes up.`,
            table(
              ['', ...contestants.map(({ label }) => label)],
              STEPS.map((step) => [
                WORDS[step],
                ...contestants.map((contestant) => cell((figures.get(contestant) as Figures)[step])),
              ]),
            ),
            ...compared,
            `### Pages of ${count(domains)} domains\n\n\`GET /domains/?limit=100\`, ${PAGES} times: p50 ${fixed(median(pages), 1)} ms, p95 ${fixed(percentile(pages, 0.95), 1)} ms.`,
          ],
          charts: [],
        },
      ];
    } finally {
      for (const contestant of contestants) await contestant.stop();
      await unpin();
    }
  },
};

async function measureInTurn(
  contestants: readonly ApiUnderTest[],
  records: readonly ZoneRecord[],
  { rounds }: BenchOptions,
): Promise<Map<ApiUnderTest, Figures>> {
  const figures = new Map(
    contestants.map((one): [ApiUnderTest, Figures] => [
      one,
      { import: [], list: [], export: [], search: [], create: [] },
    ]),
  );
  for (let round = 0; round <= rounds; round++) {
    for (let i = 0; i < contestants.length; i++) {
      const one = contestants[(i + round) % contestants.length] as ApiUnderTest;
      const found = await measureRound(one, `round${round}.example`, records);
      const text = STEPS.map((step) => `${step} ${fixed(median(found[step]), 1)}`).join(', ');
      say(`  ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}, ${one.label}: ${text} ms`);
      if (round > 0) for (const step of STEPS) figures.get(one)?.[step].push(...found[step]);
    }
  }
  return figures;
}

async function measureRound(
  one: ApiUnderTest,
  zone: string,
  records: readonly ZoneRecord[],
): Promise<Figures> {
  const found: Figures = {
    import: [await one.load(zone, records)],
    list: [],
    export: [],
    search: [],
    create: [],
  };
  for (let n = 0; n < READS; n++) {
    found.list.push(await timed(() => one.list(zone)));
    found.export.push(await timed(() => one.exportZone(zone)));
    found.search.push(await timed(() => one.search(zone, 'target1777')));
  }
  for (let n = 0; n < CREATES; n++) {
    const record: ZoneRecord = { name: `new${n}`, type: 'A', content: '198.51.100.1' };
    found.create.push(await timed(() => one.create(zone, record)));
  }
  return found;
}

function recordOf(i: number): ZoneRecord {
  const name = `h${i}`;
  if (i % 4 === 0) return { name, type: 'TXT', content: `token-${i}` };
  if (i % 4 === 1) return { name, type: 'CNAME', content: `target${i}.example.net` };
  return { name, type: 'A', content: `192.0.${(i >> 8) & 255}.${i & 255}` };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

function cell(values: readonly number[]): string {
  return `${fixed(median(values), 1)} (${fixed(Math.min(...values), 1)}–${fixed(Math.max(...values), 1)})`;
}
