// The stage of a scenario: `npm start` on a directory of its own with a database of its own, one domain, and the witness.

import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SUPERUSER } from '../../src/start/postgres/postgres-cluster.ts';
import { createAccount } from '../../src/store/accounts/accounts.ts';
import { createApiKey, generateKey } from '../../src/store/accounts/api-keys.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { findDatabaseUrl } from '../../src/store/postgres/database-url.ts';
import { databaseDirectory } from '../support/processes/database-directory.ts';
import { freePort } from '../support/processes/free-port.ts';
import { until } from '../support/tests/until.ts';
import type { Seen, WitnessOptions } from './witness.ts';

const RUN = fileURLToPath(new URL('../../src/start/run.mjs', import.meta.url));
const START = fileURLToPath(new URL('../../src/start/main.ts', import.meta.url));
const WITNESS = new URL('./witness.ts', import.meta.url);
const START_TIMEOUT_MS = 120_000;
export const DOMAIN = 'chaos.example.com';

export type ProcessName = 'nameserver' | 'api' | 'workers' | 'postgres';

/** What a process is known by in its command line. */
const WORDS: Readonly<Record<ProcessName, RegExp>> = {
  nameserver: /nameserver[/.-]?\S*main|nameserver\.m?js/,
  api: /src\/api\/main|[/-]api\S*\.m?js/,
  workers: /workers\/main|workers\S*\.m?js/,
  postgres: /postgres/,
};

export interface Account {
  readonly key: string;
  readonly domain: string;
}

export class Stage {
  readonly dns: { readonly address: string; readonly port: number };
  readonly apiPort: number;
  readonly metricsPort: number;
  readonly key = generateKey();
  readonly dataDirectory: string;
  readonly settings: Readonly<Record<string, string>>;
  log = '';
  #child: ChildProcess | undefined;
  #witness: ChildProcess | undefined;

