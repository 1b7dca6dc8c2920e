// `npm start`: starts the database, the schema, the demo, then the processes, and stops them in reverse order. It never
// asks questions: missing parts are created, and obstacles are reported in one line.

import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hidePasswords } from '../process/hide-passwords.ts';
import { type ListenAddress, printListenAddress } from '../process/listen-address.ts';
import { openLog } from '../process/log.ts';
import { chooseUser, loadAccounts, type ProcessUser, rootPlaceOf } from '../process/run-as.ts';
import { readSettings, type SettingsOf } from '../process/settings/read-settings.ts';
import type { ProcessName } from '../process/settings/setting.ts';
import { StartFault } from '../process/start-fault.ts';
import { publishDatabaseUrl, withdrawDatabaseUrl } from '../store/postgres/database-url.ts';
import { analyticsOf, hasAnalyticsStore, wantsAnalytics } from './analytics-place.ts';
import { consoleFolder, keepConsoleBuilt } from './console/build-console.ts';
import { type KeptAnalytics, openKeptAnalytics } from './keep-analytics.ts';
import { judgeDemoSettings, openDemo } from './keep-demo.ts';
import { ensureKeySecrets } from './key-secrets.ts';
import { keepPostgres } from './postgres/keep-postgres.ts';
import { makeFirstSecrets, prepareDatabase } from './prepare-database.ts';
import { summary } from './print-summary.ts';
import { environmentOf, environmentOfProgram, environmentWithoutSettings } from './process-environment.ts';
import { type Arguments, readArguments } from './read-arguments.ts';
import { SupervisedProcess } from './supervise.ts';

type Settings = SettingsOf<'npm start'>;

type Stop = () => Promise<void>;

/** Everything that has been started, in order. */
const running: Stop[] = [];
const stopping = new AbortController();
/** Defaults that differ from those of the processes. */
const START_DEFAULTS = { DNS_UPDATE: 'on', PDNS_API: 'on', COMPAT_API: 'on' };
/** npm forwards the terminal's signal, so one Ctrl-C arrives twice. */
const SIGNALS_OF_CTRL_C = process.env.npm_lifecycle_event === undefined ? 1 : 2;
let interrupts = 0;

