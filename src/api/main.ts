// The API process. It listens first, then waits for the database. Until then, clients get a 503.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openAnalytics } from '../analytics/open-analytics.ts';
import { openGateways } from '../billing/gateway.ts';
import { networksOf } from '../dns/record/network.ts';
import { QUEUES, TAGS } from '../features/every-feature.ts';
import { COMPAT_ROUTES, EDGE_ROUTES, RESELLER_ROUTES, ROUTES } from '../features/every-route.ts';
import { openServices } from '../features/open-services.ts';
import { JobQueue } from '../jobs/job-queue.ts';
import { CHECK_DELEGATION, type JobKind, SCAN_IMPORT, VERIFY_TXT } from '../jobs/jobs.ts';
import { OpenQueues } from '../jobs/open-queues.ts';
import { openCountryDb } from '../process/country-db.ts';
import { dropRights } from '../process/drop-rights.ts';
import { listenFault } from '../process/listen-fault.ts';
import { listenHealth } from '../process/listen-health.ts';
import { type Log, openLog } from '../process/log.ts';
import { openFileLimit } from '../process/open-file-limit.ts';
import { warnOncePerMinute } from '../process/reconnect.ts';
import { chooseUser, giveDirectory, loadAccounts, type ProcessUser, rootPlaceOf } from '../process/run-as.ts';
import { type ProcessLife, runProcess } from '../process/run-process.ts';
import { readSettings, type SettingsOf } from '../process/settings/read-settings.ts';
import { StartFault } from '../process/start-fault.ts';
import { loadRootHints } from '../resolver/state/root-hints.ts';
import { ensureAdminKey } from '../store/accounts/first-admin.ts';
import { findPlan } from '../store/accounts/plans.ts';
import { openDatabase } from '../store/postgres/database.ts';
import { databaseReadiness, waitForDatabase } from '../store/postgres/database-readiness.ts';
import { requireDatabaseUrl } from '../store/postgres/database-url.ts';
import { KeyBoxes, useKeyBoxes } from '../store/secrets/key-boxes.ts';
import { createRateLimit } from './callers/rate-limits.ts';
import type { QueueState } from './calls/call.ts';
import { SlowCalls } from './calls/slow-calls.ts';
import { serveBoard } from './console/board/serve-board.ts';
import { serveConsole } from './console/serve-console.ts';
import { describeRoutes } from './description/describe-routes.ts';
import { addDocsPage } from './description/docs-page.ts';
import { EdgeFeed } from './edge/edge-feed.ts';
import { listenForEdges, pathsBesideEdges } from './edge-listener.ts';
import { EventFeed } from './events/event-feed.ts';
import { addHealth } from './health.ts';
import { API_LIMITS, listenHttp } from './http/listen.ts';
import { OutageLog } from './http/outage-log.ts';
import { createServer } from './http/server.ts';
import { LargeWork } from './large/large-work.ts';
import { createApiMetrics } from './metrics.ts';
import { openPeople } from './people/people.ts';
import { openPublicChecks } from './public/open-public-checks.ts';
import type { PublicChecks } from './public/public-checks.ts';
import { openRequests } from './requests/open-requests.ts';
import { runUpdates } from './updates/run-updates.ts';

type Settings = SettingsOf<'API'>;

const BUILT_CONSOLE = fileURLToPath(new URL('../../console/dist', import.meta.url));
const MAX_CONNECTIONS = 20;
const SESSION_REQUESTS_PER_MINUTE = 600;
/** Per credential. */
const RESELLER_REQUESTS_PER_MINUTE = 600;
const FAULT_LINE_MS = 60_000;
/** Number of open files that are reserved for other uses than connections of the API. */
const RESERVED_FILES = 200;
const STANDBY_AFTER_MS = 1000;
const DRAIN_MS = 1000; // `npm start` waits 1.5 s

