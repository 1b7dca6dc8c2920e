// The nameserver process: loads all zones, then listens, so that nobody gets a wrong answer meanwhile; follows the changes.
// Under `npm start` it tells its parent when it is ready or why it cannot be, and ends when the parent is gone.

import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { type Config, ConfigError, readConfig } from '../config.ts';
import { type Log, openLog } from '../log.ts';
import { openDatabase } from '../store/database.ts';
import { findDatabaseUrl } from '../store/database-url.ts';
import { checkSchema, SchemaError } from '../store/migrate.ts';
import { answerQuery, type ServedNode } from './answer-query.ts';
import { Cookies } from './cookies.ts';
import { type Following, followChanges } from './follow-changes.ts';
import { listenHealth } from './health.ts';
import { explainListenFault } from './listen-fault.ts';
import { createMetrics } from './metrics.ts';
import { QueryCounters } from './query-counters.ts';
import { RateLimit } from './rate-limit.ts';
import { NodeNameTakenError } from './report-position.ts';
import { DEFAULT_TCP_LIMITS, listenTcp, type TcpListener } from './tcp.ts';
import { type ListenAddress, listenUdp } from './udp.ts';

/** A start that the operator can mend: told in one line. */
class StartFault extends Error {}

const DATABASE_RETRY_MS = 1000;
const LOADED_POLL_MS = 5;
const STOP_TIMEOUT_MS = 4000;
const FAILURE_LOG_INTERVAL_MS = 1000;

/** What is to be closed, in the reverse order. */
const running: (() => Promise<void>)[] = [];
const stopping = new AbortController();

async function start(config: Config): Promise<void> {
  const log = openLog('nameserver', config.logLevel).child({ node: config.nodeName });
  const counters = new QueryCounters();
  let following: Following | undefined;
  let tcp: TcpListener | undefined;

  const registry = createMetrics(counters, {
    zones: () => following?.state().zones ?? 0,
    records: () => following?.state().records ?? 0,
    tcpConnections: () => tcp?.connections() ?? 0,
    feedLagSeconds: () => following?.state().lagSeconds,
    refusedZones: () => following?.state().refused ?? 0,
    heldZones: () => following?.state().held?.zones ?? 0,
  });
  const health = await listenHealth(config.metricsListen, registry, () => {
    if (stopping.signal.aborted) return { kind: 'waiting', reasons: ['it is being stopped'] };
    if (following === undefined)
      return { kind: 'waiting', reasons: ['the database has not been reached yet'] };
    if (!following.state().loaded) return { kind: 'waiting', reasons: ['zones are being loaded'] };
    return tcp === undefined ? { kind: 'waiting', reasons: ['it does not listen yet'] } : { kind: 'ready' };
  }).catch((error) => refuse('METRICS_LISTEN', error));
  running.push(health.close);

  const databaseUrl = whereIsDatabase(config);
  await waitForSchema(databaseUrl, log);
  following = await follow(config, databaseUrl, log);
  running.push(() => following?.stop() ?? Promise.resolve());
  while (!following.state().loaded) await pause(LOADED_POLL_MS, undefined, { signal: stopping.signal });

  const node = servedNode(config, following, counters, log);
  const answer: Parameters<typeof listenUdp>[1] = (query, out, client) =>
    answerQuery(query, out, client, node);
  const addresses = addressesToListenOn(config, log);
  const udp = await listenUdp(addresses, answer, counters).catch((error) => refuse('DNS_LISTEN', error));
  running.push(udp.close);
  tcp = await listenTcp(addresses, answer, counters).catch((error) => refuse('DNS_LISTEN', error));
  running.push(tcp.close);
  const { zones, records } = following.state();
  log.info({ addresses, metrics: health.address, zones, records }, 'ready');
  process.send?.({ kind: 'ready', addresses });
}