  static async open(settings: Readonly<Record<string, string>> = {}): Promise<Stage> {
    const stage = new Stage(await freePort(), await freePort(), await freePort(2), settings);
    try {
      await stage.start();
      await stage.#makeDomain();
      await stage.#callWitness();
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  private constructor(
    dnsPort: number,
    apiPort: number,
    metricsPort: number,
    settings: Readonly<Record<string, string>>,
  ) {
    this.dns = { address: '127.0.0.1', port: dnsPort };
    this.apiPort = apiPort;
    this.metricsPort = metricsPort;
    this.dataDirectory = mkdtempSync(join(tmpdir(), 'zonefleet-chaos-'));
    const hints = join(this.dataDirectory, 'root.hints');
    writeFileSync(hints, '. 1 NS a.root.\na.root. 1 A 127.0.0.1\n'); // no server outside this machine is queried
    this.settings = {
      PATH: process.env.PATH ?? '',
      RUN_AS: 'off', // what tests make is root's own
      HOME: process.env.HOME ?? '',
      DATA_DIR: this.dataDirectory,
      DNS_LISTEN: `127.0.0.1:${dnsPort}`,
      API_LISTEN: `127.0.0.1:${apiPort}`,
      METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
      ANALYTICS: 'off',
      BOOTSTRAP_API_KEY: this.key,
      API_RATE: 'off',
      ALLOW_RESERVED_NAMES: 'on',
      ROOT_HINTS: hints,
      PUBLIC_RESOLVERS: 'off',
      LOG_LEVEL: 'warn',
      ...settings,
    };
  }

  get apiUrl(): string {
    return `http://127.0.0.1:${this.apiPort}`;
  }

  /** Of the embedded server's superuser; throws while there is none. */
  get databaseUrl(): string {
    const url = findDatabaseUrl(this.dataDirectory);
    if (url === undefined) throw new Error('the embedded Postgres does not run');
    const password = readFileSync(join(databaseDirectory(this.dataDirectory), 'superuser'), 'utf8').trim();
    return url.replace(/\/\/[^@]*@/, `//${SUPERUSER}:${password}@`);
  }

  /** Starts `npm start`, and waits until it says ready. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [RUN, START], {
      env: this.settings,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const from = this.log.length;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.log += text;
      });
    }
    await until(
      () => {
        if (child.exitCode !== null) throw new Error(`npm start ended: ${this.log.slice(from)}`);
        return this.log.slice(from).includes('zonefleet: ready');
      },
      () => `npm start is ready: ${this.log.slice(from)}`,
      START_TIMEOUT_MS,
    );
  }

  /** The pids of the processes of that name below this `npm start`, oldest first. */
  pids(name: ProcessName): number[] {
    return descendants(this.#child?.pid).filter((pid) => WORDS[name].test(commandLine(pid)));
  }

  /** Resident memory, in bytes. */
  memoryOf(name: ProcessName): number {
    return this.pids(name).reduce((octets, pid) => octets + residentOctets(pid), 0);
  }

  /** A new account with one domain. */
  async newAccount(name: string, planSlug = 'free'): Promise<Account> {
    const key = generateKey();
    const domain = `${name}.example.org`;
    await this.withDatabase(async (db) => {
      const created = await createAccount(db, { email: `${name}@example.org`, isAdmin: false, planSlug });
      if (created.kind !== 'created') throw new Error(created.message);
      await createApiKey(db, key, { name, accountId: created.account.id });
    });
    const { status, text } = await this.call('POST', '/domains/', { name: domain, scan: false }, key);
    if (status !== 200) throw new Error(`POST /domains/: ${status} ${text}`);
    return { key, domain };
  }

  /** One call of the API; `body` is JSON, or bytes that are sent as they are. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    key = this.key,
  ): Promise<{ status: number; text: string; headers: Headers }> {
    const isRaw = typeof body === 'string' || body instanceof Uint8Array;
    const response = await fetch(`${this.apiUrl}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: (isRaw ? body : JSON.stringify(body)) as string }),
    });
    return { status: response.status, text: await response.text(), headers: response.headers };
  }

  async withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
    const db = openDatabase(this.databaseUrl, { maxConnections: 2 });
    try {
      return await work(db);
    } finally {
      await db.destroy();
    }
  }

  /** From this moment recovery counts. */
  faultEnds(): void {
    this.#witness?.send({ kind: 'fault_ends' });
  }

  beginWitness(): void {
    this.#witness?.send({ kind: 'begin' });
  }

  /** Waits until everything works again, or does not within a minute. */
  async endWitness(): Promise<Seen> {
    const witness = this.#witness as ChildProcess;
    const seen = new Promise<Seen>((done, fail) => {
      witness.on('message', (message: { kind: string; seen: Seen }) => {
        if (message.kind === 'seen') done(message.seen);
      });
      witness.once('exit', (code) => fail(new Error(`the witness ended with ${code}`)));
    });
    witness.send({ kind: 'end' });
    return await seen;
  }

  /** Kills the nameserver (SIGKILL) and waits until another is ready: how many seconds there was none. */
  async killNameserver(): Promise<number> {
    const [pid] = this.pids('nameserver');
    if (pid === undefined) throw new Error('there is no nameserver to kill');
    const killedMs = performance.now();
    signal(pid, 'SIGKILL');
    this.faultEnds();
    await until(
      async () => {
        const health = await fetch(`http://127.0.0.1:${this.metricsPort}/readyz`).catch(() => undefined);
        return health?.ok === true && !this.pids('nameserver').includes(pid);
      },
      'the nameserver is back',
      START_TIMEOUT_MS,
    );
    return (performance.now() - killedMs) / 1000;
  }

  async close(): Promise<void> {
    this.#witness?.kill('SIGKILL');
    const child = this.#child;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const family = descendants(child.pid);
      for (const pid of family) signal(pid, 'SIGCONT'); // what a scenario has stopped cannot end by itself
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      const force = setTimeout(() => {
        for (const pid of [...family, child.pid as number]) signal(pid, 'SIGKILL');
      }, 15_000);
      await ended;
      clearTimeout(force);
    }
    rmSync(databaseDirectory(this.dataDirectory), { recursive: true, force: true });
    rmSync(this.dataDirectory, { recursive: true, force: true });
  }

  async #makeDomain(): Promise<void> {
    const made = await this.call('POST', '/domains/', { name: DOMAIN, scan: false });
    if (made.status !== 200) throw new Error(`POST /domains/: ${made.status} ${made.text}`);
    const create = [{ name: 'www', type: 'A', destination: '192.0.2.1' }];
    const saved = await this.call('PUT', `/domains/${DOMAIN}/records/batch`, { create });
    if (saved.status !== 200) throw new Error(`PUT …/records/batch: ${saved.status} ${saved.text}`);
    const change = saved.headers.get('x-change-id');
    await until(async () => {
      const { text } = await this.call('GET', `/domains/${DOMAIN}/changes/${change}`);
      return (JSON.parse(text) as { in_sync: boolean }).in_sync;
    }, 'the nameserver has the domain');
  }

  async #callWitness(): Promise<void> {
    const options: WitnessOptions = { dns: this.dns, apiPort: this.apiPort, key: this.key, domain: DOMAIN };
    const tsx = fileURLToPath(import.meta.resolve('tsx'));
    const witness = fork(WITNESS, [JSON.stringify(options)], { execArgv: ['--import', tsx] });
    this.#witness = witness;
    await once(witness, 'message');
  }
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // it has ended
  }
}

function descendants(root: number | undefined): number[] {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const stat = readProc(entry, 'stat');
    const parent = Number(/\) \S (\d+)/.exec(stat)?.[1]);
    if (Number.isNaN(parent)) continue;
    children.set(parent, [...(children.get(parent) ?? []), Number(entry)]);
  }
  const found: number[] = [];
  const open = root === undefined ? [] : [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const below = children.get(next) ?? [];
    found.push(...below);
    open.push(...below);
  }
  return found.sort((a, b) => a - b);
}

function commandLine(pid: number): string {
  return readProc(String(pid), 'cmdline').replaceAll('\0', ' ');
}

function residentOctets(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readProc(String(pid), 'status'))?.[1] ?? 0) * 1024;
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