async function start(settings: Settings, life: ProcessLife): Promise<void> {
  const log = openLog('api', settings.logLevel);
  for (const warning of settings.warnings) log.warn(warning);
  const warn = warnOncePerMinute(log);
  const databaseUrl = requireDatabaseUrl(settings);
  const user = chooseUser(settings.runAs, loadAccounts());
  const db = openDatabase(databaseUrl, {
    maxConnections: MAX_CONNECTIONS,
    onError: (error) => warn(error, 'an idle connection to the database broke'),
  });
  life.onStop(() => db.destroy());
  const place = { databaseUrl, redisUrl: settings.redisUrl };
  const portOf = <J extends object>(kind: JobKind<J>) => {
    const queue = new JobQueue(place, kind, {
      onTrouble: (error) => log.debug({ err: error }, 'a call of the queue failed'), // the caller receives the error too
    });
    life.onStop(() => queue.close());
    return { enqueueNow: (job: J) => queue.enqueueNow(job) };
  };
  const openQueues = new OpenQueues(place, QUEUES);
  life.onStop(() => openQueues.close());
  const queues = QUEUES.map((name): QueueState => ({ name, depth: () => openQueues.open(name).depth() }));

  const keyBoxes = new KeyBoxes(settings.keySecrets);
  useKeyBoxes(db, keyBoxes);
  const metrics = createApiMetrics();
  const outages = new OutageLog(log);
  const databaseState = databaseReadiness(db, () => outages.lacking());
  let isPrepared = false;
  const readiness: typeof databaseState = async () => {
    if (life.stopping.aborted) return { kind: 'waiting', reason: 'the process is stopping' };
    const state = await databaseState();
    // Before that, a BOOTSTRAP_API_KEY would be answered with 401.
    return state.kind === 'ready' && !isPrepared
      ? { kind: 'waiting', reason: 'the encryption keys are being checked' }
      : state;
  };
  const health = await listenHealth(
    settings.metricsListen,
    metrics.registry,
    readiness,
    settings.metricsHosts,
  );
  life.onStop(() => health.close());

  const { allowReservedNames, countryDb, claimsPerAccount, trial, signsNewDomains } = settings;
  const newDomains = { claimsPerAccount, trial, signsNewDomains };
  const largeWork = new LargeWork({
    databaseUrl,
    keySecrets: settings.keySecrets,
    allowReservedNames,
    originAllow: settings.originAllow,
    countryDb,
    newDomains,
  });
  life.onStop(() => largeWork.close());

  const edgeFeed = new EdgeFeed({ db, databaseUrl, log });
  const services = await openServices({
    db,
    databaseUrl,
    settings,
    registry: metrics.registry,
    edgeFeed,
    log,
    onStop: (close) => life.onStop(close),
  });
  const eventFeed = new EventFeed({ db, databaseUrl, log });
  const countryOf = await openCountryDb(countryDb);
  const originAllow = networksOf(...settings.originAllow);
  const analytics = settings.analyticsUrl === undefined ? undefined : openAnalytics(settings.analyticsUrl);
  life.onStop(async () => analytics?.close());
  let requests: Awaited<ReturnType<typeof openRequests>> | undefined;
  life.onStop(async () => requests?.close()); // after the listeners
  const rateLimit =
    settings.apiRequestsPerMinute === undefined
      ? undefined
      : createRateLimit(db, settings.apiRequestsPerMinute);
  const app = await createServer({
    api: {
      db,
      domainRate: rateLimit,
      edgeFeed,
      eventFeed,
      services,
      analytics,
      allowReservedNames,
      ...newDomains,
      maxNegativeRials: settings.resellerMaxNegativeRials,
      payments: {
        gateways: openGateways(onlineGateway(settings)),
        instructions: settings.paymentInstructions,
        seller: settings.invoiceSeller,
      },
      issuesCertificates: settings.acmeDirectory !== undefined,
      movedGraceMs: settings.checkRules.movedGraceMs,
      checks: portOf(CHECK_DELEGATION),
      verifications: portOf(VERIFY_TXT),
      scans: portOf(SCAN_IMPORT),
      queues,
      slowCalls: new SlowCalls(),
      publicChecks: await publicChecksOf(settings, life),
      countVantageAnswer: metrics.countVantageAnswer,
      countryOf,
      originAllow,
      get requests() {
        return requests?.intake;
      },
      people: openPeople(db, keyBoxes, {
        publicUrl: settings.publicUrl,
        sendsMail: settings.smtpUrl !== undefined,
        registration: settings.registration,
        operatorsNeedProvider: settings.oidcRequired === 'operators',
        operatorsConfirmWithProvider: settings.oidcRequired === 'operators' && settings.oidcConfirm,
      }),
    },
    routes: ROUTES,
    resellerRoutes: RESELLER_ROUTES,
    edgeRoutes: EDGE_ROUTES,
    compatRoutes: COMPAT_ROUTES.filter(({ compat }) =>
      compat?.name === 'pdns' ? settings.pdnsApi : settings.compatApi,
    ),
    rateLimit,
    sessionRateLimit: createRateLimit(db, SESSION_REQUESTS_PER_MINUTE),
    resellerRateLimit: createRateLimit(db, RESELLER_REQUESTS_PER_MINUTE),
    trustedProxies: settings.trustedProxies,
    log,
    outages,
    largeWork,
    async prepare(server) {
      metrics.watch(server);
      addHealth(server, readiness);
      await describeRoutes(server, {
        routes: [...ROUTES, ...RESELLER_ROUTES],
        edgeRoutes: EDGE_ROUTES,
        ...TAGS,
      });
      addDocsPage(server, { hasConsole: settings.console });
      if (settings.console) {
        serveBoard(server, () => openQueues.all());
        const hasPublicCheck = settings.publicCheck;
        serveConsole(server, settings.consoleFiles ?? BUILT_CONSOLE, { hasPublicCheck });
      }
    },
  });
  const common = { limits: apiLimits(settings, log), onError: acceptFaults(log) };
  const listenOptions = { ...common, routes: ROUTES, ...pathsBesideEdges(settings) };
  life.onStop(() => app.close());
  const listeners = await listenHttp(app, settings.apiListen, listenOptions).catch((error: unknown) => {
    throw listenFault('API_LISTEN', error);
  });
  life.onStop(() => listeners.close(DRAIN_MS));
  const edgeListeners = await listenForEdges(app, settings, { ...common, log, user });
  life.onStop(async () => edgeListeners?.close(DRAIN_MS));
  life.onStop(() => edgeFeed.close());
  life.onStop(() => eventFeed.close());
  const { addresses } = listeners;
  const spoolDirectory = analytics === undefined ? undefined : placeSpool(settings, user);
  dropRights(user, log);
  if (analytics !== undefined && spoolDirectory !== undefined) {
    const wholeClients = settings.analyticsClients === 'full';
    const spool = { directory: spoolDirectory, mostBytes: settings.spoolBytes };
    requests = await openRequests({ db, analytics, log, metrics, wholeClients, ...spool }).catch((error) => {
      throw new StartFault(`ANALYTICS_SPOOL: cannot write to ${spoolDirectory} (${error.message})`);
    });
  }
  await waitForDatabase(db, { log, signal: life.stopping }, async () => {
    await keyBoxes.check(db);
    if (settings.bootstrapApiKey !== undefined) await ensureAdminKey(db, settings.bootstrapApiKey);
  });
  isPrepared = true;
  if (settings.dnsUpdate) {
    const { tsigSecrets, updatesPerSecond: perSecond } = settings;
    const { registry } = metrics;
    const updates = { db, databaseUrl, tsigSecrets, perSecond, registry, log, countryOf, originAllow };
    const runner = runUpdates(updates);
    life.onStop(() => runner.stop());
  }
  const trialSlug = settings.trial?.planSlug ?? null;
  if ((await findPlan(db, trialSlug)) === undefined) {
    throw new StartFault(`TRIAL: the plan "${trialSlug}" does not exist`);
  }
  const edges = edgeListeners === undefined ? {} : { edges: edgeListeners.addresses };
  log.info({ addresses, ...edges, metrics: health.address }, 'ready');
  life.ready({ addresses });
  // Deferred, so that it does not delay the start.
  const standby = setTimeout(() => prepareLargeWork(largeWork, log), STANDBY_AFTER_MS).unref();
  life.onStop(async () => clearTimeout(standby));
}

