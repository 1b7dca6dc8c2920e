// Half load and edits for ten minutes: memory, lost zones, and the full garbage collections of each thread.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { askMany } from '../../test/support/peers/peers.ts';
import { runDnsperf } from '../dnsperf.ts';
import { openRecordWriter } from '../edits/edit-records.ts';
import { makeEditSet } from '../edits/edit-set.ts';
import { EditStream } from '../edits/edit-stream.ts';
import { addressQuery } from '../edits/watch-answers.ts';
import type { BenchOptions, Part } from '../part.ts';
import { pinCluster } from '../postgres/cluster.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { pssBytes } from '../process-tree.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { measure, type Run } from '../rounds.ts';
import { say } from '../say.ts';
import { type RunningZonefleet, startZonefleet } from '../servers/zonefleet.ts';
import { readCollections } from '../soak/collections.ts';
import { warmUp } from '../warm-up.ts';
import { writeQueries } from '../zones/query-file.ts';
import { evenly, recipeName, recipeQuestions } from '../zones/recipe-zones.ts';

const EDITS_PER_SECOND = 100;
const STRETCHES = 10;
/** Memory may grow by this factor after the first stretch. */
const GROWTH_LIMIT = 1.05;

export const soak: Part = {
  names: ['soak'],
  async run(options) {
    const edited = makeEditSet(options.zones);
    const lines = recipeQuestions(evenly(edited.smallZones), 1_000_000, 6);
    const queries = writeQueries(options.directory, 'soak', lines);
    const outputFile = join(options.directory, 'collections.txt');
    const node = await startZonefleet({
      set: edited.set,
      cpu: options.serverCpu,
      address: '127.0.0.1',
      limitsRates: false,
      timeoutMs: 120_000,
      nodeFlags: ['--trace-gc'],
      outputFile,
    });
    const unpin = await pinCluster(options.loadCpu);
    try {
      await warmUp(node, { queries }, options);
      const most = await measure(node, { queries, seconds: options.seconds }, options);
      const stream = new EditStream({
        writer: await openRecordWriter(await zonefleetDatabase(edited.set)),
        target: edited.smallTarget,
        transactionsPerSecond: EDITS_PER_SECOND,
        editsEach: 1,
      });
      const zonesBefore = await node.metric('zonefleet_zones');
      const stretches = await runStretches(node, queries, most.queriesPerSecond / 2, options);
      const { edits } = await stream.stop();
      await new Promise((resolve) => setTimeout(resolve, 2000)); // later answers count as lost
      const wrong = await countWrong(node, stream.written);
      const lost = await countLostZones(node, edited.smallZones, options);
      const zonesAfter = await node.metric('zonefleet_zones');
      const started = stretches[1]?.atMs ?? stretches[0]?.atMs ?? 0;
      const isolates = readCollections(readFileSync(outputFile, 'utf8'), started);
      return [
        {
          part: 'soak',
          title: `${Math.round(options.soakSeconds / 60)} minutes of load and edits`,
          blocks: [
            `${count(edited.set.zones.length + edited.smallZones)} zones at half of the maximum rate, ${EDITS_PER_SECOND} edits per second through Postgres.`,
            stretchTable(stretches),
            table(
              ['', ''],
              [
                ['edits made', count(edits)],
                ['edits that are not answered at the end', wrong],
                [
                  'zones before and after',
                  `${count(zonesBefore ?? Number.NaN)} → ${count(zonesAfter ?? Number.NaN)}`,
                ],
                ['zones that are not answered at the end', lost],
                ['memory at the end ÷ after the first stretch', judged(growth(stretches), GROWTH_LIMIT, 3)],
              ],
            ),
            'Threads with garbage collections after the first stretch. Threads without garbage are not listed.',
            table(
              ['V8 heap', 'minor collections', 'major collections', 'longest pause ms'],
              isolates.map(({ name, minor, major, longestMs }) => [name, minor, major, fixed(longestMs, 1)]),
            ),
          ],
          charts: [],
        },
      ];
    } finally {
      await unpin();
      await node.stop();
    }
  },
};

interface Stretch extends Run {
  readonly pssBytes: number;
  /** Age of the process at the start of the stretch. */
  readonly atMs: number;
}

async function runStretches(
  node: RunningZonefleet,
  queries: string,
  rate: number,
  options: BenchOptions,
): Promise<Stretch[]> {
  const seconds = Math.max(1, Math.round(options.soakSeconds / STRETCHES));
  const stretches: Stretch[] = [];
  for (let i = 0; i < STRETCHES; i++) {
    const atMs = performance.now() - node.startedMs;
    const run = await measure(node, { queries, seconds, rate }, options);
    const stretch = { ...run, pssBytes: pssBytes(node.program.pid), atMs };
    stretches.push(stretch);
    say(
      `  stretch ${i + 1} of ${STRETCHES}: ${Math.round(run.queriesPerSecond)} q/s, ${run.cpuMicros.toFixed(2)} µs, ` +
        `${(stretch.pssBytes / 2 ** 20).toFixed(1)} MiB`,
    );
  }
  return stretches;
}

function stretchTable(stretches: readonly Stretch[]): string {
  return table(
    ['stretch', 'q/s', 'CPU µs per query', 'lost', 'MiB'],
    stretches.map((stretch, index) => [
      index + 1,
      count(stretch.queriesPerSecond),
      fixed(stretch.cpuMicros, 2),
      count(stretch.lost),
      fixed(stretch.pssBytes / 2 ** 20, 1),
    ]),
  );
}

function growth(stretches: readonly Stretch[]): number {
  return (stretches.at(-1)?.pssBytes ?? Number.NaN) / (stretches[0]?.pssBytes ?? Number.NaN);
}

/** Returns the names that do not have the address that was written last. */
async function countWrong(node: RunningZonefleet, written: ReadonlyMap<string, Buffer>): Promise<number> {
  const names = [...written.keys()];
  const replies = await askMany(
    node.port,
    names.map((name) => addressQuery(0, name)),
  );
  return replies.filter((reply, i) => {
    const address = written.get(names[i] as string) as Buffer;
    return reply === undefined || !Buffer.from(reply.slice(-4)).equals(address);
  }).length;
}

/** Returns the zones whose SOA is not answered with NOERROR. */
async function countLostZones(node: RunningZonefleet, zones: number, options: BenchOptions): Promise<number> {
  const lines = Array.from({ length: zones }, (_, i) => `${recipeName(i)} SOA\n`).join('');
  const queries = writeQueries(options.directory, 'every-zone', lines);
  const { sent, rcodes } = await runDnsperf({
    address: node.address,
    port: node.port,
    cpu: options.loadCpu,
    queries,
    seconds: 60,
    once: true,
  });
  if (sent !== zones) throw new Error(`only ${sent} of ${zones} zones were queried`);
  return Math.round(zones * (1 - (rcodes.NOERROR ?? 0) / 100));
}
