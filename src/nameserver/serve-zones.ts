// Runs in the main thread after the image's thread has started. Listens once all zones are available, from a snapshot
// or loaded, so that no client gets a wrong answer earlier.

import { networkInterfaces } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { dropRights } from '../process/drop-rights.ts';
import type { ListenAddress } from '../process/listen-address.ts';
import { listenFault } from '../process/listen-fault.ts';
import type { HealthListener, Readiness } from '../process/listen-health.ts';
import type { Log } from '../process/reconnect.ts';
import { giveDirectory, type ProcessUser } from '../process/run-as.ts';
import type { ProcessLife } from '../process/run-process.ts';
import { AmplificationLimit } from './answer/amplification-limit.ts';
import { Answerer, type AnswerSettings, type SharedAnswerSettings } from './answer/answer-query.ts';
import { ANSWERER, type AnswererParts, openAnswerer } from './answer/open-answerer.ts';
import { QueryCounters, sumCounters } from './answer/query-counters.ts';
import { RateLimit } from './answer/response-rate-limit.ts';
import { lagSecondsSince } from './follow/follow-state.ts';
import type { ImageThread } from './follow/start-image-thread.ts';
import { untilCurrent, untilJudged, untilLoaded, whyNotListening } from './follow/wait-for-zones.ts';
import type { Predecessor } from './handover/take-over.ts';
import { Image } from './image/image.ts';
import type { ObserveOptions } from './observe/messages.ts';
import { createObserver, type Observer } from './observe/start-observe-thread.ts';
import { openDnsTlsFiles, startTls, type TlsSettings, tryTlsAddresses } from './serve-tls.ts';
import { SlowPath } from './slow-path/slow-path.ts';
import type { TransferThread } from './slow-path/start-transfer-thread.ts';
import { diskSpaceOf } from './snapshot/disk-space.ts';
import { noWriteFailures } from './snapshot/write-failures.ts';
import { DEFAULT_TCP_LIMITS } from './tcp/limited-connections.ts';
import { listenTcp, type TcpListener } from './tcp/tcp.ts';
import { openLibc } from './threads/libc.ts';
import { throttled } from './threads/throttled.ts';
import type { TlsThread } from './tls/start-tls-thread.ts';
import type { TransferThreadOptions } from './transfer/messages.ts';
import { listenUdp, type UdpOptions } from './udp/udp.ts';
import { loadUdpThreads } from './udp/udp-threads.ts';
import type { Xdp } from './xdp/xdp.ts';

/** A snapshot that is read within this time is served before the code for health and metrics is loaded. */
const QUICK_RESTORE_MS = 1000;
/**
 * The reader slots of the image: TCP in this thread, then at most 100 UDP threads (including those of XDP), the transfer and
 * the TLS thread.
 */
const TCP_SLOT = 0;
const FIRST_UDP_SLOT = 1;
const TRANSFER_SLOT = 101;
const TLS_SLOT = 102;
/** Position in `counters`. */
const TRANSFER_COUNTERS = -2;

interface ServeOptions
  extends Pick<AnswerSettings, 'nodeName' | 'cookieSecrets'>,
    Pick<
      TransferThreadOptions,
      | 'databaseUrl'
      | 'transfers'
      | 'transfersMax'
      | 'dnsUpdate'
      | 'notifyRate'
      | 'notifySource'
      | 'tsigSecrets'
    >,
    Pick<ObserveOptions, 'dnstap' | 'queryLog' | 'queryLogClient'>,
    TlsSettings {
  readonly dnsListen: readonly ListenAddress[];
  readonly dnsListenIsDefault: boolean;
  readonly dnsIo: 'auto' | 'koffi' | 'dgram' | 'xdp';
  readonly dnsThreads: number;
  readonly xdpInterfaces: readonly string[];
  /** The number of queues for which `counters` and `zoneCounts` have memory. */
  readonly xdpQueues: number;
  readonly metricsListen: ListenAddress;
  readonly metricsHosts: readonly string[];
  readonly responsesPerSecond: number | undefined;
  readonly amplifiedOctetsPerSecond: number | undefined;
  /** One in this many answers is sampled for `dnstap` and `queryLog`. */
  readonly sampleInterval: number;
  readonly databaseReadUrl: string | undefined;
  readonly life: ProcessLife;
  readonly log: Log;
  /** The user that the process switches to once it listens. */
  readonly user: ProcessUser | undefined;
  readonly version: string;
  readonly snapshotDirectory: string;
  readonly buffer: SharedArrayBuffer;
  /** The memory of AskedMarks. */
  readonly asked: SharedArrayBuffer;
  /** The memory of CountryTable. */
  readonly countries: SharedArrayBuffer;
  /** The memory of ZoneCounts: TCP first, then the UDP threads, and the TLS thread. Empty if answers are not counted by zone. */
  readonly zoneCounts: readonly SharedArrayBuffer[];
  /** The memory of QueryCounters: TCP first, then the UDP threads, the transfer thread, and the TLS thread. */
  readonly counters: readonly SharedArrayBuffer[];
  /** The thread that fills the image in `buffer`. */
  readonly thread: ImageThread;
  /** The process that this one replaces. It serves until this one does. */
  readonly predecessor: Predecessor | undefined;
  readonly environment: NodeJS.ProcessEnv;
}

