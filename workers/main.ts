// The workers process: brings due work into the queues, and does the jobs in them. It waits for Postgres and the queue,
// however long they are gone. When stopped it ends within a second, and gives back unfinished jobs.

import { setTimeout as pause } from 'node:timers/promises';
import { type Config, type ListenAddress, readConfig } from '../src/process/config.ts';
import { openCountryDb } from '../src/process/country-db.ts';
import { dropRights } from '../src/process/drop-rights.ts';
import { type HealthListener, listenHealth, type Readiness } from '../src/process/listen-health.ts';
import { type Log, openLog } from '../src/process/log.ts';
import { chooseUser, loadAccounts } from '../src/process/run-as.ts';
import { type ProcessLife, runProcess } from '../src/process/run-process.ts';
import { StartFault } from '../src/process/start-fault.ts';
import { migrateQueue, type QueuePlace } from '../src/queue/connection.ts';
import type { JobQueue } from '../src/queue/job-queue.ts';
import type { CheckJob } from '../src/queue/jobs.ts';
import { openRedisLeases } from '../src/queue/redis-leases.ts';
import { createExchange } from '../src/resolver/exchange/exchange.ts';
import { watchIpv6 } from '../src/resolver/exchange/has-ipv6.ts';
import { createResolver, type Resolver } from '../src/resolver/resolver.ts';
import { type Network, parseNetwork } from '../src/resolver/state/address-rules.ts';
import { openPublicResolvers, PUBLIC_QUESTIONS_PER_SECOND } from '../src/resolver/state/public-resolvers.ts';
import { AddressRates, type LeaseSource, QUESTIONS_PER_SECOND } from '../src/resolver/state/rate-leases.ts';
import { loadRootHints } from '../src/resolver/state/root-hints.ts';
import { postgresLeases } from '../src/store/accounts/query-leases.ts';
import { checkSchema, SchemaError } from '../src/store/migrate/migrate.ts';
import { type Database, openDatabase } from '../src/store/postgres/database.ts';
import { requireDatabaseUrl } from '../src/store/postgres/database-url.ts';
import { listenBoard } from './board.ts';
import { runHousekeeping } from './housekeeping.ts';
import { openLines, startLines, type Trouble } from './job-lines.ts';
import { createWorkerMetrics } from './metrics.ts';
import { BreakerWatch } from './watch-breaker.ts';

const RETRY_MS = 1000;
/** How long jobs may take to end; `npm start` waits 1.5 s. */
const GRACE_MS = 400;
const MAX_CONNECTIONS = 10;
/** The interval of log lines about the same trouble; each tells how many failed calls it stands for. */
const TROUBLE_LINE_MS = 60_000;

async function start(config: Config, life: ProcessLife): Promise<void> {
  const log = openLog('workers', config.logLevel);
  const databaseUrl = requireDatabaseUrl(config);
  const user = chooseUser(config.runAs, loadAccounts());
  const place: QueuePlace = { databaseUrl, redisUrl: config.redisUrl };
  const db = openDatabase(databaseUrl, {
    maxConnections: MAX_CONNECTIONS,
    onError: (error) => log.warn({ err: error }, 'an idle connection to the database broke'),
  });
  life.onStop(() => db.destroy());
  const tellOf = seldom(log);
  let isStarted = false;
  const lines = openLines(place, (error) => {
    if (isStarted) trouble('queue', error); // before the start, the queue may not exist yet
  });
  const all = Object.values(lines);
  life.onStop(() => Promise.all(all.map((line) => line.close())));

  const countryOf = await openCountryDb(config.countryDb);
  const resolver = await openResolver(config, db, life, (error) => tellOf('leases', error));
  const breaker = new BreakerWatch(db, {
    onTrouble: (error) => trouble('breaker', error),
    onChange: (told) => log.warn(told, told.ended ? 'moves are let through again' : 'moves are held back'),
  });
  const metrics = createWorkerMetrics({
    depths: async () => {
      const depths = all.map(async (line) => [line.name, await line.queue.depth()] as const);
      return Object.fromEntries(await Promise.all(depths));
    },
    running: () => lines.checks.running(),
    packets: () => ({ ...resolver.packets() }),
    held: () => breaker.held(),
  });
  const trouble = (of: Trouble, error: Error) => {
    metrics.countTrouble(of);
    tellOf(of, error);
  };
  const health = await listen('METRICS_LISTEN', config.metricsListen, (address) =>
    listenHealth(
      address,
      metrics.registry,
      () => readiness(lines.checks.queue, () => isStarted && !life.stopping.aborted),
      config.metricsHosts,
    ),
  );
  life.onStop(() => health.close());
  const queues = all.map(({ queue }) => queue);
  const board = await openBoard(config, queues, log, life);
  dropRights(user, log);

  await prepare(db, place, log, life);
  await breaker.start();
  life.onStop(() => breaker.stop());
  life.onStop(() => Promise.all(all.map((line) => line.stop(GRACE_MS))));
  const { checkRules, checkConcurrency } = config;
  startLines(lines, {
    db,
    resolver,
    countryOf,
    breaker,
    metrics,
    log,
    checkRules,
    checkConcurrency,
    trouble,
  });
  const housekeeping = runHousekeeping({
    db,
    onFault: (fault) => {
      metrics.countPublishFault();
      log.error(
        fault,
        'a domain is not published as its records say: edit it to publish it anew, and report this bug',
      );
    },
    onTrouble: (error) => trouble('housekeeping', error as Error),
  });
  life.onStop(() => housekeeping.stop());
  isStarted = true;
  log.info({ metrics: health.address, board: board?.address, redis: config.redisUrl !== undefined }, 'ready');
  life.ready({ addresses: board === undefined ? [] : [board.address] });
}

