// The image's thread, the only one that writes zones: reads the snapshot, follows the changes and updates the snapshot.
// Loading millions of records therefore delays neither TCP nor the health page.

import { parentPort, workerData } from 'node:worker_threads';
import { QueryCounters, sumCounters } from '../answer/query-counters.ts';
import { ZoneCounts } from '../counts/zone-counts.ts';
import { AskedMarks } from '../image/find/asked-marks.ts';
import { CountryTable } from '../image/find/country-table.ts';
import { Image } from '../image/image.ts';
import { ImageWriter } from '../image/write-image.ts';
import { Snapshot } from '../snapshot/snapshot.ts';
import { ImageProgress } from '../threads/image-progress.ts';
import { createThreadLog } from '../threads/thread-log.ts';
import type { Following, FollowOptions } from './follow-options.ts';
import { FollowedEdgeSets } from './followed-edge-sets.ts';
import type { FromImageThread, ImageThreadOptions, ToImageThread } from './start-image-thread.ts';
import { ZoneWatch } from './zone-watch.ts';

const options = workerData as ImageThreadOptions;
const port = parentPort as NonNullable<typeof parentPort>;

const post = (message: FromImageThread) => port.postMessage(message);

const log = createThreadLog(post);

const zones = new ZoneWatch((changed) => post({ kind: 'changed', zones: changed }));

let following: Following | undefined;
let startAnswering: () => void;
const answering = new Promise<void>((done) => {
  startAnswering = done;
});
let snapshot: Snapshot | undefined;

async function run(): Promise<void> {
  const { buffer, snapshotDirectory, databaseUrl, readUrl, nodeName } = options;
  const progress = new ImageProgress(options.progress);
  progress.beat();
  const image = new Image(buffer);
  if (snapshotDirectory !== undefined) {
    const isForeign = options.isSuccessor === true;
    snapshot = new Snapshot({ directory: snapshotDirectory, image, log, progress, isForeign });
  }
  const startedMs = performance.now();
  const base = snapshot?.restoreBase();
  const writer = new ImageWriter(image, base?.free, progress.step);
  const place = base === undefined ? undefined : snapshot?.restoreLog(writer, base.place);
  progress.reach(0, 0);
  progress.begin('waiting');
  if (base !== undefined) {
    const ms = Math.round(performance.now() - startedMs);
    log.info({ zones: writer.zones, records: writer.records, ms }, 'zones read from the snapshot');
  }
  const edgeSets = new FollowedEdgeSets({
    writer,
    log,
    directory: snapshotDirectory,
    onUnwritten: (error) => snapshot?.countFailure(error),
    countries: options.countries && new CountryTable(options.countries),
    countryDb: options.countryDb,
  });
  edgeSets.restore();
  const isServing = place !== undefined || writer.zones > 0;
  post({ kind: 'restored', isServing });
  if (isServing && options.answersFirst) await answering; // the UDP threads need the processor first
  // An unhandled rejection ends this thread, and with it the process.
  const checked = base === undefined ? undefined : snapshot?.checkRestored(writer);
  if (base === undefined) snapshot?.restored();
  const counters = (options.counters ?? []).map((buffer) => new QueryCounters(buffer));
  // Loaded late: most of this code is for the database, and zones from the snapshot can be served without it.
  const { explainStart, followChanges } = await import('./follow-changes.ts');
  const follow: FollowOptions = {
    databaseUrl,
    nodeName,
    version: options.version ?? '',
    log,
    writer,
    asked: new AskedMarks(options.asked),
    zoneCounts: (options.zoneCounts ?? []).map((counted) => new ZoneCounts(counted)),
    traffic: () => sumCounters(counters).totals(),
    place,
    checked,
    edgeSets,
    progress,
    isSuccessor: options.isSuccessor === true,
    onState: () => {
      if (following !== undefined) post({ kind: 'state', state: following.state() });
    },
    onServed: (zone) => zones.add(zone),
    onReached: () => post({ kind: 'reached' }),
    ...(readUrl === undefined ? {} : { readUrl }),
    ...(snapshot === undefined ? {} : { snapshot }),
  };
  try {
    following = await followChanges(follow);
  } catch (error) {
    const reason = explainStart(error);
    if (reason === undefined) throw error; // ends the thread, and with it the process
    return post({ kind: 'failed', reason });
  }
  post({ kind: 'state', state: following.state() });
  post({ kind: 'started' });
}

port.on('message', async (message: ToImageThread) => {
  if (message.kind === 'watch') return zones.watch(message.watches);
  if (message.kind === 'predecessor-ended') return snapshot?.own();
  if (message.kind === 'answering') return startAnswering();
  await following?.stop();
  await snapshot?.stop();
  post({ kind: 'stopped' });
});

await run();
