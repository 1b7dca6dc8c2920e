// A version of Zonefleet under measurement: its working tree, its database and its programs.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hash } from '@node-rs/argon2';
import { freePort } from '../../test/support/processes/free-port.ts';
import { checkOut } from '../checkout.ts';
import { OUR_NAMESERVERS, PARENT_NETWORK } from '../checks/parents.ts';
import type { Parents } from '../checks/start-parents.ts';
import { onEnd } from '../cleanup.ts';
import { benchCluster, runOn } from '../postgres/cluster.ts';
import { cpuSeconds } from '../process-tree.ts';
import { type Program, runProgram, runToEnd } from '../program.ts';
import { makeCertificate } from '../tls/certificate.ts';
import type { Ask } from './calls.ts';
import { meterSql, type SqlMeter } from './sql-meter.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const KEY = `svc_${'guard'.repeat(8)}`;
const OPERATOR = 'operator@guard.example';
const PASSWORD = 'correct horse battery';
const START_MS = 120_000;

export type ProgramName = 'api' | 'nameserver' | 'workers';

export interface MeteredProgram extends Program {
  readonly sql: SqlMeter;
}

export interface Tree {
  readonly label: string;
  /** The checkout. */
  readonly directory: string;
  readonly databaseUrl: string;
  /** Starts a program, and resolves when it is ready. */
  start(name: ProgramName, parents?: Parents): Promise<MeteredProgram>;
  readonly ask: Ask;
  /** Stores these settings in addition to those of every tree. */
  migrate(settings: Readonly<Record<string, string>>): Promise<void>;
  /** Creates a customer's account. Returns its calls. */
  makeAccount(email: string): Promise<Ask>;
  /** Signs in as a global admin. Returns the calls of the session. */
  signIn(): Promise<Ask>;
  /** UDP port of the nameserver, on 127.0.0.1. */
  readonly dnsPort: number;
  /** Ports for DNS over TLS and HTTPS. A version without them does not listen there. */
  readonly dotPort: number;
  readonly dohPort: number;
}

/** This working tree. */
export async function openThisTree(): Promise<Tree> {
  return await openTree('this tree', ROOT);
}

export async function openCommit(commit: string): Promise<Tree> {
  const { id, directory } = await checkOut(commit);
  return await openTree(id, directory);
}

/** Throws if the repository has no tag. */
export function lastTag(): string {
  return execFileSync('git', ['describe', '--tags', '--abbrev=0'], { cwd: ROOT, encoding: 'utf8' }).trim();
}

