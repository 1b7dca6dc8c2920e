// The workers process: brings due checks into the queue, and runs checks that come out of it. It waits for Postgres and
// for the queue however long they are gone. Ends within a second, and gives back what it was working on.

import { setTimeout as pause } from 'node:timers/promises';
import { UNKNOWN_PENDING_MAX_MS } from '../src/checks/next-status.ts';
import { type Config, type ListenAddress, readConfig } from '../src/config.ts';
import { type HealthListener, listenHealth, type Readiness } from '../src/listen-health.ts';
import { type Log, openLog } from '../src/log.ts';
import { CheckQueue } from '../src/queue/check-queue.ts';
import { runCheckWorker } from '../src/queue/check-worker.ts';
import { migrateQueue, type QueuePlace } from '../src/queue/connection.ts';
import { openRedisLeases } from '../src/queue/redis-leases.ts';
import { type Network, parseNetwork } from '../src/resolver/address-rules.ts';
import { createExchange } from '../src/resolver/exchange.ts';
import { watchIpv6 } from '../src/resolver/has-ipv6.ts';
import { AddressRates, type LeaseSource, QUESTIONS_PER_SECOND } from '../src/resolver/rate-leases.ts';
import { createResolver, type Resolver } from '../src/resolver/resolver.ts';
import { loadRootHints } from '../src/resolver/root-hints.ts';
import { type ProcessLife, runProcess } from '../src/run-process.ts';
import { StartFault } from '../src/start-fault.ts';
import { type Database, openDatabase } from '../src/store/database.ts';
import { requireDatabaseUrl } from '../src/store/database-url.ts';
import { checkSchema, SchemaError } from '../src/store/migrate.ts';
import { postgresLeases } from '../src/store/rate-leases.ts';
import { listenBoard } from './board.ts';
import { type CheckOutcome, createChecker } from './check-delegation.ts';
import { createWorkerMetrics } from './metrics.ts';
import { runSchedule } from './schedule.ts';
import { BreakerWatch } from './watch-breaker.ts';

const RETRY_MS = 1000;
/** `npm start` waits 1.5 s. */
const GRACE_MS = 400;
const MAX_CONNECTIONS = 10;
/** One line about the same trouble, however often it comes. */
const TROUBLE_LINE_MS = 10_000;
/** Jobs that wait for each that may run: half a minute's worth where every parent is silent. */
const WAITING_PER_RUN = 2;

async function start(config: Config, life: ProcessLife): Promise<void> {
  const log = openLog('workers', config.logLevel);
  const databaseUrl = requireDatabaseUrl(config);
  const place: QueuePlace = { databaseUrl, redisUrl: config.redisUrl };
  const db = openDatabase(databaseUrl, {
    maxConnections: MAX_CONNECTIONS,
    onError: (error) => log.warn({ err: error }, 'an idle connection to the database broke'),
  });
  life.onStop(() => db.destroy());
  const tellOf = seldom(log);
  let isStarted = false;
  const queue = new CheckQueue(place, {
    onTrouble: (error) => isStarted && tellOf('queue', error), // before, it may not be there yet
  });
  life.onStop(() => queue.close());

  const resolver = await openResolver(config, db, life, (error) => tellOf('leases', error));
  const breaker = new BreakerWatch(db, {
    onTrouble: (error) => {
      metrics.countTrouble('breaker');
      tellOf('breaker', error);
    },
    onChange: (told) => log.warn(told, told.ended ? 'moves are let through again' : 'moves are held back'),
  });
  let running = () => 0;
  const metrics = createWorkerMetrics({
    depth: () => queue.depth(),
    running: () => running(),
    packets: () => ({ ...resolver.packets() }),
    held: () => breaker.held(),
  });
  const health = await listen('METRICS_LISTEN', config.metricsListen, (address) =>
    listenHealth(address, metrics.registry, () =>
      readiness(queue, () => isStarted && !life.stopping.aborted),
    ),
  );
  life.onStop(() => health.close());
  const board = await openBoard(config, queue, log, life);

  await prepare(db, place, log, life);
  await breaker.start();
  life.onStop(() => breaker.stop());
  const { movedAfterMs, movedGraceMs, pendingMaxMs } = config.checkRules;
  const checker = createChecker({
    db,
    resolver,
    breaker,
    rules: { movedAfterMs, movedGraceMs, pendingMaxMs, unknownPendingMaxMs: UNKNOWN_PENDING_MAX_MS },
    onOutcome(outcome) {
      metrics.countOutcome(outcome);
      logTransition(log, outcome);
    },
  });
  const worker = runCheckWorker(place, checker, {
    concurrency: config.checkConcurrency,
    onTrouble(error) {
      metrics.countTrouble('queue');
      tellOf('queue', error);
    },
    onFailed(job, error, isDead) {
      metrics.countFailure(isDead);
      log.error({ err: error, ...job, dead: isDead }, 'a check failed');
    },
  });
  running = worker.running;
  life.onStop(() => worker.stop(GRACE_MS));
  const schedule = runSchedule({
    db,
    queue,
    room: config.checkConcurrency * WAITING_PER_RUN,
    onTrouble(error) {
      metrics.countTrouble('schedule');
      tellOf('schedule', error as Error);
    },
  });
  life.onStop(() => schedule.stop());
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
  const resolver = createResolver({
    exchange,
    rootServers,
    allowed,
    rates: new AddressRates(QUESTIONS_PER_SECOND, openLeases(config, db, life, onTrouble), Date.now),
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

function openLeases(
  { redisUrl }: Config,
  db: Database,
  life: ProcessLife,
  onTrouble: (error: Error) => void,
): LeaseSource {
  if (redisUrl === undefined) return postgresLeases(db, QUESTIONS_PER_SECOND);
  const leases = openRedisLeases(redisUrl, QUESTIONS_PER_SECOND, onTrouble);
  life.onStop(() => leases.close());
  return leases;
}

/** Nobody asked for the default address: where another program has it, there is no board. */
async function openBoard(
  { boardListen, boardListenIsDefault }: Config,
  queue: CheckQueue,
  log: Log,
  life: ProcessLife,
): Promise<HealthListener | undefined> {
  if (boardListen === undefined) return undefined;
  try {
    const board = await listen('BOARD_LISTEN', boardListen, (address) => listenBoard(address, queue));
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

/** What cannot be reached may come; an older schema is a mistake, since `migrate` comes first. */
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

async function readiness(queue: CheckQueue, isRunning: () => boolean): Promise<Readiness> {
  if (!isRunning()) return { kind: 'waiting', reasons: ['it is being started or stopped'] };
  try {
    await queue.depth();
    return { kind: 'ready' };
  } catch (error) {
    return { kind: 'waiting', reasons: [(error as Error).message] };
  }
}

function logTransition(log: Log, outcome: CheckOutcome): void {
  if (outcome.kind !== 'saved' || outcome.transition === undefined) return;
  const { name, checkId, verdict, transition } = outcome;
  log.info({ domain: name, ...transition, verdict, check: checkId }, 'status changed');
}

function seldom(log: Log): (of: string, error: Error) => void {
  const toldAtMs = new Map<string, number>();
  return (of, error) => {
    if (performance.now() - (toldAtMs.get(of) ?? Number.NEGATIVE_INFINITY) < TROUBLE_LINE_MS) return;
    toldAtMs.set(of, performance.now());
    log.warn({ err: error, of }, 'a call failed; it is tried again');
  };
}

runProcess((life) => start(readConfig(process.env), life));