/** Resolves when the node answers. Throws StartFault if it cannot listen on an address. */
export async function serveZones(options: ServeOptions): Promise<void> {
  const { life, log, user, buffer, thread, snapshotDirectory, predecessor } = options;
  const image = new Image(buffer);
  const counters = options.counters.map((memory) => new QueryCounters(memory));
  let tcp: TcpListener | undefined;
  let isListening = false;
  const slowPath = hasTransferThread(options) ? new SlowPath() : undefined;
  let transfers: TransferThread | undefined;
  const observer = observerOf(options, counters);
  // Set before the zones are loaded, because without a handler a log rotation (SIGHUP) would end the process.
  if (options.queryLog !== undefined) life.onHangup(() => observer?.reopen());
  let tls: TlsThread | undefined;
  let xdp: Xdp | undefined;
  const loading =
    options.dnsIo === 'dgram' ? [] : loadUdpThreads(options.dnsThreads + options.xdpQueues, ANSWERER);
  const tlsFiles = await openDnsTlsFiles(options);

  const readiness = (): Readiness => {
    if (life.stopping.aborted) return waiting('it is being stopped');
    return isListening ? { kind: 'ready' } : waiting(whyNotListening(thread));
  };
  const { metricsListen, metricsHosts } = options;
  const openHealth = async () => {
    const { createMetrics } = await import('./metrics/metrics.ts');
    const { listenHealth } = await import('../process/listen-health.ts');
    const registry = createMetrics(() => sumCounters(counters), {
      zones: () => image.zones,
      records: () => image.records,
      regions: () => image.regions,
      imageBytes: () => image.bytesUsed,
      imageCapacityBytes: () => image.capacityBytes,
      tcpConnections: () => tcp?.connections() ?? 0,
      feedLagSeconds: () => lagSecondsSince(thread.state()?.caughtUpAtMs, Date.now()),
      refusedZones: () => thread.state()?.refused ?? 0,
      zonesWithoutRoom: () => thread.state()?.withoutRoom ?? 0,
      heldZones: () => thread.state()?.held?.zones ?? 0,
      asked: () => thread.state()?.asked ?? { reported: 0, dropped: 0 },
      counted: () => thread.state()?.counted ?? { reported: 0, other: 0, dropped: 0 },
      diskSpace: diskSpaceOf(snapshotDirectory),
      publishDelays: () => thread.state()?.publishDelays,
      writeFailures: () => thread.state()?.writeFailures ?? noWriteFailures(),
      xdp: () => xdp?.interfaces,
      transfers: () => transfers?.state(),
      tls: () => tls?.state(),
      tlsFiles: () => tlsFiles,
      slowPathDropped: () => slowPath?.limit.dropped,
      observed: () => observer?.observed(),
    });
    return await listenHealth(metricsListen, registry, readiness, metricsHosts, predecessor?.health);
  };
  const addresses = addressesToListenOn(options);
  const restored = thread.restored.then(({ isServing }) => isServing);
  let health: HealthListener | undefined;
  life.onStop(async () => health?.close());
  // The predecessor reports the node's health until this process can.
  if (predecessor === undefined && !(await Promise.race([restored, pause(QUICK_RESTORE_MS, false)]))) {
    health = await openHealth();
    const { tryAddresses } = await import('./try-addresses.ts');
    await tryAddresses(addresses).catch(refuse);
    await tryTlsAddresses(options);
  }
  const isServing = await restored;
  if (predecessor !== undefined) await untilCurrent(thread, isServing, life);
  else if (!isServing) await untilLoaded(thread, options);

  const settings = answerSettings(options);
  const rateLimit =
    options.responsesPerSecond === undefined ? undefined : new RateLimit(options.responsesPerSecond);
  const amplificationLimit =
    options.amplifiedOctetsPerSecond === undefined
      ? undefined
      : new AmplificationLimit(options.amplifiedOctetsPerSecond);
  const reportFailure = failureReporter(log, counters);
  /** @param position in `counters` and `zoneCounts` */
  const partsOf = (slot: number, position: number): AnswererParts => ({
    image: buffer,
    slot,
    settings,
    counters: options.counters.at(position) as SharedArrayBuffer,
    rateLimit: rateLimit?.buffer,
    amplificationLimit: amplificationLimit?.buffer,
    asked: options.asked,
    countries: options.countries,
    zoneCounts: options.zoneCounts.at(position),
  });
  // Must follow the restore, which replaces the seed of the image's hashes.
  const opened = openAnswerer({ Answerer }, partsOf(TCP_SLOT, 0), reportFailure);
  const answers = { ...opened, sampler: observer?.createSampler(opened.counters), slowPath };
  const inherited = predecessor?.addresses ?? [];
  life.onStop(async () => observer?.stop()); // after the threads that post samples
  life.onStop(async () => transfers?.stop()); // after the connections that wait for its answers
  tcp = await listenTcp(addresses, answers, { inherited }).catch(refuse);
  life.onStop(tcp.close);
  const udp = await listenUdp({
    addresses,
    io: options.dnsIo,
    threads: options.dnsThreads,
    xdp: xdpChoice(options),
    parts: (udpThread) => partsOf(FIRST_UDP_SLOT + udpThread, 1 + udpThread),
    slowPath,
    observer,
    loading,
    log,
    reportFailure,
    inherited,
  }).catch(refuse);
  thread.answering();
  life.onStop(udp.close);
  if (udp.io === 'koffi') xdp = udp.xdp;
  tls = await startTls(options, {
    thread: { ...partsOf(TLS_SLOT, -1), inherited },
    files: tlsFiles,
    slowPath,
    observer,
    log,
    reportFailure,
  });
  life.onStop(async () => tls?.stop());
  if (predecessor === undefined) health ??= await openHealth();
  if (user !== undefined) giveDirectory([snapshotDirectory], user); // including the files written so far
  dropRights(user, log);
  observer?.start(); // so that its files belong to the user, who opens them again after a rotation
  if (udp.io === 'dgram') warnOfWildcard(options);
  if (isServing) await untilJudged(thread, life);
  health ??= await openHealth();
  isListening = true;
  const { zones, records } = image;
  const { dotListen, dohListen, dohPlainListen } = options;
  const encrypted = { dot: dotListen, doh: dohListen, dohPlain: dohPlainListen };
  log.info({ addresses, ...encrypted, metrics: health.address, zones, records, io: udp.io }, 'ready');
  if (predecessor !== undefined) {
    const { notifyMainProcess } = await import('./handover/start-successor.ts');
    notifyMainProcess(await openLibc(), options.environment.NOTIFY_SOCKET);
    await predecessor.release(tcp.adopt);
    xdp?.activateInherited();
    thread.predecessorEnded();
  }
  // Reported last: if this process ends earlier, its parent lets the predecessor continue.
  life.ready({ addresses });
  if (udp.io === 'koffi') {
    const { offerSockets } = await import('./offer-sockets.ts');
    await offerSockets({ ...options, addresses, tcp, udp, tls, health });
  }
  if (slowPath === undefined) thread.watch(false);
  else transfers = await startTransfers(options, settings, slowPath, amplificationLimit);
}

