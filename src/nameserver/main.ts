// The nameserver process. One thread writes the zone image, this one answers over TCP, and others answer over UDP. The
// image's thread starts first and reads the snapshot while the rest loads. Under `npm start`, the process reports to
// its parent when it is ready or why it cannot start, and ends when the parent ends.

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { printBuild, readBuild } from '../process/build.ts';
import { type Log, openLog } from '../process/log.ts';
import { chooseUser, giveDirectory, loadAccounts, type ProcessUser, rootPlaceOf } from '../process/run-as.ts';
import { type ProcessLife, runProcess } from '../process/run-process.ts';
import { readSettings, type SettingsOf } from '../process/settings/read-settings.ts';
import { StartFault } from '../process/start-fault.ts';
import { requireDatabaseUrl } from '../store/postgres/database-url.ts';
import { QueryCounters } from './answer/query-counters.ts';
import { ZONE_COUNTS_BYTES } from './counts/zone-counts.ts';
import { startImageThread } from './follow/start-image-thread.ts';
import { takeOver } from './handover/take-over.ts';
import { ASKED_MARKS_BYTES } from './image/find/asked-marks.ts';
import { COUNTRY_TABLE_BYTES } from './image/find/country-table.ts';
import { createImage } from './image/image.ts';
import { useHugePages } from './threads/huge-pages.ts';
import { openLibc } from './threads/libc.ts';
import { countQueues } from './xdp/interfaces.ts';

type Settings = SettingsOf<'nameserver'>;

const MAX_UDP_THREADS = 100;

async function start(settings: Settings, life: ProcessLife): Promise<void> {
  const log = openLog('nameserver', settings.logLevel).child({ node: settings.nodeName });
  for (const warning of settings.warnings) log.warn(warning);
  const databaseUrl = requireDatabaseUrl(settings);
  const user = chooseUser(settings.runAs, loadAccounts());
  const snapshotDirectory = placeSnapshot(settings, user);
  const buffer = reserveImage(settings);
  const asked = new SharedArrayBuffer(ASKED_MARKS_BYTES);
  const countries = new SharedArrayBuffer(COUNTRY_TABLE_BYTES);
  const xdpQueues = settings.dnsIo === 'xdp' ? countXdpQueues(settings) : 0;
  const udpThreads = settings.dnsThreads + xdpQueues;
  // one for TCP, one per UDP thread, and one for the TLS thread
  const zoneCounts = settings.dnsCounts
    ? Array.from({ length: 2 + udpThreads }, () => new SharedArrayBuffer(ZONE_COUNTS_BYTES))
    : [];
  // also one for the transfer thread
  const counters = Array.from({ length: 3 + udpThreads }, () => new QueryCounters().buffer);
  const { nodeName, databaseReadUrl: readUrl } = settings;
  const isSuccessor = process.env.ZONEFLEET_SUCCESSOR === '1';
  const predecessor = isSuccessor ? await takeOver(snapshotDirectory) : undefined;
  const build = readBuild();
  // Must precede the snapshot: once the image is filled, the size of its pages is fixed.
  if (settings.dnsIo !== 'dgram') await tryHugePages(buffer, log);
  const thread = startImageThread(
    {
      buffer,
      asked,
      countries,
      zoneCounts,
      counters,
      countryDb: settings.countryDb,
      snapshotDirectory,
      isSuccessor,
      answersFirst: !isSuccessor,
      databaseUrl,
      readUrl,
      nodeName,
      version: printBuild(build),
    },
    log,
    life.fail,
  );
  life.onStop(thread.stop);
  const { serveZones } = await import('./serve-zones.ts');
  const { version } = build;
  const memory = { version, databaseUrl, buffer, asked, countries, zoneCounts, counters, xdpQueues };
  const started = { life, log, user, snapshotDirectory, thread, predecessor, environment: process.env };
  await serveZones({ ...settings, ...memory, ...started });
}

/** Returns the snapshot's directory: below DATA_DIR or, if the user of the process cannot enter it, below root's directory. */
function placeSnapshot({ dataDirectory, nodeName }: Settings, user: ProcessUser | undefined): string {
  const place = join(dataDirectory, 'nodes', nodeName);
  return user === undefined
    ? place
    : giveDirectory([place, join(rootPlaceOf(dataDirectory), 'nodes', nodeName)], user);
}

function reserveImage({ imageBytes }: Settings): SharedArrayBuffer {
  try {
    return createImage(imageBytes, randomBytes(4).readInt32LE());
  } catch (error) {
    throw new StartFault(
      `IMAGE_BYTES: ${imageBytes} bytes of memory cannot be reserved (${(error as Error).message})`,
    );
  }
}

/** Returns the number of queues that get a thread. The image has MAX_UDP_THREADS reader slots for all UDP threads. */
function countXdpQueues({ xdpInterfaces, dnsThreads }: Settings): number {
  const queues = xdpInterfaces.reduce((sum, name) => sum + countQueues(name), 0);
  return Math.min(queues, MAX_UDP_THREADS - dnsThreads);
}

async function tryHugePages(image: SharedArrayBuffer, log: Log): Promise<void> {
  try {
    useHugePages(await openLibc(), image);
  } catch (error) {
    log.info({ reason: (error as Error).message }, 'the zone image uses pages of the default size');
  }
}

// Many small functions produce an answer. With these limits V8 inlines them, which saves a fifth of the time per
// answer. The flags apply to all threads started later.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=4000');
setFlagsFromString('--max-inlined-bytecode-size=600');
runProcess((life) => start(readSettings(process.env, 'nameserver'), life));
