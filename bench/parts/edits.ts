// Edits under load: the effect of 1,000 changes per second on the answers, and the time until an edit through Postgres is
// answered. Postgres and this program share dnsperf's core.

import { type ComparedLoads, comparedTable, compareLoads } from '../edits/compare-loads.ts';
import { openRecordWriter } from '../edits/edit-records.ts';
import { type EditSet, makeEditSet } from '../edits/edit-set.ts';
import { EditStream } from '../edits/edit-stream.ts';
import { measureFed } from '../edits/measure-fed.ts';
import { type EditTarget, timeEdits, visibleTable } from '../edits/time-edits.ts';
import type { BenchOptions, Part, Section } from '../part.ts';
import { pinCluster } from '../postgres/cluster.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { count } from '../report/table.ts';
import { type LoadOptions, measure } from '../rounds.ts';
import { serversNamed, startServers, stopServers } from '../servers/all.ts';
import type { RunningServer } from '../servers/server.ts';
import { warmUp } from '../warm-up.ts';
import { writeQueries } from '../zones/query-file.ts';
import { evenly, recipeQuestions } from '../zones/recipe-zones.ts';

const BURSTS_PER_SECOND = 10;
const ZONES_IN_BURST = 100;
const SINGLE_EDITS_PER_SECOND = 100;
const LARGE_EDITS_PER_SECOND = 20;

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
  const timed = async (perSecond: number, target: EditTarget) =>
    timeEdits(server, load, { writer: await openRecordWriter(url), perSecond, target }, options);
  const single = await timed(SINGLE_EDITS_PER_SECOND, edited.smallTarget);
  const large = await timed(LARGE_EDITS_PER_SECOND, edited.largeTarget);
  return {
    part: 'edits',
    title: 'Edits under load',
    blocks: [
      `${count(edited.smallZones)} small zones and one of ${count(edited.large.names)} names; queries are spread evenly over the small ` +
        `ones, at half of the maximum rate. Each edit changes an address and the zone’s serial.`,
      '### 1 000 changes per second, passed to the writer\n\nA process with image, writer and UDP thread, without Postgres. Runs with and without changes alternate.',
      comparedTable(fed, { cpu: 1.1, p999: 2 }),
      `### 1 000 changes per second through Postgres\n\nThe nameserver, with ${ZONES_IN_BURST} zones in each transaction: includes finding and loading the changes.`,
      comparedTable(throughPostgres),
      '### Until an edit is answered\n\nOne zone in each transaction, during the same load. The record is queried every millisecond.',
      visibleTable([
        [`${SINGLE_EDITS_PER_SECOND} edits per second`, single, 100],
        [
          `one record of ${count(edited.large.names)} names, ${LARGE_EDITS_PER_SECOND} edits per second`,
          large,
          50,
        ],
      ]),
    ],
    charts: [],
  };
}

/** Compares the load with and without changes through Postgres, with many zones in each transaction. */
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
      const stream = new EditStream({
        writer: await openRecordWriter(url),
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