function xdpChoice(options: ServeOptions): UdpOptions['xdp'] {
  const { dnsIo, xdpInterfaces, xdpQueues, predecessor } = options;
  const inherited = predecessor?.xdp ?? [];
  if (dnsIo !== 'xdp' && xdpInterfaces.length > 0)
    options.log.warn({}, 'XDP_INTERFACES has no effect unless DNS_IO is xdp');
  if (dnsIo !== 'xdp' && inherited.length === 0) return undefined;
  return { interfaces: dnsIo === 'xdp' ? xdpInterfaces : [], maxQueues: xdpQueues, inherited };
}

/** Loads the code and starts the thread. Called last, so that it does not delay the start of the node. */
async function startTransfers(
  options: ServeOptions,
  settings: SharedAnswerSettings,
  slowPath: SlowPath,
  amplificationLimit: AmplificationLimit | undefined,
): Promise<TransferThread> {
  const { startTransferThread } = await import('./slow-path/start-transfer-thread.ts');
  const { buffer, databaseUrl, nodeName, transfers, transfersMax, dnsUpdate, notifyRate } = options;
  const { notifySource, tsigSecrets } = options;
  return startTransferThread({
    thread: {
      buffer,
      slot: TRANSFER_SLOT,
      settings: { ...settings, hasTransfers: false },
      counters: options.counters.at(TRANSFER_COUNTERS) as SharedArrayBuffer,
      amplificationLimit: amplificationLimit?.buffer,
      countries: options.countries,
      databaseUrl,
      readUrl: options.databaseReadUrl,
      nodeName,
      transfers,
      transfersMax,
      dnsUpdate,
      notifyRate,
      notifySource,
      tsigSecrets,
      dnsListen: addressesToListenOn(options),
    },
    slowPath,
    image: options.thread,
    log: options.log,
  });
}

