// `npm start`: starts the database, the schema, the demo, then the processes; stops them in reverse order. It never
// asks: what is missing is created, and obstacles are reported in one line.

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseName } from '../dns/name.ts';
import { hidePasswords } from '../process/hide-passwords.ts';
import { type ListenAddress, printListenAddress } from '../process/listen-address.ts';
import { type Log, openLog } from '../process/log.ts';
import { linkTo } from '../process/public-link.ts';
import { chooseUser, loadAccounts, type ProcessUser, rootPlaceOf } from '../process/run-as.ts';
import { readSettings, type SettingsOf } from '../process/settings/read-settings.ts';
import type { ProcessName } from '../process/settings/setting.ts';
import { StartFault } from '../process/start-fault.ts';
import { migrateQueue } from '../queue/connection.ts';
import { createFirstAdminKey, ensureFirstAdmin } from '../store/accounts/first-admin.ts';
import { findDomain } from '../store/domains/load-domains.ts';
import { loadSampleApex } from '../store/migrate/first-start.ts';
import { migrate } from '../store/migrate/migrate.ts';
import { makeLink } from '../store/people/account-links.ts';
import { type Database, openDatabase } from '../store/postgres/database.ts';
import { publishDatabaseUrl, withdrawDatabaseUrl } from '../store/postgres/database-url.ts';
import { loadRecordsAt } from '../store/records/load-touched-records.ts';
import { setRolePasswords } from '../store/roles/roles.ts';
import { useKeyBoxes } from '../store/secrets/database-keys.ts';
import { KeyBoxes } from '../store/secrets/key-boxes.ts';
import { analyticsOf } from './analytics-place.ts';
import { consoleFolder, keepConsoleBuilt } from './console/build-console.ts';
import { DEMO_APEX, DEMO_NAME, loadDemoOnce } from './demo.ts';
import { type KeptAnalytics, openKeptAnalytics } from './keep-analytics.ts';
import { judgeDemoSettings, openDemo } from './keep-demo.ts';
import { ensureKeySecrets } from './key-secrets.ts';
import { keepPostgres } from './postgres/keep-postgres.ts';
import { environmentOf, environmentOfProgram, environmentWithoutSettings } from './process-environment.ts';
import { readArguments } from './read-arguments.ts';
import { openToRoles, type RoleUrls, roleUrls } from './role-urls.ts';
import { SupervisedProcess } from './supervise.ts';

type Settings = SettingsOf<'npm start'>;

type Stop = () => Promise<void>;

/** What has been started, in that order. */
const running: Stop[] = [];
const stopping = new AbortController();
/** npm hands the terminal's signal on, so that one Ctrl-C comes twice. */
const SIGNALS_OF_CTRL_C = process.env.npm_lifecycle_event === undefined ? 1 : 2;
let interrupts = 0;

async function start(settings: Settings, { isDemo }: { readonly isDemo: boolean }): Promise<void> {
  if (isDemo) judgeDemoSettings(process.env);
  const log = openLog('start', settings.logLevel);
  for (const warning of settings.warnings) log.warn(warning);
  const user = chooseUser(settings.runAs, loadAccounts());
  let url = settings.databaseUrl;
  let place = hidePasswords(url ?? '');
  let socketDirectory: string | undefined;
  if (url === undefined) {
    const postgres = await keepPostgres(settings.dataDirectory, {
      signal: stopping.signal,
      onAccident: (told) => log.error(told),
      ...(user !== undefined && { gid: user.gid }),
    });
    running.push(postgres.stop);
    url = postgres.url;
    place = `embedded PostgreSQL in ${postgres.directory}`;
    socketDirectory = postgres.socketDirectory;
  }
  stopping.signal.throwIfAborted();
  const secrets = settings.keySecrets.length > 0 ? undefined : ensureKeySecrets(settings.dataDirectory);
  const keySecrets = secrets === undefined ? settings.keySecrets : secrets.list;
  const { samples, roles } = await prepareDatabase(url, { ...settings, keySecrets }, log);
  const analytics = await prepareAnalytics(settings, user);
  const analyticsUrl = settings.analyticsUrl ?? analytics?.url;
  stopping.signal.throwIfAborted();
  if (socketDirectory !== undefined) {
    publishDatabaseUrl(settings.dataDirectory, roles.owner, socketDirectory, analyticsUrl);
    running.push(async () => withdrawDatabaseUrl(settings.dataDirectory));
  }
  const builtConsole = consoleOf(settings, user);
  const { dataDirectory } = settings;
  const demo = isDemo
    ? await openDemo({ url: roles.owner, keySecrets, dataDirectory, user, env: process.env, log })
    : undefined;
  if (demo !== undefined) running.push(demo.stop);
  stopping.signal.throwIfAborted();
  // Each process has metrics of its own: one port after the other.
  const { address, port } = settings.metricsListen;
  const metrics = [port, port + 1, port + 2].map((port) => ({ address, port }));
  const processes: SupervisedProcess[] = [];
  const all = () => [...processes, ...(analytics === undefined ? [] : [analytics])];
  running.push(async () => void (await Promise.all(all().map((each) => each.stop()))));
  const run = (name: ProcessName, entry: string, metricsListen: ListenAddress) => {
    const supervised = new SupervisedProcess({
      name,
      entry: new URL(entry, import.meta.url),
      env: environmentOf(name, process.env, {
        DATABASE_URL: roles.of(name),
        METRICS_LISTEN: printListenAddress(metricsListen),
        PUBLIC_URL: settings.publicUrl,
        CONSOLE_FILES: settings.consoleFiles ?? builtConsole.folder,
        ...demo?.settings,
        ...(analyticsUrl !== undefined && { ANALYTICS_URL: analyticsUrl }),
        ...(secrets !== undefined && { KEY_SECRETS: secrets.text }),
      }),
      onCrash: (told) => log.error(told, 'a process ended and is started again'),
    });
    processes.push(supervised);
    return supervised.start();
  };
  const [addresses, api, board] = await Promise.all([
    run('nameserver', '../nameserver/main.ts', metrics[0] as ListenAddress),
    run('API', '../api/main.ts', metrics[1] as ListenAddress),
    run('workers', '../../workers/main.ts', metrics[2] as ListenAddress),
  ]);
  const isOurKey = settings.bootstrapApiKey === undefined;
  const first = isOurKey ? await makeFirstSecrets(roles.owner, settings.publicUrl) : undefined;
  const shownKey = first?.key ?? (isOurKey ? '$KEY' : '$BOOTSTRAP_API_KEY');
  const { publicUrl, console: hasConsole } = settings;
  say(
    summary({
      ...{ addresses, api, board, metrics, place, ...samples },
      ...{ first, shownKey, registrar: demo?.registrar, publicUrl, hasConsole, secrets },
    }),
  );
  demo?.play();
  void analytics?.keep(); // tells itself what goes wrong
  if (settings.console && settings.consoleFiles === undefined) void keepConsoleBuilt(builtConsole);
}

