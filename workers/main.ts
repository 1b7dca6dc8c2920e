// The workers process: puts due work into the queues, and runs the jobs in them. It waits for Postgres and the queue
// for any time. When stopped, it ends within a second, and returns unfinished jobs to their queues.

import { Slots } from '../src/checks/shares/slots.ts';
import { EVERY_KIND, QUEUES, RETENTION_OF_FEATURES } from '../src/features/every-feature.ts';
import { AccountShares, shareSlotTime } from '../src/jobs/account-shares.ts';
import { migrateQueue, type QueuePlace } from '../src/jobs/connection.ts';
import { CHECK_DELEGATION } from '../src/jobs/jobs.ts';
import { RunningJobs } from '../src/jobs/run-jobs.ts';
import { openMailer } from '../src/mail/mailer.ts';
import { openCountryDb } from '../src/process/country-db.ts';
import { dropRights } from '../src/process/drop-rights.ts';
import { listenHealth, type Readiness } from '../src/process/listen-health.ts';
import { openLog } from '../src/process/log.ts';
import { warnOncePerMinute } from '../src/process/reconnect.ts';
import { chooseUser, loadAccounts } from '../src/process/run-as.ts';
import { type ProcessLife, runProcess } from '../src/process/run-process.ts';
import { readSettings, type SettingsOf } from '../src/process/settings/read-settings.ts';
import { openAsnDb } from '../src/resolver/asn-db.ts';
import { loadCheckDelay } from '../src/store/checks/check-delay.ts';
import { openDatabase } from '../src/store/postgres/database.ts';
import { databaseReadiness, waitForDatabase } from '../src/store/postgres/database-readiness.ts';
import { requireDatabaseUrl } from '../src/store/postgres/database-url.ts';
import { KeyBoxes, useKeyBoxes } from '../src/store/secrets/key-boxes.ts';
import { createWorkerMetrics, type WorkerMetrics } from './metrics/metrics.ts';
import { openResolver } from './open-resolver.ts';
import { readTrustAnchors } from './root-files.ts';
import { runHousekeeping } from './rounds/housekeeping.ts';
import { shareSilences } from './rounds/share-silences.ts';
import { sweepNames } from './rounds/sweep-names.ts';
import { AnchorWatch } from './rounds/watch-anchors.ts';
import { BreakerWatch } from './rounds/watch-breaker.ts';
import { PoolWatch } from './rounds/watch-pool.ts';
import { VantageWatch } from './rounds/watch-vantages.ts';
import { startAnalytics } from './start-analytics.ts';
import { startFeatures } from './start-features.ts';
import { startJobs } from './start-jobs.ts';
import { startRegions } from './start-regions.ts';
import { startSigning } from './start-signing.ts';
import { VantageAsker } from './vantage/ask-vantages.ts';

type Settings = SettingsOf<'workers'>;
type Trouble = Parameters<WorkerMetrics['countTrouble']>[0];

/** How long jobs may take to end. `npm start` waits 1.5 s. */
const GRACE_MS = 400;
const MAX_CONNECTIONS = 10;
const CALL_FAILED = 'call failed, retrying';
/** Maximum number of faults of the nameserver pool in one log line. */
const LOGGED_FAULTS = 10;

