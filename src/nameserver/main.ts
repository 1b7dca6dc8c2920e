// The nameserver process: listens when all zones are there, from a snapshot or loaded, so that nobody gets a wrong answer
// meanwhile. This thread answers over TCP; one of its own writes the zone image, others answer over UDP. Under `npm start`
// it tells its parent when it is ready or why it cannot be, and ends when the parent is gone.

import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Config, readConfig } from '../config.ts';
import { dropRights } from '../drop-rights.ts';
import { listenHealth, type Readiness } from '../listen-health.ts';
import { hidePasswords, type Log, openLog } from '../log.ts';
import { chooseUser, giveDirectory, loadAccounts, type ProcessUser, rootPlaceOf } from '../run-as.ts';
import { type ProcessLife, runProcess } from '../run-process.ts';
import { StartFault } from '../start-fault.ts';
import { requireDatabaseUrl } from '../store/database-url.ts';
import { createImage, Image, ReaderSlot } from '../zone/image/image.ts';
import { AmplificationLimit } from './amplification-limit.ts';
import { Answerer, type AnswerSettings } from './answer-query.ts';
import { lagSecondsSince } from './follow-changes.ts';
import { useHugePages } from './huge-pages.ts';
import { openLibc } from './libc.ts';
import { explainListenFault } from './listen-fault.ts';
import { createMetrics } from './metrics.ts';
import { QueryCounters, sumCounters } from './query-counters.ts';
import { RateLimit } from './rate-limit.ts';
import { type ImageThread, startImageThread } from './start-image-thread.ts';
import { DEFAULT_TCP_LIMITS, listenTcp, type TcpListener } from './tcp.ts';
import { type ListenAddress, listenUdp } from './udp.ts';
import { ANSWERER } from './udp-answerer.ts';
import { loadUdpThreads } from './udp-threads.ts';

const LOADED_POLL_MS = 5;
/** With zones from a snapshot the database is waited for so long, to hear of a wrong schema or a name that is taken. */
const DATABASE_GRACE_MS = 2000;
const FAILURE_LOG_INTERVAL_MS = 1000;
/** Of the image's readers: TCP in this thread, then the UDP threads. */
const TCP_SLOT = 0;
const FIRST_UDP_SLOT = 1;

async function start(config: Config, life: ProcessLife): Promise<void> {
  const log = openLog('nameserver', config.logLevel).child({ node: config.nodeName });
  const databaseUrl = requireDatabaseUrl(config);
  const user = chooseUser(config.runAs, loadAccounts());
  const snapshotDirectory = placeSnapshot(config, user);
  const buffer = reserveImage(config);
  if (config.dnsIo !== 'dgram') await tryHugePages(buffer, log);
  const image = new Image(buffer);
  const counters = Array.from({ length: FIRST_UDP_SLOT + config.dnsThreads }, () => new QueryCounters());
  let thread: ImageThread | undefined;
  let tcp: TcpListener | undefined;
  let isListening = false;

  const registry = createMetrics(() => sumCounters(counters), {
    zones: () => image.zones,
    records: () => image.records,
    imageOctets: () => image.octetsUsed,
    imageCapacityOctets: () => image.capacityOctets,
    tcpConnections: () => tcp?.connections() ?? 0,
    feedLagSeconds: () => lagSecondsSince(thread?.state()?.caughtUpAtMs, Date.now()),
    refusedZones: () => thread?.state()?.refused ?? 0,
    zonesWithoutRoom: () => thread?.state()?.withoutRoom ?? 0,
    heldZones: () => thread?.state()?.held?.zones ?? 0,
  });
  const health = await listenHealth(
    config.metricsListen,
    registry,
    () =>
      life.stopping.aborted
        ? waiting('it is being stopped')
        : isListening
          ? { kind: 'ready' }
          : waiting(whyNotListening(thread)),
    config.metricsHosts,
  ).catch((error) => refuse('METRICS_LISTEN', error));
  life.onStop(health.close);

  thread = startImageThread(
    {
      buffer,
      snapshotDirectory,
      databaseUrl,
      readUrl: config.databaseReadUrl,
      nodeName: config.nodeName,
    },
    log,
    life.fail,
  );
  life.onStop(thread.stop);
  // The rest of the start waits for the zones: meanwhile the others load.
  const loading = config.dnsIo === 'dgram' ? [] : loadUdpThreads(config.dnsThreads, ANSWERER);
  await untilServable(thread, life);

  const settings = answerSettings(config);
  const rateLimit =
    config.responsesPerSecond === undefined ? undefined : new RateLimit(config.responsesPerSecond);
  const amplificationLimit =
    config.amplifiedOctetsPerSecond === undefined
      ? undefined
      : new AmplificationLimit(config.amplifiedOctetsPerSecond);
  const reportFailure = failureReporter(log, counters);
  const addresses = addressesToListenOn(config, log);
  // Anew: the snapshot brings the seed of its hashes with it.
  const served = new Image(buffer);
  const tcpCounters = counters[TCP_SLOT] as QueryCounters;
  const answers = {
    answerer: new Answerer(
      served,
      { ...settings, rateLimit, amplificationLimit },
      tcpCounters,
      reportFailure,
    ),
    reader: new ReaderSlot(served, TCP_SLOT),
    counters: tcpCounters,
  };
  tcp = await listenTcp(addresses, answers).catch((error) => refuse('DNS_LISTEN', error));
  life.onStop(tcp.close);
  const udp = await listenUdp({
    addresses,
    io: config.dnsIo,
    threads: config.dnsThreads,
    image: buffer,
    firstSlot: FIRST_UDP_SLOT,
    settings,
    counters: (udpThread) => (counters[FIRST_UDP_SLOT + udpThread] as QueryCounters).buffer,
    rateLimit: rateLimit?.buffer,
    amplificationLimit: amplificationLimit?.buffer,
    loading,
    log,
    reportFailure,
  }).catch((error) => refuse('DNS_LISTEN', error));
  life.onStop(udp.close);
  if (user !== undefined) giveDirectory([snapshotDirectory], user); // with what was written until now
  dropRights(user, log);
  if (udp.io === 'dgram') warnOfWildcard(config, log);
  isListening = true;
  const { zones, records } = image;
  log.info({ addresses, metrics: health.address, zones, records, io: udp.io }, 'ready');
  life.ready({ addresses });
}