/** Built where the API can read it after it has given up root's rights. */
function consoleOf({ dataDirectory }: Settings, user: ProcessUser | undefined) {
  const place = join(
    user === undefined ? dataDirectory : rootPlaceOf(realpathSync(dataDirectory)),
    'console',
  );
  const sources = fileURLToPath(new URL('../../console', import.meta.url));
  const folder = consoleFolder(sources, place);
  return { sources, folder, env: environmentOfProgram(process.env), signal: stopping.signal, say };
}

/** The embedded store; undefined where there is another, or none is wanted. */
async function prepareAnalytics(
  { analytics, analyticsUrl, dataDirectory }: Settings,
  user: ProcessUser | undefined,
): Promise<KeptAnalytics | undefined> {
  if (!analytics || analyticsUrl !== undefined) return undefined;
  const npmEnv = environmentOfProgram(process.env);
  const env = environmentWithoutSettings(process.env);
  return await openKeptAnalytics({ ...analyticsOf(dataDirectory, user), npmEnv, env, say });
}

interface FirstSecrets {
  readonly key: string;
  /** Signs the first admin in, once. */
  readonly link: string;
}

/** Makes the first key, as the last step, so that it is surely printed. Undefined: there is one already. */
async function makeFirstSecrets(url: string, publicUrl: string): Promise<FirstSecrets | undefined> {
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    const key = await createFirstAdminKey(db);
    if (key === undefined) return undefined;
    const accountId = await ensureFirstAdmin(db);
    return { key, link: linkTo(publicUrl, 'sign-in', await makeLink(db, { kind: 'sign-in', accountId })) };
  } finally {
    await db.destroy();
  }
}

interface Samples {
  /** The name for the `dig` line. */
  readonly question: string;
  /** What the answer to it has that would surprise; undefined: nothing. */
  readonly remark: string | undefined;
  /** The path for the `curl` line. */
  readonly path: string;
}

async function prepareDatabase(
  url: string,
  settings: Settings,
  log: Log,
): Promise<{ samples: Samples; roles: RoleUrls }> {
  const db = openDatabase(url);
  useKeyBoxes(db, new KeyBoxes(settings.keySecrets)); // what follows from settings is published in signed domains, too
  try {
    await migrateQueue({ databaseUrl: url, redisUrl: settings.redisUrl });
    const migrated = await migrate(db, settings.answers);
    for (const role of migrated.roles.overpowered)
      log.warn({ role }, 'this database role has more rights than needed');
    const roles =
      settings.databaseUrl === undefined ? await openToRoles(db, url) : await rolesOf(db, url, settings);
    await loadDemoOnce(db, settings.answers.edgeIpv4.length > 0);
    const apex = await loadSampleApex(db, DEMO_APEX);
    // An operator zone has the name where the database is older than customers' domains.
    const demo = await findDomain(db, parseName(DEMO_APEX));
    const isAskedForDemo = apex === DEMO_APEX;
    const atName = demo === undefined ? [] : await loadRecordsAt(db, demo.id, [parseName(`${DEMO_NAME}.`)]);
    const isProxied = isAskedForDemo && atName.some(({ proxied }) => proxied);
    const samples = {
      question: apex === undefined ? 'CH TXT id.server' : isAskedForDemo ? `${DEMO_NAME} A` : `${apex} SOA`,
      remark: isProxied ? "this record is proxied: the answer has the edge's addresses" : undefined,
      path: demo === undefined ? '/domains/' : `/domains/${DEMO_APEX.slice(0, -1)}/records/`,
    };
    return { samples, roles };
  } catch (error) {
    if (settings.databaseUrl === undefined) throw error;
    // Node tells of several addresses that all fail without a message of its own.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartFault(
      `DATABASE_URL: ${hidePasswords(message || `the server cannot be reached (${code})`)}`,
    );
  } finally {
    await db.destroy();
  }
}