/** Returns undefined if no answers are sampled. */
function observerOf(options: ServeOptions, counters: readonly QueryCounters[]): Observer | undefined {
  const { dnstap, queryLog, queryLogClient, sampleInterval, nodeName, log } = options;
  if (dnstap === undefined && queryLog === undefined) return undefined;
  return createObserver({
    dnstap,
    queryLog,
    queryLogClient,
    nodeName,
    version: `zonefleet ${options.version}`,
    interval: sampleInterval,
    counters: counters[TCP_SLOT] as QueryCounters,
    log,
  });
}

function hasTransferThread({ transfers, dnsUpdate }: ServeOptions): boolean {
  return transfers !== 'off' || dnsUpdate;
}

function waiting(reason: string): Readiness {
  return { kind: 'waiting', reason };
}

function answerSettings(options: ServeOptions): SharedAnswerSettings {
  return {
    nodeName: options.nodeName,
    version: `zonefleet ${options.version}`,
    cookieSecrets: options.cookieSecrets,
    tcpIdleTimeoutMs: DEFAULT_TCP_LIMITS.idleTimeoutMs,
    hasTransfers: hasTransferThread(options),
  };
}

function failureReporter(log: Log, counters: readonly QueryCounters[]): (error: unknown) => void {
  // Not every failure is logged. The counter includes all of them.
  return throttled((error) => {
    const { failed } = sumCounters(counters);
    log.error({ err: error, failed }, 'unhandled error in query, answered SERVFAIL');
  });
}

function addressesToListenOn({ dnsListen, dnsListenIsDefault, log }: ServeOptions): ListenAddress[] {
  const loopbacks = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  if (!dnsListenIsDefault || loopbacks.some(({ address }) => address === '::1')) return [...dnsListen];
  log.warn({}, 'this machine has no IPv6 loopback address: DNS_LISTEN uses only IPv4');
  return dnsListen.filter(({ address }) => !address.includes(':'));
}

function warnOfWildcard({ dnsListen, log }: ServeOptions): void {
  const wildcard = dnsListen.find(({ address }) => address === '0.0.0.0' || address === '::');
  if (wildcard === undefined) return;
  log.warn(
    { address: wildcard.address },
    'DNS_LISTEN: UDP answers are sent from the address of the route to the client; if the machine has several addresses, list each of them',
  );
}

function refuse(error: unknown): never {
  throw listenFault('DNS_LISTEN', error);
}