async function start(settings: Settings, { isDemo, hasAnalytics }: Arguments): Promise<void> {
  const log = openLog('start', settings.logLevel);
  for (const warning of settings.warnings) log.warn(warning);
  if (isDemo) judgeDemoSettings(process.env);
  const hasStore = hasAnalyticsStore(settings.dataDirectory);
  const ownAnalytics = wantsAnalytics({ ...settings, hasAnalytics, hasStore });
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
  const secrets =
    settings.keySecrets.length > 0 ? undefined : ensureKeySecrets(settings.dataDirectory, 'keys');
  const tsigSecrets =
    settings.tsigSecrets.length > 0 ? undefined : ensureKeySecrets(settings.dataDirectory, 'tsig-keys');
  const keySecrets = secrets === undefined ? settings.keySecrets : secrets.list;
  const { samples, roles } = await prepareDatabase(url, {
    ...settings,
    keySecrets,
    onOverpowered: (role) => log.warn({ role }, 'this database role has more privileges than it needs'),
    onWait: (reason) => log.warn(reason),
  });
  const analytics = ownAnalytics ? await prepareAnalytics(settings, user) : undefined;
  const analyticsUrl = settings.analyticsUrl ?? analytics?.url;
  stopping.signal.throwIfAborted();
  if (socketDirectory !== undefined) {
    publishDatabaseUrl(settings.dataDirectory, roles.owner, socketDirectory, {
      publicUrl: settings.publicUrl,
      ...(analyticsUrl !== undefined && { analyticsUrl }),
    });
    running.push(async () => withdrawDatabaseUrl(settings.dataDirectory));
  }
  const builtConsole = consoleOf(settings, user);
  const { dataDirectory } = settings;
  const demo = isDemo
    ? await openDemo({ url: roles.owner, keySecrets, dataDirectory, user, env: process.env, log })
    : undefined;
  if (demo !== undefined) running.push(demo.stop);
  stopping.signal.throwIfAborted();
  // Each process has its own metrics port, on consecutive ports.
  const { address, port } = settings.metricsListen;
  const metrics = [port, port + 1, port + 2].map((port) => ({ address, port }));
  const processes: SupervisedProcess[] = [];
  const all = () => [...processes, ...(analytics === undefined ? [] : [analytics])];
  running.push(async () => void (await Promise.all(all().map((each) => each.stop()))));
  const run = (name: ProcessName, entry: string, metricsListen: ListenAddress) => {
    const supervised = new SupervisedProcess({
      name,
      entry: new URL(entry, import.meta.url),
      env: environmentOf(
        name,
        { ...START_DEFAULTS, ...process.env },
        {
          DATABASE_URL: roles.of(name),
          METRICS_LISTEN: printListenAddress(metricsListen),
          PUBLIC_URL: settings.publicUrl,
          CONSOLE_FILES: settings.consoleFiles ?? builtConsole.folder,
          ...demo?.settings,
          ...(analyticsUrl !== undefined && { ANALYTICS_URL: analyticsUrl }),
          ...(secrets !== undefined && { KEY_SECRETS: secrets.text }),
          ...(tsigSecrets !== undefined && { TSIG_SECRETS: tsigSecrets.text }),
        },
      ),
      onCrash: (told) => log.error(told, 'a process ended and is being restarted'),
    });
    processes.push(supervised);
    return supervised.start();
  };
  const [addresses, api] = await Promise.all([
    run('nameserver', '../nameserver/main.ts', metrics[0] as ListenAddress),
    run('API', '../api/main.ts', metrics[1] as ListenAddress),
    run('workers', '../../workers/main.ts', metrics[2] as ListenAddress),
  ]);
  const isOurKey = settings.bootstrapApiKey === undefined;
  const first = isOurKey ? await makeFirstSecrets(roles.owner, settings.publicUrl) : undefined;
  const shownKey = first?.key ?? (isOurKey ? '$KEY' : '$BOOTSTRAP_API_KEY');
  const { publicUrl, console: hasConsole } = settings;
  const lacksAnalytics = analyticsUrl === undefined && settings.analytics === undefined;
  const secretFiles = [secrets, tsigSecrets].flatMap((found) => (found?.isNew ? [found.file] : []));
  say(
    summary({
      ...{ addresses, api, metrics, place, ...samples },
      ...{ first, shownKey, registrar: demo?.registrar, publicUrl, hasConsole, secretFiles, lacksAnalytics },
    }),
  );
  demo?.play();
  void analytics?.keep(); // reports its own errors
  if (settings.console && settings.consoleFiles === undefined) void keepConsoleBuilt(builtConsole);
}

/** Returns a directory that the API can read after it has dropped root privileges. */
function consoleOf({ dataDirectory }: Settings, user: ProcessUser | undefined) {
  const place = join(
    user === undefined ? dataDirectory : rootPlaceOf(realpathSync(dataDirectory)),
    'console',
  );
  const sources = fileURLToPath(new URL('../../console', import.meta.url));
  const folder = consoleFolder(sources, place);
  return { sources, folder, env: environmentOfProgram(process.env), signal: stopping.signal, say };
}

/** Opens the port of the embedded store. */
async function prepareAnalytics(
  { dataDirectory }: Settings,
  user: ProcessUser | undefined,
): Promise<KeptAnalytics> {
  const npmEnv = environmentOfProgram(process.env);
  const env = environmentWithoutSettings(process.env);
  return await openKeptAnalytics({ ...analyticsOf(dataDirectory, user), npmEnv, env, say });
}

async function stopAll(): Promise<void> {
  for (let stop = running.pop(); stop !== undefined; stop = running.pop()) {
    await stop().catch((error: Error) => say(error.message));
  }
}

/** Also works in the middle of a start. */
async function end(exitCode: number): Promise<void> {
  if (stopping.signal.aborted) return;
  stopping.abort();
  await stopAll();
  await starting.catch(() => {});
  await stopAll();
  process.exit(exitCode);
}

/** A second Ctrl-C ends this process immediately. The remaining processes then end automatically. */
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
process.stdout.on('error', () => {}); // the terminal was closed; a signal ends the process

const starting = (async () =>
  start(readSettings(process.env), readArguments(process.argv.slice(2), process.env)))();
starting.catch((error: unknown) => {
  if (stopping.signal.aborted) return;
  process.stderr.write(`zonefleet: ${explain(error)}\n`);
  void end(1);
});