/** Under DATA_DIR; where the user that root becomes cannot get there, in root's place, which it can enter. */
function placeSnapshot({ dataDirectory, nodeName }: Config, user: ProcessUser | undefined): string {
  const place = join(dataDirectory, 'nodes', nodeName);
  return user === undefined
    ? place
    : giveDirectory([place, join(rootPlaceOf(dataDirectory), 'nodes', nodeName)], user);
}

function reserveImage({ imageOctets }: Config): SharedArrayBuffer {
  try {
    return createImage(imageOctets, randomBytes(4).readInt32LE());
  } catch (error) {
    throw new StartFault(
      `IMAGE_BYTES: ${imageOctets} octets cannot be reserved (${(error as Error).message})`,
    );
  }
}

async function tryHugePages(image: SharedArrayBuffer, log: Log): Promise<void> {
  try {
    useHugePages(await openLibc(), image);
  } catch (error) {
    log.info({ reason: (error as Error).message }, 'the zone image has pages of the usual size');
  }
}

function waiting(reason: string): Readiness {
  return { kind: 'waiting', reasons: [reason] };
}

function whyNotListening(thread: ImageThread | undefined): string {
  if (thread === undefined) return 'it starts';
  const { doing, done, total } = thread.progress;
  const state = thread.state();
  const isReading = doing === 'reading the snapshot' || doing === 'reading the log of the snapshot';
  if (isReading) return total > 0 ? `${doing}: ${done} of ${total} MiB` : doing;
  if (state === undefined) return thread.isReached() ? 'asking the database for its name' : 'it starts';
  if (state.loaded) return 'it does not listen yet';
  const why = state.fault === undefined ? '' : `: ${hidePasswords(state.fault)}`;
  if (!state.connected) return `the database has not been reached yet${why}`;
  return total > 0 ? `zones are being loaded: ${done} of ${total}${why}` : `zones are being loaded${why}`;
}

/** From then on answers are right, or as right as the snapshot is while the database is away. */
async function untilServable(thread: ImageThread, life: ProcessLife): Promise<void> {
  const signal = life.stopping;
  const { isServing } = await thread.restored;
  if (isServing) {
    thread.started.catch(life.fail);
    await Promise.race([thread.started, pause(DATABASE_GRACE_MS, undefined, { signal })]);
    if (thread.isReached()) await thread.started;
    return;
  }
  await thread.started;
  while (!thread.state()?.loaded) await pause(LOADED_POLL_MS, undefined, { signal });
}

function answerSettings(config: Config): Omit<AnswerSettings, 'rateLimit' | 'amplificationLimit'> {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return {
    nodeName: config.nodeName,
    version: `zonefleet ${version}`,
    cookieSecrets: config.cookieSecrets,
    tcpIdleTimeoutMs: DEFAULT_TCP_LIMITS.idleTimeoutMs,
  };
}

function failureReporter(log: Log, counters: readonly QueryCounters[]): (error: unknown) => void {
  let loggedAtMs = 0;
  return (error) => {
    // Queries come by the thousand, and one bug is told well enough once a second; the counter has them all.
    if (Date.now() - loggedAtMs < FAILURE_LOG_INTERVAL_MS) return;
    loggedAtMs = Date.now();
    log.error({ err: error, failed: sumCounters(counters).failed }, 'a query met a bug and got SERVFAIL');
  };
}

function addressesToListenOn({ dnsListen, dnsListenIsDefault }: Config, log: Log): ListenAddress[] {
  const loopbacks = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  if (!dnsListenIsDefault || loopbacks.some(({ address }) => address === '::1')) return [...dnsListen];
  log.warn('this machine has no IPv6 loopback address: DNS_LISTEN goes on with IPv4');
  return dnsListen.filter(({ address }) => !address.includes(':'));
}

function warnOfWildcard({ dnsListen }: Config, log: Log): void {
  const wildcard = dnsListen.find(({ address }) => address === '0.0.0.0' || address === '::');
  if (wildcard === undefined) return;
  log.warn(
    { address: wildcard.address },
    'DNS_LISTEN: UDP answers leave from the address of the route back; with several addresses list each of them',
  );
}

function refuse(setting: string, error: unknown): never {
  const fault = explainListenFault(setting, error);
  throw fault === undefined ? error : new StartFault(fault);
}

runProcess((life) => start(readConfig(process.env), life));
