// Edits under load: what 1,000 changes a second do to the answers, and how soon an edit through Postgres is answered.
// Postgres and this program share the core of dnsperf.

import { type ComparedLoads, comparedTable, compareLoads } from '../edits/compare-loads.ts';
import { type EditSet, makeEditSet } from '../edits/edit-set.ts';
import { EditStream, type StreamResult } from '../edits/edit-stream.ts';
import { measureFed } from '../edits/measure-fed.ts';
import { AnswerWatch } from '../edits/watch-answers.ts';
import type { BenchOptions, Part, Section } from '../part.ts';
import { pinCluster } from '../postgres/cluster.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { type LoadOptions, measure } from '../rounds.ts';
import { say } from '../say.ts';
import { serversNamed, startServers, stopServers } from '../servers/all.ts';
import type { RunningServer } from '../servers/server.ts';
import { percentile } from '../statistics.ts';
import { warmUp } from '../warm-up.ts';
import { writeQueries } from '../zones/query-file.ts';
import { evenly, recipeQuestions } from '../zones/recipe-zones.ts';

const BURSTS_PER_SECOND = 10;
const ZONES_IN_BURST = 100;
const SINGLE_EDITS_PER_SECOND = 100;
const LARGE_EDITS_PER_SECOND = 20;
/** Seconds of single edits; a run of the load takes as long. */
const VISIBLE_SECONDS = 20;

export const edits: Part = {
  names: ['edits'],
  async run(options) {
    const edited = makeEditSet(options.zones);
    const fed = await measureFed(edited.smallZones, options);
    const lines = recipeQuestions(evenly(edited.smallZones), 1_000_000, 5);
    const queries = writeQueries(options.directory, 'edits', lines);
    const servers = serversNamed(options.servers, 'zonefleet');
    const contestants = await startServers(servers, edited.set, options);
    const server = contestants[0]?.running;
    if (server === undefined) return [];
    const unpin = await pinCluster(options.loadCpu);
    try {
      await warmUp(server, { queries }, options);
      return [await measureEdits(server, edited, queries, fed, options)];
    } finally {
      await unpin();
      await stopServers(contestants);
    }
  },
};

async function measureEdits(
  server: RunningServer,
  edited: EditSet,
  queries: string,
  fed: ComparedLoads,
  options: BenchOptions,
): Promise<Section> {
  const url = await zonefleetDatabase(edited.set);
  const most = await measure(server, { queries, seconds: options.seconds }, options);
  const load: LoadOptions = {
    queries,
    seconds: options.seconds,
    rate: most.queriesPerSecond / 2,
    withLatency: true,
  };
  const throughPostgres = await compareThroughPostgres(server, edited, url, load, options);
  const single = await timeEdits(server, url, load, SINGLE_EDITS_PER_SECOND, edited.smallTarget, options);
  const large = await timeEdits(server, url, load, LARGE_EDITS_PER_SECOND, edited.largeTarget, options);
  return {
    part: 'edits',
    title: 'Edits under load',
    blocks: [
      `${count(edited.smallZones)} small zones and one of ${count(edited.large.names)} names; questions spread evenly over the small ` +
        `ones, at half of the maximum. Every edit changes an address and the zone’s serial.`,
      '### 1 000 changes a second, handed to the writer\n\nA process with image, writer and UDP thread, and no Postgres; the load with and without changes in turn.',
      comparedTable(fed, { cpu: 1.1, p999: 2 }),
      `### 1 000 changes a second through Postgres\n\nThe nameserver, ${ZONES_IN_BURST} zones in a transaction: with what finding and loading the changes takes.`,
      comparedTable(throughPostgres),
      '### Until an edit is answered\n\nOne zone in a transaction, during the same load; by asking for the record each millisecond.',
      visibleTable([
        [`${SINGLE_EDITS_PER_SECOND} edits a second`, single, 100],
        [
          `one record of ${count(edited.large.names)} names, ${LARGE_EDITS_PER_SECOND} edits a second`,
          large,
          50,
        ],
      ]),
    ],
    charts: [],
  };
}

/** Through Postgres, many zones in a transaction. */
function compareThroughPostgres(
  server: RunningServer,
  edited: EditSet,
  url: string,
  load: LoadOptions,
  options: BenchOptions,
): Promise<ComparedLoads> {
  let first = 0;
  return compareLoads(
    options,
    () => measure(server, load, options),
    async () => {
      const offset = first;
      const stream = await EditStream.start({
        url,
        target: (n) => edited.smallTarget(n + offset),
        transactionsPerSecond: BURSTS_PER_SECOND,
        editsEach: ZONES_IN_BURST,
      });
      const run = await measure(server, load, options);
      const result = await stream.stop();
      first += result.edits;
      return { run, changesPerSecond: result.edits / result.seconds };
    },
  );
}

async function timeEdits(
  server: RunningServer,
  url: string,
  load: LoadOptions,
  perSecond: number,
  target: (n: number) => { zone: string; owner: string },
  options: BenchOptions,
): Promise<StreamResult> {
  const seconds = Math.min(VISIBLE_SECONDS, options.seconds * 7);
  say(`  ${perSecond} single edits a second for ${seconds} s`);
  const watch = await AnswerWatch.open(server.address, server.port);
  try {
    const stream = await EditStream.start({
      url,
      target,
      transactionsPerSecond: perSecond,
      editsEach: 1,
      watch,
    });
    await measure(server, { ...load, seconds, withLatency: false }, options);
    const result = await stream.stop();
    await untilSeen(watch);
    return result;
  } finally {
    watch.close();
  }
}

/** An edit that is never answered is no slow one but a lost one. */
async function untilSeen(watch: AnswerWatch): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (watch.waiting > 0) {
    if (performance.now() > deadline) throw new Error(`${watch.waiting} edits are not answered after 10 s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function visibleTable(rows: readonly (readonly [string, StreamResult, number])[]): string {
  return table(
    ['', 'edits', 'p50 ms', 'p99 ms', 'slowest ms', 'p99 ms since the commit'],
    rows.map(([label, { edits: made, sinceSentMs, sinceCommitMs }, limitMs]) => [
      label,
      count(made),
      fixed(percentile(sinceSentMs, 0.5), 1),
      judged(percentile(sinceSentMs, 0.99), limitMs, 1),
      fixed(Math.max(...sinceSentMs), 1),
      fixed(percentile(sinceCommitMs, 0.99), 1),
    ]),
  );
}
