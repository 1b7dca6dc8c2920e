// `npm start`: the database, the schema, the demo, then the processes that exist; stops them in the reverse order. It never
// asks: what is missing is made, and what stands in the way is told in one line.

import { type Config, ConfigError, type ListenAddress, readConfig } from '../config.ts';
import { hidePasswords, openLog } from '../log.ts';
import { openDatabase } from '../store/database.ts';
import { publishDatabaseUrl, withdrawDatabaseUrl } from '../store/database-url.ts';
import { loadSampleApex } from '../store/first-start.ts';
import { migrate, SchemaError } from '../store/migrate.ts';
import { DEMO_APEX, DEMO_NAME, loadDemoOnce } from './demo.ts';
import { keepPostgres } from './keep-postgres.ts';
import { StartError } from './start-error.ts';
import { SupervisedProcess } from './supervise.ts';

type Stop = () => Promise<void>;

/** What has been started, in that order. */
const running: Stop[] = [];
const stopping = new AbortController();
const IMPATIENCE_MS = 1000;
let stoppedAtMs = Number.POSITIVE_INFINITY;

async function start(config: Config): Promise<void> {
  const log = openLog('start', config.logLevel);
  for (const warning of config.warnings) log.warn(warning);
  let url = config.databaseUrl;
  let place = hidePasswords(url ?? '');
  if (url === undefined) {
    const postgres = await keepPostgres(config.dataDirectory, {
      signal: stopping.signal,
      onAccident: (told) => log.error(told),
    });
    running.push(postgres.stop);
    publishDatabaseUrl(config.dataDirectory, postgres.url, postgres.socketDirectory);
    running.push(async () => withdrawDatabaseUrl(config.dataDirectory));
    url = postgres.url;
    place = `embedded PostgreSQL in ${postgres.directory}`;
  }
  stopping.signal.throwIfAborted();
  const question = await prepareDatabase(url, config);
  stopping.signal.throwIfAborted();
  const nameserver = new SupervisedProcess({
    name: 'nameserver',
    entry: new URL('../nameserver/main.ts', import.meta.url),
    env: { ...process.env, DATABASE_URL: url },
    onCrash: (told) => log.error(told, 'a process ended and is started again'),
  });
  running.push(() => nameserver.stop());
  const addresses = await nameserver.start();
  say(summary({ addresses, metrics: config.metricsListen, place, question }));
}

/** Resolves with the question of the `dig` line. */
async function prepareDatabase(url: string, config: Config): Promise<string> {
  const db = openDatabase(url);
  try {
    await migrate(db, config.answers);
    await loadDemoOnce(db);
    const apex = await loadSampleApex(db, DEMO_APEX);
    if (apex === undefined) return 'CH TXT id.server';
    return apex === DEMO_APEX ? `${DEMO_NAME} A` : `${apex} SOA`;
  } catch (error) {
    if (config.databaseUrl === undefined) throw error;
    // Node tells of several addresses that all fail without a message of its own.
    const { message, code } = error as NodeJS.ErrnoException;
    throw new StartError(
      `DATABASE_URL: ${hidePasswords(message || `the server cannot be reached (${code})`)}`,
    );
  } finally {
    await db.destroy();
  }
}

function summary(started: {
  addresses: readonly ListenAddress[];
  metrics: ListenAddress;
  place: string;
  question: string;
}): string {
  const { address, port } = started.addresses[0] as ListenAddress;
  const reachable = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return [
    'ready',
    `  DNS       ${started.addresses.map(print).join(' ')} (UDP and TCP)`,
    `  metrics   http://${print(started.metrics)}/metrics /healthz /readyz`,
    `  database  ${started.place}`,
    `  try       dig @${reachable} -p ${port} ${started.question}`,
    '  stop      Ctrl-C',
  ].join('\n');
}

function print({ address, port }: ListenAddress): string {
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

async function stopAll(): Promise<void> {
  for (let stop = running.pop(); stop !== undefined; stop = running.pop()) {
    await stop().catch((error: Error) => say(error.message));
  }
}

/** Also in the middle of a start. */
async function end(exitCode: number): Promise<void> {
  if (stopping.signal.aborted) return;
  stoppedAtMs = performance.now();
  stopping.abort();
  await stopAll();
  await starting.catch(() => {});
  await stopAll();
  process.exit(exitCode);
}

/** Ctrl-C comes twice, from the terminal and from npm; only a later one is impatience. What is left then ends by itself. */
function interrupt(): void {
  if (stopping.signal.aborted && performance.now() - stoppedAtMs > IMPATIENCE_MS) process.exit(1);
  void end(0);
}

function explain(error: unknown): string {
  if (error instanceof StartError || error instanceof ConfigError || error instanceof SchemaError)
    return error.message;
  return hidePasswords((error as Error).stack ?? String(error));
}

function say(text: string): void {
  process.stdout.write(`zonefleet: ${text}\n`);
}

process.on('SIGINT', interrupt);
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));
process.stdout.on('error', () => {}); // the terminal is gone; a signal tells us to end

const starting = (async () => start(readConfig(process.env)))();
starting.catch((error: unknown) => {
  if (stopping.signal.aborted) return;
  process.stderr.write(`zonefleet: ${explain(error)}\n`);
  void end(1);
});