function servedNode(config: Config, following: Following, counters: QueryCounters, log: Log): ServedNode {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  let loggedAtMs = 0;
  return {
    zones: following.zones,
    nodeName: config.nodeName,
    version: `zonefleet ${version}`,
    cookies: new Cookies(config.cookieSecrets),
    rateLimit: config.responsesPerSecond === undefined ? undefined : new RateLimit(config.responsesPerSecond),
    tcpIdleTimeoutMs: DEFAULT_TCP_LIMITS.idleTimeoutMs,
    counters,
    nowMs: Date.now,
    reportFailure(error) {
      // Queries come by the thousand, and one bug is told well enough once a second; the counter has them all.
      if (Date.now() - loggedAtMs < FAILURE_LOG_INTERVAL_MS) return;
      loggedAtMs = Date.now();
      log.error({ err: error, failed: counters.failed }, 'a query met a bug and got SERVFAIL');
    },
  };
}

function whereIsDatabase({ databaseUrl, dataDirectory }: Config): string {
  const url = databaseUrl ?? findDatabaseUrl(dataDirectory);
  if (url !== undefined) return url;
  throw new StartFault(
    `DATABASE_URL is not set, and no "npm start" runs on ${dataDirectory}; start one, or set DATABASE_URL or DATA_DIR`,
  );
}

/** An unreachable database may come; an older schema is a mistake, since `migrate` comes first. */
async function waitForSchema(databaseUrl: string, log: Log): Promise<void> {
  const db = openDatabase(databaseUrl, { maxConnections: 1 });
  try {
    for (;;) {
      try {
        return await checkSchema(db);
      } catch (error) {
        if (error instanceof SchemaError) throw new StartFault(error.message);
        log.warn({ err: error }, 'the database cannot be reached');
      }
      await pause(DATABASE_RETRY_MS, undefined, { signal: stopping.signal });
    }
  } finally {
    await db.destroy();
  }
}

async function follow(config: Config, databaseUrl: string, log: Log): Promise<Following> {
  const { databaseReadUrl, nodeName } = config;
  try {
    return await followChanges({
      databaseUrl,
      nodeName,
      log,
      ...(databaseReadUrl === undefined ? {} : { readUrl: databaseReadUrl }),
    });
  } catch (error) {
    throw error instanceof NodeNameTakenError ? new StartFault(`NODE_NAME: ${error.message}`) : error;
  }
}

function addressesToListenOn({ dnsListen, dnsListenIsDefault }: Config, log: Log): ListenAddress[] {
  const wildcard = dnsListen.find(({ address }) => address === '0.0.0.0' || address === '::');
  if (wildcard !== undefined) {
    log.warn(
      { address: wildcard.address },
      'DNS_LISTEN: UDP answers leave from the address of the route back; with several addresses list each of them',
    );
  }
  const loopbacks = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  if (!dnsListenIsDefault || loopbacks.some(({ address }) => address === '::1')) return [...dnsListen];
  log.warn('this machine has no IPv6 loopback address: DNS_LISTEN goes on with IPv4');
  return dnsListen.filter(({ address }) => !address.includes(':'));
}

function refuse(setting: string, error: unknown): never {
  const fault = explainListenFault(setting, error);
  throw fault === undefined ? error : new StartFault(fault);
}

async function stop(exitCode: number): Promise<never> {
  if (stopping.signal.aborted) return new Promise(() => {}); // the first one ends the process
  stopping.abort();
  setTimeout(() => process.exit(1), STOP_TIMEOUT_MS).unref();
  for (let close = running.pop(); close !== undefined; close = running.pop()) await close();
  process.exit(exitCode);
}

function fail(error: unknown): void {
  if (stopping.signal.aborted) return;
  const known = error instanceof StartFault || error instanceof ConfigError;
  const reason = known ? error.message : ((error as Error).stack ?? String(error));
  if (process.send === undefined) process.stderr.write(`zonefleet: ${reason}\n`);
  else process.send({ kind: 'failed', reason });
  void stop(1);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stop(0));
process.on('disconnect', () => stop(0));
(async () => start(readConfig(process.env)))().catch(fail);