/** On the operator's own server, the operator chooses the passwords of the roles. */
async function rolesOf(db: Database, url: string, { rolePasswords }: Settings): Promise<RoleUrls> {
  await setRolePasswords(db, rolePasswords);
  return roleUrls(url, rolePasswords);
}

function summary(started: {
  addresses: readonly ListenAddress[];
  api: readonly ListenAddress[];
  /** Empty where there is no board. */
  board: readonly ListenAddress[];
  metrics: readonly ListenAddress[];
  /** The demo's. */
  registrar: string | undefined;
  place: string;
  question: string;
  remark: string | undefined;
  path: string;
  first: FirstSecrets | undefined;
  shownKey: string;
  publicUrl: string;
  hasConsole: boolean;
  secrets: { readonly file: string; readonly isNew: boolean } | undefined;
}): string {
  const dns = reachable(started.addresses[0] as ListenAddress);
  const api = `http://${printListenAddress(reachable(started.api[0] as ListenAddress))}`;
  const urls = (addresses: readonly ListenAddress[], path = '') =>
    addresses.map((address) => `http://${printListenAddress(address)}${path}`).join(' ');
  return [
    'ready',
    `  DNS       ${started.addresses.map(printListenAddress).join(' ')} (UDP and TCP)`,
    `  API       ${urls(started.api)} (described at /openapi.yaml)`,
    ...(started.hasConsole ? [`  console   ${started.publicUrl}/console/`] : []),
    `  metrics   ${urls(started.metrics, '/metrics')} (and /healthz, /readyz)`,
    ...(started.board.length === 0 ? [] : [`  board     ${urls(started.board)} (the workers' queue)`]),
    ...(started.registrar === undefined
      ? []
      : [`  registrar ${started.registrar} (of the demo's private internet: enter nameservers there)`]),
    `  database  ${started.place}`,
    ...(started.first === undefined
      ? []
      : [
          `  API key   ${started.first.key} (a global admin's, shown this once)`,
          `  sign in   ${started.first.link} (the same admin, once, within 15 minutes)`,
        ]),
    ...(started.secrets?.isNew === true
      ? [`  secrets   ${started.secrets.file} seals stored secrets: back it up, apart from the database`]
      : []),
    `  try       dig @${dns.address} -p ${dns.port} ${started.question}`,
    ...(started.remark === undefined ? [] : [`            (${started.remark})`]),
    `            curl -H "Authorization: Bearer ${started.shownKey}" ${api}${started.path}`,
    '  stop      Ctrl-C',
  ].join('\n');
}

/** Where a process that listens on every address can be asked. */
function reachable({ address, port }: ListenAddress): ListenAddress {
  return { address: address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address, port };
}

async function stopAll(): Promise<void> {
  for (let stop = running.pop(); stop !== undefined; stop = running.pop()) {
    await stop().catch((error: Error) => say(error.message));
  }
}

/** Also in the middle of a start. */
async function end(exitCode: number): Promise<void> {
  if (stopping.signal.aborted) return;
  stopping.abort();
  await stopAll();
  await starting.catch(() => {});
  await stopAll();
  process.exit(exitCode);
}

/** A second Ctrl-C ends this process at once. What is left then ends by itself. */
function interrupt(): void {
  if (++interrupts > SIGNALS_OF_CTRL_C) process.exit(1);
  void end(0);
}

function explain(error: unknown): string {
  if (error instanceof StartFault) return error.message;
  return hidePasswords((error as Error).stack ?? String(error));
}

function say(text: string): void {
  process.stdout.write(`zonefleet: ${text}\n`);
}

process.on('SIGINT', interrupt);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));
process.stdout.on('error', () => {}); // the terminal is gone; a signal tells us to end

const starting = (async () => start(readSettings(process.env), readArguments(process.argv.slice(2))))();
starting.catch((error: unknown) => {
  if (stopping.signal.aborted) return;
  process.stderr.write(`zonefleet: ${explain(error)}\n`);
  void end(1);
});