async function openResolver(
  config: Config,
  db: Database,
  life: ProcessLife,
  onTrouble: (error: Error) => void,
): Promise<Resolver> {
  const allowed = config.resolverAllow.map((text) => parseNetwork(text) as Network);
  const rootServers = await readRootHints(config.rootHints);
  const exchange = createExchange({ port: config.dnsPortOut });
  const openLeases = leasesOf(config, db, life, onTrouble);
  const publicResolvers = openPublicResolvers(
    config.publicResolvers,
    openLeases(PUBLIC_QUESTIONS_PER_SECOND),
  );
  const resolver = createResolver({
    exchange,
    rootServers,
    allowed,
    rates: new AddressRates(QUESTIONS_PER_SECOND, openLeases(QUESTIONS_PER_SECOND), Date.now),
    ...(publicResolvers !== undefined && { publicResolvers }),
    hasIpv6: watchIpv6(config.resolverAllow.some((network) => network.includes(':'))),
  });
  life.onStop(() => resolver.close());
  return resolver;
}

async function readRootHints(path: string | undefined): Promise<ReturnType<typeof loadRootHints>> {
  try {
    return await loadRootHints(path);
  } catch (error) {
    throw new StartFault(`ROOT_HINTS: ${(error as Error).message}`);
  }
}

/** Where workers share the limits of questions to an address. */
function leasesOf(
  { redisUrl }: Config,
  db: Database,
  life: ProcessLife,
  onTrouble: (error: Error) => void,
): (perSecond: number) => LeaseSource {
  return (perSecond) => {
    if (redisUrl === undefined) return postgresLeases(db, perSecond);
    const leases = openRedisLeases(redisUrl, perSecond, onTrouble);
    life.onStop(() => leases.close());
    return leases;
  };
}

/** The default board address is optional: skipped when taken. */
async function openBoard(
  { boardListen, boardListenIsDefault }: Config,
  queues: readonly { readonly queue: unknown }[],
  log: Log,
  life: ProcessLife,
): Promise<HealthListener | undefined> {
  if (boardListen === undefined) return undefined;
  try {
    const board = await listen('BOARD_LISTEN', boardListen, (address) => listenBoard(address, queues));
    life.onStop(() => board.close());
    return board;
  } catch (error) {
    if (!boardListenIsDefault || !(error instanceof StartFault)) throw error;
    log.warn(`there is no board: ${error.message}`);
    return undefined;
  }
}

async function listen<T>(
  setting: string,
  address: ListenAddress,
  open: (address: ListenAddress) => Promise<T>,
): Promise<T> {
  try {
    return await open(address);
  } catch (error) {
    const { syscall, code } = error as NodeJS.ErrnoException;
    if (syscall !== 'listen' && syscall !== 'bind') throw error;
    const why = code === 'EADDRINUSE' ? 'is in use by another program' : `cannot be had (${code})`;
    const host = address.address.includes(':') ? `[${address.address}]` : address.address;
    throw new StartFault(`${setting}: ${host}:${address.port} ${why}`);
  }
}

/**
 * If the database or the queue cannot be reached the process waits; an older schema is a mistake, since `migrate` comes
 * first.
 */
async function prepare(db: Database, place: QueuePlace, log: Log, { stopping }: ProcessLife): Promise<void> {
  for (;;) {
    try {
      await checkSchema(db);
      await migrateQueue(place);
      return;
    } catch (error) {
      if (error instanceof SchemaError) throw new StartFault(error.message);
      log.warn({ err: error }, 'the database cannot be reached');
    }
    await pause(RETRY_MS, undefined, { signal: stopping });
  }
}

async function readiness(queue: JobQueue<CheckJob>, isRunning: () => boolean): Promise<Readiness> {
  if (!isRunning()) return { kind: 'waiting', reasons: ['it is being started or stopped'] };
  try {
    await queue.depth();
    return { kind: 'ready' };
  } catch (error) {
    return { kind: 'waiting', reasons: [(error as Error).message] };
  }
}

function seldom(log: Log): (of: string, error: Error) => void {
  const toldAtMs = new Map<string, number>();
  const untold = new Map<string, number>();
  return (of, error) => {
    const calls = (untold.get(of) ?? 0) + 1;
    const isSoon = performance.now() - (toldAtMs.get(of) ?? Number.NEGATIVE_INFINITY) < TROUBLE_LINE_MS;
    untold.set(of, isSoon ? calls : 0);
    if (isSoon) return;
    toldAtMs.set(of, performance.now());
    log.warn({ err: error, of, calls }, 'call failed, retrying');
  };
}

runProcess((life) => start(readConfig(process.env), life));
