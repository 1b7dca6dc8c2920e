// Our scan and dnsrecon, zone by zone on one generated corpus: what each finds and invents, its queries and its duration.

import { type CorpusZone, makeCorpus } from '../../test/support/corpus/scan-corpus.ts';
import { exactKey, type KeyOf, ScanTally } from '../../test/support/corpus/scan-tally.ts';
import type { BenchOptions } from '../part.ts';
import { count, fixed, table } from '../report/table.ts';
import { say } from '../say.ts';
import { percentile } from '../statistics.ts';
import { dnsreconVersion, runDnsrecon, simpleKey } from './dnsrecon.ts';
import type { CorpusOrder, ScanReport } from './orders.ts';
import { startScanning } from './start-scanning.ts';

export const HELD_OUT_SEED = 7919;
export const REPLY_DELAY_MS = 20;
/** The default. */
export const PER_SECOND = 50;
const UNLIMITED = 1_000_000;
/** Number of zones and hosters: no scan waits for another. */
const AT_ONCE = 8;
const HOSTERS = 16;
const ZONES_PER_ROUND = 25;
const PORT_53_ADDRESS = '127.0.20.53';

/** Results of one program for all zones. */
class Measured {
  readonly tally = new ScanTally();
  readonly seconds: number[] = [];
  readonly questions: number[] = [];
  cpuSeconds = 0;
  readonly #keyOf: KeyOf;

  constructor(keyOf: KeyOf) {
    this.#keyOf = keyOf;
  }

  add(
    zone: CorpusZone,
    keys: Iterable<string>,
    { seconds, questions }: { seconds: number; questions: number },
  ): void {
    this.tally.add(zone, new Set(keys), this.#keyOf);
    this.seconds.push(seconds);
    this.questions.push(questions);
  }

  addReport(corpus: readonly CorpusZone[], { scans, cpuSeconds }: ScanReport): void {
    for (const { zone, keys, seconds, queries } of scans) {
      this.add(corpus[zone] as CorpusZone, keys, { seconds, questions: queries });
    }
    this.cpuSeconds += cpuSeconds;
  }
}

export interface ScanTables {
  readonly zones: number;
  readonly records: number;
  readonly blocks: readonly string[];
}

export async function measureScans(options: BenchOptions): Promise<ScanTables> {
  const order: CorpusOrder = {
    seed: HELD_OUT_SEED,
    zones: options.rounds * ZONES_PER_ROUND,
    hosters: HOSTERS,
  };
  const corpus = makeCorpus(order);
  const hasDnsrecon = dnsreconVersion() !== undefined && process.getuid?.() === 0;
  if (!hasDnsrecon) say('  dnsrecon is skipped: it must be installed, and requires root for port 53');
  const at53 = hasDnsrecon ? PORT_53_ADDRESS : undefined;
  const scanning = await startScanning(
    { ...order, delayMs: REPLY_DELAY_MS, areSilent: false, resolvers: 0, at53 },
    options,
  );
  const [limited, unlimited, recon] = [
    new Measured(exactKey),
    new Measured(exactKey),
    new Measured(simpleKey),
  ];
  try {
    for (let round = 0; round < options.rounds; round++) {
      const part = { first: round * ZONES_PER_ROUND, zones: ZONES_PER_ROUND, atOnce: AT_ONCE };
      limited.addReport(corpus, await scanning.scan({ ...part, perSecond: PER_SECOND }));
      unlimited.addReport(corpus, await scanning.scan({ ...part, perSecond: UNLIMITED }));
      for (const zone of hasDnsrecon ? corpus.slice(part.first, part.first + part.zones) : []) {
        const run = await runDnsrecon(zone, PORT_53_ADDRESS, options);
        recon.add(zone, run.keys, { seconds: run.seconds, questions: await scanning.takeAsked() });
        recon.cpuSeconds += run.cpuSeconds;
      }
      const recalls = [limited, unlimited, recon].map(({ tally }) => (100 * tally.recall).toFixed(1));
      say(`  round ${round + 1} of ${options.rounds}: ${recalls.join(', ')} % found`);
    }
    await scanning.takeAsked();
  } finally {
    await scanning.stop();
  }
  const programs = [
    { title: `**Zonefleet**, ${PER_SECOND} queries per second to an address`, measured: limited },
    { title: '**Zonefleet**, without that limit', measured: unlimited },
    ...(hasDnsrecon ? [{ title: `dnsrecon ${dnsreconVersion()}`, measured: recon }] : []),
  ];
  const peers = programs.filter(({ measured }) => measured !== unlimited);
  return {
    zones: corpus.length,
    records: corpus.reduce((sum, { records }) => sum + records.length, 0),
    blocks: [
      foundTable(programs),
      costTable(programs),
      '### By type, among the records that can be found',
      countsTable(peers, (tally) => tally.byType),
      '### By purpose of the record',
      countsTable(peers, (tally) => tally.bySort),
      '### By kind of zone',
      countsTable(peers, (tally) => tally.byKind),
    ],
  };
}

type Programs = readonly { readonly title: string; readonly measured: Measured }[];

const part = ({ found, all }: { found: number; all: number }) => `${fixed((100 * found) / all, 1)} %`;

const wanted = (recall: number) => ` (wanted ≥ 95: ${recall >= 0.95 ? 'yes' : '**no**'})`;

function foundTable(programs: Programs): string {
  return table(
    ['', 'of those that can be found', 'learnable', 'common', 'obscure', 'false'],
    programs.map(({ title, measured: { tally } }) => [
      title,
      `${fixed(100 * tally.recall, 1)} %${title.includes('Zonefleet') ? wanted(tally.recall) : ''}`,
      part(tally.of('learnable')),
      part(tally.of('common')),
      part(tally.of('obscure')),
      count(tally.foreign.length),
    ]),
  );
}

function costTable(programs: Programs): string {
  const at = (values: readonly number[], share: number, digits: number) =>
    fixed(percentile(values, share), digits);
  return table(
    ['', 'queries', 'p95', 'maximum', 's per zone', 'p95', 'maximum', 'CPU ms per zone'],
    programs.map(({ title, measured: { questions, seconds, cpuSeconds } }) => [
      title,
      at(questions, 0.5, 0),
      at(questions, 0.95, 0),
      at(questions, 1, 0),
      at(seconds, 0.5, 1),
      at(seconds, 0.95, 1),
      at(seconds, 1, 1),
      fixed((1000 * cpuSeconds) / seconds.length, 0),
    ]),
  );
}

function countsTable(
  programs: Programs,
  of: (tally: ScanTally) => ReadonlyMap<string, { found: number; all: number }>,
): string {
  const [first] = programs;
  const rows = [...of((first as Programs[number]).measured.tally)].sort(([, a], [, b]) => b.all - a.all);
  return table(
    ['', 'records', ...programs.map(({ title }) => title.replace(/,.*/, ''))],
    rows.map(([what, { all }]) => [
      what,
      count(all),
      ...programs.map(({ measured }) => part(of(measured.tally).get(what) ?? { found: 0, all })),
    ]),
  );
}