async function publicChecksOf(settings: Settings, life: ProcessLife): Promise<PublicChecks | undefined> {
  if (!settings.publicCheck) return undefined;
  const rootServers = await loadRootHints(settings.rootHints).catch((error) => {
    throw new StartFault(`ROOT_HINTS: ${error.message}`);
  });
  const opened = openPublicChecks({
    rootServers,
    port: settings.dnsPortOut,
    allowed: networksOf(...settings.resolverAllow),
    hasPrivateIpv6: settings.resolverAllow.some((network) => network.includes(':')),
  });
  life.onStop(() => opened.close());
  return opened.checks;
}

function onlineGateway({ paymentUrl: url, paymentSecret: secret }: Settings) {
  if (url !== undefined && secret !== undefined) return { url, secret };
  if (url === undefined && secret === undefined) return undefined;
  throw new StartFault('PAYMENT_URL and PAYMENT_SECRET: set both, or none');
}

/** Returns a directory under DATA_DIR, or in the alternative place of root if the new user cannot enter it. */
function placeSpool({ spoolDirectory, dataDirectory }: Settings, user: ProcessUser | undefined): string {
  const place = spoolDirectory ?? join(dataDirectory, 'spool');
  if (user === undefined) return place;
  const places = spoolDirectory === undefined ? [place, join(rootPlaceOf(dataDirectory), 'spool')] : [place];
  return giveDirectory(places, user);
}

/** If the system cannot start a thread now, the first large request retries. */
function prepareLargeWork(largeWork: LargeWork, log: Log): void {
  try {
    largeWork.prepare();
  } catch (error) {
    log.warn({ err: error }, 'the thread for large requests cannot be started');
  }
}

/** Limits the connections, because the open files of the process also serve the database and other uses. */
function apiLimits({ apiConnections, apiConnectionsPerNetwork: perNetwork, apiListen }: Settings, log: Log) {
  const files = openFileLimit();
  const room = Math.floor((files - RESERVED_FILES) / apiListen.length);
  if (room < apiConnections) {
    log.warn(
      `API_CONNECTIONS: at most ${files} files may be open (ulimit -n): ${room} instead of ${apiConnections}`,
    );
  }
  return { ...API_LIMITS, perNetwork, connections: Math.min(apiConnections, room) };
}

/** Logs at most one line per minute, because each waiting client causes another error. */
function acceptFaults(log: Log): (error: Error) => void {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (performance.now() - loggedAtMs < FAULT_LINE_MS) return;
    loggedAtMs = performance.now();
    log.warn(`a connection could not be accepted: ${error.message}`);
  };
}

runProcess((life) => start(readSettings(process.env, 'API'), life));