async function start(settings: Settings, life: ProcessLife): Promise<void> {
  const log = openLog('workers', settings.logLevel);
  for (const warning of settings.warnings) log.warn(warning);
  const warn = warnOncePerMinute(log);
  const databaseUrl = requireDatabaseUrl(settings);
  const user = chooseUser(settings.runAs, loadAccounts());
  const place: QueuePlace = { databaseUrl, redisUrl: settings.redisUrl };
  const db = openDatabase(databaseUrl, {
    maxConnections: MAX_CONNECTIONS,
    onError: (error) => warn(error, 'an idle connection to the database broke'),
  });
  life.onStop(() => db.destroy());
  const keyBoxes = new KeyBoxes(settings.keySecrets);
  useKeyBoxes(db, keyBoxes);
  let isStarted = false;
  let regions: ReturnType<typeof startRegions> | undefined;
  const jobs = new RunningJobs(EVERY_KIND, {
    place,
    log,
    onQueueTrouble(error) {
      if (isStarted) trouble('queue', error); // before the start, the queue may not exist yet
    },
    onRoundTrouble: failed('schedule'),
    onFailed: (isDead) => metrics.countFailure(isDead),
  });
  life.onStop(() => jobs.close());

  const countryOf = await openCountryDb(settings.countryDb);
  const asnOf = await openAsnDb(settings.asnDb);
  const anchors = new AnchorWatch({
    db,
    configured: await readTrustAnchors(settings),
    observe: (signal) => resolver.observeRootKeys({ signal }),
    onChange: (change) => log.info(change, 'a key of the root zone changed state'),
    onTrouble: failed('anchors'),
  });
  const { resolver, silences } = await openResolver(settings, db, life, {
    trustAnchors: anchors.current,
    onTrouble: (error) => warn(error, CALL_FAILED, 'leases'),
    onRootFault: (fault) =>
      log.error(
        { fault },
        'the root does not validate, so status changes wait: see docs/operating/workers.md "Trust anchors"',
      ),
  });
  const breaker = new BreakerWatch(db, {
    onTrouble: failed('breaker'),
    onChange: (change) =>
      log.warn(
        change,
        change.ended ? 'the breaker allows status changes again' : 'the breaker holds status changes back',
      ),
  });
  const pool = new PoolWatch(db, {
    resolver,
    onFaults: (faults) =>
      log.warn(
        { faults: faults.slice(0, LOGGED_FAULTS), count: faults.length },
        'the nameserver pool has faults',
      ),
    onTrouble: failed('housekeeping'),
  });
  const observers = new VantageWatch(db, {
    asnOf,
    onAway: (away) =>
      log.warn(
        { away },
        away.length > 0 ? 'observers elsewhere are unavailable' : 'all observers elsewhere are available',
      ),
    onTrouble: failed('vantages'),
  });
  const slots = new Slots(settings.checkConcurrency);
  const vantages = new VantageAsker(db, {
    asnOf,
    slots,
    onAsked: (outcome) => metrics.countVantageAsk(outcome),
  });
  const metrics = createWorkerMetrics({
    depths: () => jobs.depths(),
    checkDelay: () => loadCheckDelay(db),
    running: () => jobs.running(CHECK_DELEGATION),
    packets: () => ({ ...resolver.packets() }),
    held: () => breaker.held(),
    pool: () => pool.state(),
    vantages: () => observers.state(),
    hasRootFault: () => resolver.hasRootFault(),
    slots,
  });
  function trouble(of: Trouble, error: Error): void {
    metrics.countTrouble(of);
    warn(error, CALL_FAILED, of);
  }
  function failed(of: Trouble): (error: unknown) => void {
    return (error) => trouble(of, error as Error);
  }
  function keep<T extends { stop(): Promise<unknown> }>(part: T): T {
    life.onStop(() => part.stop());
    return part;
  }
  const databaseState = databaseReadiness(db);
  const isRunning = () => isStarted && !life.stopping.aborted;
  const health = await listenHealth(
    settings.metricsListen,
    metrics.registry,
    async () => {
      const state = await readiness(jobs, databaseState, isRunning);
      return state.kind === 'ready'
        ? {
            ...state,
            warnings: [...pool.warnings(), ...observers.warnings(), ...(regions?.warnings() ?? [])],
          }
        : state;
    },
    settings.metricsHosts,
  );
  life.onStop(() => health.close());
  dropRights(user, log);

  await waitForDatabase(db, { log, signal: life.stopping }, async () => {
    await migrateQueue(place, QUEUES);
    if (keyBoxes.canSeal) await keyBoxes.check(db);
    await breaker.start();
  });
  keep(breaker);
  anchors.start();
  keep(anchors);
  life.onStop(() => jobs.stop(GRACE_MS));
  const shares = new AccountShares();
  keep(shareSlotTime(db, shares, { onTrouble: failed('schedule') }));
  keep(shareSilences(db, silences, { onTrouble: failed('schedule') }));
  const { smtpUrl, mailFrom } = settings;
  const mailer = smtpUrl === undefined ? undefined : openMailer(smtpUrl, mailFrom);
  life.onStop(async () => mailer?.close());
  const store = startAnalytics(settings.analyticsUrl, metrics.registry, log);
  const tools = { db, resolver, registry: metrics.registry, shares, sendsMail: mailer !== undefined };
  startJobs(jobs, tools, {
    settings,
    metrics,
    breaker,
    slots,
    vantages,
    countryOf,
    asnOf,
    mailer,
  });
  keep(
    await startFeatures(jobs, {
      ...tools,
      settings,
      databaseUrl,
      log,
      onStop: (close) => life.onStop(close),
      analytics: store.analytics,
      trouble,
    }),
  );
  keep(store); // stopped before the features: closing it aborts the calls that their rounds wait for
  keep(
    runHousekeeping({
      db,
      retention: RETENTION_OF_FEATURES,
      onFault: (fault) => {
        metrics.countPublishFault();
        log.error(
          fault,
          'the published zone of a domain differs from its records: edit the domain to republish it, and report this bug',
        );
      },
      onTrouble: failed('housekeeping'),
    }),
  );
  keep(startSigning(db, metrics.registry, log, failed('signing')));
  regions = keep(startRegions(db, metrics.registry, log, failed('regions')));
  keep(
    sweepNames({
      db,
      resolver,
      slots,
      shares,
      onTrouble: failed('housekeeping'),
    }),
  );
  for (const watch of [pool, observers]) {
    watch.start();
    keep(watch);
  }
  isStarted = true;
  log.info({ metrics: health.address, redis: settings.redisUrl !== undefined }, 'ready');
  life.ready({ addresses: [] });
}

async function readiness(
  jobs: RunningJobs,
  databaseState: () => Promise<Readiness>,
  isRunning: () => boolean,
): Promise<Readiness> {
  if (!isRunning()) return { kind: 'waiting', reason: 'the process is starting or stopping' };
  const state = await databaseState(); // the queue may be in Redis
  if (state.kind !== 'ready') return state;
  try {
    await jobs.depth(CHECK_DELEGATION);
    return { kind: 'ready' };
  } catch (error) {
    return { kind: 'waiting', reason: (error as Error).message };
  }
}

runProcess((life) => start(readSettings(process.env, 'workers'), life));