async function openTree(label: string, directory: string): Promise<Tree> {
  const name = `guard_${label.replaceAll(/\W/g, '_')}`;
  const cluster = await benchCluster();
  const url = await cluster.database(name, async () => {});
  const dataDirectory = mkdtempSync(join(tmpdir(), 'zonefleet-guard-data-'));
  onEnd(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const [apiPort, dnsPort, dotPort, dohPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const certificate = await makeCertificate(dataDirectory);
  const flagsFile = join(directory, 'src/start/node-flags.ts'); // an older tree has no flags
  const { NODE_FLAGS = [], NODE_ENVIRONMENT = {} } = existsSync(flagsFile) ? await import(flagsFile) : {};
  const env = {
    ...NODE_ENVIRONMENT,
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    DATABASE_URL: url,
    RUN_AS: 'off',
    NODE_NAME: 'guard',
    EDGE_IPV4: '192.0.2.1',
    NAMESERVER_SETS: OUR_NAMESERVERS.join(','),
    BOOTSTRAP_API_KEY: KEY,
    API_LISTEN: `127.0.0.1:${apiPort}`,
    API_RATE: 'off',
    ALLOW_RESERVED_NAMES: 'on',
    CONSOLE: 'off',
    DNS_LISTEN: `127.0.0.1:${dnsPort}`,
    DNS_THREADS: '1',
    DOT_LISTEN: `127.0.0.1:${dotPort}`,
    DOH_LISTEN: `127.0.0.1:${dohPort}`,
    DNS_TLS_CERT: certificate.cert,
    DNS_TLS_KEY: certificate.key,
    RRL: 'off',
    COOKIE_SECRETS: '000102030405060708090a0b0c0d0e0f',
    KEY_SECRETS: `guard:${Buffer.alloc(32, 1).toString('base64')}`,
    LOG_LEVEL: 'warn',
  };
  const run = (...words: string[]) => [
    process.execPath,
    ...NODE_FLAGS,
    join(directory, 'src/start/run.mjs'),
    ...words,
  ];
  const command = (words: readonly string[], settings: Readonly<Record<string, string>> = {}) =>
    runToEnd(run('src/cli/main.ts', ...words), {
      cwd: directory,
      env: { ...env, ...settings },
      timeoutMs: 10 * START_MS,
    });
  await command(['migrate']);
  await runOn(url, 'update plans set max_records = null, max_domains = null, max_claims = null');
  await command(['account', 'create', OPERATOR, '--admin']);
  const passwordHash = await hash(PASSWORD, { memoryCost: 8, timeCost: 1, parallelism: 1 });
  await runOn(url, `update accounts set password_hash = '${passwordHash}' where email = '${OPERATOR}'`);
  return {
    label,
    directory,
    databaseUrl: url,
    dnsPort,
    dotPort,
    dohPort,
    async start(program, parents) {
      const metricsPort = await freePort();
      const sql = await meterSql(name);
      const data = join(dataDirectory, program);
      mkdirSync(data, { recursive: true });
      const main = program === 'workers' ? 'workers/main.ts' : `src/${program}/main.ts`;
      const running = runProgram(run(main), {
        cwd: directory,
        env: {
          ...env,
          DATABASE_URL: sql.url,
          DATA_DIR: data,
          METRICS_LISTEN: `127.0.0.1:${metricsPort}`,
          ...(parents && {
            ROOT_HINTS: parents.hintsFile,
            DNS_PORT_OUT: String(parents.port),
            RESOLVER_ALLOW: PARENT_NETWORK,
          }),
        },
      });
      await untilReady(running, `http://127.0.0.1:${metricsPort}/readyz`);
      return { ...running, sql };
    },
    ask: askWith(apiPort, { 'x-api-key': KEY }),
    migrate: async (settings) => void (await command(['migrate'], settings)),
    async makeAccount(email) {
      await command(['account', 'create', email]);
      const output = await command(['key', 'create', email]);
      const [key] = /svc_\w{40}/.exec(output) ?? [];
      if (key === undefined) throw new Error(`no key in: ${output}`);
      return askWith(apiPort, { 'x-api-key': key });
    },
    async signIn() {
      const { status, body } = await askWith(apiPort, {})('POST', '/auth/login', {
        email: OPERATOR,
        password: PASSWORD,
        bearer: true,
      });
      if (status !== 200) throw new Error(`sign-in: ${status} ${JSON.stringify(body)}`);
      return askWith(apiPort, { authorization: `Bearer ${body.token}` });
    },
  };
}

function askWith(apiPort: number, credentials: Readonly<Record<string, string>>): Ask {
  return async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${apiPort}${path}`, {
      method,
      headers: {
        ...credentials,
        'accept-encoding': 'identity', // an older tree does not compress
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') && text !== '';
    return { status: response.status, body: isJson ? JSON.parse(text) : text };
  };
}

async function untilReady(program: Program, url: string): Promise<void> {
  let ended: number | string | undefined;
  void program.ended.then((code) => {
    ended = code;
  });
  const deadline = performance.now() + START_MS;
  while (!(await fetch(url).catch(() => undefined))?.ok) {
    if (ended !== undefined || performance.now() > deadline) {
      await program.stop();
      throw new Error(`not ready: ${ended ?? ''}\n${program.output()}`);
    }
    await pause(10);
  }
}

/** Processor seconds so far, of some programs and of Postgres. */
export async function cpuOf(...programs: readonly Program[]): Promise<number> {
  const { pid } = await benchCluster();
  return [pid, ...programs.map((program) => program.pid)].map(cpuSeconds).reduce((a, b) => a + b, 0);
}
