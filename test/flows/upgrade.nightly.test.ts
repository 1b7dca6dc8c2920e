// A fleet of the last release is upgraded to this version and rolled back, with the commands of docs/operating/upgrade.md,
// while it is queried and edited: no answer and no edit is lost.

import { createSocket, type Socket } from 'node:dgram';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { readBuild } from '../../src/process/build.ts';
import { queryFor } from '../support/answer/queries.ts';
import { exchangeUdp } from '../support/answer/sockets.ts';
import { asRole, createDatabase, type TestDatabase } from '../support/database/database.ts';
import { freePort } from '../support/processes/free-port.ts';
import { installCode, runInstalled, startInstalled } from '../support/processes/installed-code.ts';
import type { Program } from '../support/processes/program.ts';
import { lastRelease } from '../support/tests/releases.ts';
import { until } from '../support/tests/until.ts';

const NODES = ['ams1', 'fra1'] as const;
/** Edits in each state of the fleet. */
const EDITS = 15;
/** Ends a run that hangs. Each of the two versions is compiled first. */
const TIMEOUT_MS = 20 * 60_000;
const START_MS = 5 * 60_000;
vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS });
const APEX = 'shop.example';
const ROLES = { api: 'zonefleet_api', node: 'zonefleet_node', worker: 'zonefleet_worker' } as const;

let home: string;
/** The directory of the fleet's code. An upgrade replaces it. */
let code: string;
let database: TestDatabase;
let owner: string;
const ports = new Map<string, { readonly serves: number; readonly metrics: number }>();
const running = new Map<string, Program>();
/** Nodes that a restart has started. */
const successors = new Set<number>();

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'zonefleet-upgrade-'));
  code = join(home, 'zonefleet');
  installCode(code, lastRelease().commit);
  installCode(join(home, 'next'));
  database = await createDatabase({ empty: true });
});

afterAll(async () => {
  for (const pid of successors) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // ended
    }
  }
  await Promise.all([...running.values()].map((program) => program.stop('SIGKILL')));
  await database?.drop();
  rmSync(home, { recursive: true, force: true });
});

const cli = (...args: string[]) =>
  runInstalled(code, args, {
    DATABASE_URL: database.url,
    ALLOW_RESERVED_NAMES: 'on',
    DATA_DIR: join(home, args[0] === 'node' && args[1] === 'restart' ? (args[2] as string) : 'cli'),
  });

/** Returns the output of a command that must succeed. */
async function done(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(...args);
  if (code !== 0) throw new Error(`zonefleet ${args.join(' ')}: ${code} ${stdout}${stderr}`);
  return stdout.trim();
}

async function start(name: string, program: string, env: Readonly<Record<string, string>>): Promise<void> {
  const { metrics } = ports.get(name) ?? { metrics: 0 };
  const started = startInstalled(code, program, {
    METRICS_LISTEN: `127.0.0.1:${metrics}`,
    DATA_DIR: join(home, name),
    ALLOW_RESERVED_NAMES: 'on',
    ...env,
  });
  running.set(name, started);
  await until(
    async () => {
      const { exitCode } = started.child;
      if (exitCode !== null) throw new Error(`${name} ended with ${exitCode}: ${started.log()}`);
      const ready = await fetch(`http://127.0.0.1:${metrics}/readyz`).catch(() => undefined);
      await ready?.body?.cancel();
      return ready?.ok;
    },
    () => `${name} is ready: ${started.log()}`,
    START_MS,
  );
}

const startNode = (name: string) =>
  start(name, 'src/nameserver/main.ts', {
    DATABASE_URL: asRole(database.url, ROLES.node),
    NODE_NAME: name,
    DNS_LISTEN: `127.0.0.1:${ports.get(name)?.serves}`,
    DNS_THREADS: '1',
    IMAGE_BYTES: '256M',
    RRL: 'off',
  });
const startApi = (name: string) =>
  start(name, 'src/api/main.ts', {
    DATABASE_URL: asRole(database.url, ROLES.api),
    API_LISTEN: `127.0.0.1:${ports.get(name)?.serves}`,
    API_RATE: 'off',
  });
const startWorkers = (name: string) =>
  start(name, 'workers/main.ts', { DATABASE_URL: asRole(database.url, ROLES.worker) });

async function restartService(name: string): Promise<void> {
  await running.get(name)?.stop();
  await (name.startsWith('api') ? startApi(name) : startWorkers(name));
}

/** Restarts the nodes one after another. Each must then run the installed version. */
async function restartNodes(version: string): Promise<void> {
  for (const name of NODES) {
    const outcome = JSON.parse(await done('node', 'restart', name, '--json'));
    expect(outcome).toMatchObject({ node: name, kind: 'restarted' });
    successors.add(outcome.pid);
    await until(async () => (await versions())[name] === version, `${name} runs ${version}`);
  }
}

async function versions(): Promise<Record<string, string>> {
  const { stdout } = await cli('node', 'list', '--json');
  const { nodes } = JSON.parse(stdout) as { nodes: { name: string; version: string }[] };
  return Object.fromEntries(nodes.map(({ name, version }) => [name, version.replace(/\+.*/, '')]));
}

/** Queries a node continuously, each query with its own id. */
class Probe {
  readonly #socket: Socket = createSocket('udp4');
  readonly #timer: NodeJS.Timeout;
  readonly #open = new Set<number>();
  sent = 0;
  /** Answers with another response code, or without the record. */
  wrong = 0;

  constructor(port: number) {
    const query = Buffer.from(
      queryFor({ name: parseName(`www.${APEX}.`), type: TYPE.A, udpPayloadSize: undefined }),
    );
    this.#socket.on('error', () => {});
    this.#socket.on('message', (answer) => {
      this.#open.delete(answer.readUInt16BE());
      if ((answer.readUInt8(3) & 15) !== 0 || answer.readUInt16BE(6) !== 1) this.wrong++;
    });
    this.#timer = setInterval(() => {
      const next = Buffer.from(query);
      const id = ++this.sent & 0xffff;
      next.writeUInt16BE(id);
      this.#open.add(id);
      this.#socket.send(next, port, '127.0.0.1');
    }, 10);
  }

  async stop(): Promise<{ lost: number; wrong: number }> {
    clearInterval(this.#timer);
    await until(() => this.#open.size === 0, 'the last answers', 20_000).catch(() => {});
    this.#socket.close();
    return { lost: this.#open.size, wrong: this.wrong };
  }
}

/** Edits the domain continuously. Repeats a call that no process answered, with the same Idempotency-Key. */
class Editor {
  /** Values that the API has acknowledged, by name. */
  readonly acknowledged = new Map<string, string>();
  readonly refused: string[] = [];
  repeated = 0;
  #isOver = false;
  readonly #running = this.#run();

  async #run(): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const body = { name: `n${turn}`, type: 'A', ttl: 60, destination: `192.0.2.${turn % 250}` };
      for (let attempt = 0; ; attempt++) {
        const port = ports.get(`api${1 + ((turn + attempt) % 2)}`)?.serves;
        const status = await this.#post(port, body, `edit-${turn}`).catch(() => undefined);
        if (status === 200) {
          this.acknowledged.set(body.name, body.destination);
          break;
        }
        if (status !== undefined && status < 500) {
          this.refused.push(`${body.name}: ${status}`);
          break;
        }
        if (attempt > 200) {
          this.refused.push(`${body.name}: no process answers`);
          break;
        }
        this.repeated++;
        await pause(50);
      }
      await pause(100);
    }
  }

  async #post(port: number | undefined, body: object, id: string): Promise<number> {
    const response = await fetch(`http://127.0.0.1:${port}/domains/${APEX}/records/`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${owner}`,
        'content-type': 'application/json',
        'idempotency-key': id,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    });
    await response.text();
    return response.status;
  }

  /** Resolves once this many further edits are acknowledged, and every node answers the last of them. */
  async more(count: number): Promise<void> {
    const wanted = this.acknowledged.size + count;
    await until(() => {
      if (this.refused.length > 0) throw new Error(this.refused.join());
      return this.acknowledged.size >= wanted;
    }, `${count} edits are acknowledged`);
    const [last = ''] = [...this.acknowledged.keys()].slice(-1);
    for (const node of NODES)
      await until(async () => (await addressAt(node, last)) !== undefined, `${node} has ${last}`);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }
}

async function addressAt(node: string, name: string): Promise<string | undefined> {
  const query = queryFor({
    name: parseName(`${name}.${APEX}.`),
    type: TYPE.A,
    udpPayloadSize: undefined,
  });
  const port = ports.get(node)?.serves as number;
  const answer = await exchangeUdp({ address: '127.0.0.1', port }, query);
  return answer?.readUInt16BE(6) === 1 ? answer.subarray(-4).join('.') : undefined;
}

test('an upgrade from the last release and a rollback lose no answer and no edit', async () => {
  for (const name of [...NODES, 'api1', 'api2', 'workers'])
    ports.set(name, { serves: await freePort(), metrics: await freePort() });
  const former = lastRelease().version;
  const { version } = readBuild();

  await done('migrate');
  await done('account', 'create', 'owner@example.org');
  owner = (await done('key', 'create', 'owner@example.org')).split(/\s/).at(-1) as string;
  await done('domain', 'create', APEX, '--account', 'owner@example.org', '--approve', '--no-scan');
  await done('domain', 'plan', APEX, '--overrides', '{"max_records": 100000}');
  for (const name of NODES) await startNode(name);
  for (const name of ['api1', 'api2']) await startApi(name);
  await startWorkers('workers');
  const editor = new Editor();
  await editor.more(1);
  const created = await fetch(`http://127.0.0.1:${ports.get('api1')?.serves}/domains/${APEX}/records/`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'www', type: 'A', destination: '192.0.2.1' }),
  });
  expect(created.status).toBe(200);
  for (const node of NODES) await until(async () => (await addressAt(node, 'www')) !== undefined);
  const probes = NODES.map((node) => new Probe(ports.get(node)?.serves as number));
  expect(await versions()).toEqual({ ams1: former, fra1: former });

  renameSync(code, join(home, 'former'));
  renameSync(join(home, 'next'), code);
  expect((await cli('migrate', '--plan')).code).toBe(1);
  await done('migrate');
  await editor.more(EDITS); // processes of the former version on the new schema
  for (const name of ['workers', 'api1', 'api2']) await restartService(name);
  await restartNodes(version);
  await editor.more(EDITS);
  expect((await cli('migrate', '--plan')).code).toBe(0);

  renameSync(code, join(home, 'next'));
  renameSync(join(home, 'former'), code);
  await restartNodes(former);
  for (const name of ['api1', 'api2', 'workers']) await restartService(name);
  await editor.more(EDITS);

  await editor.stop();
  const lost = await Promise.all(probes.map((probe) => probe.stop()));
  expect(lost).toEqual(NODES.map(() => ({ lost: 0, wrong: 0 })));
  expect(editor.refused).toEqual([]);
  for (const node of NODES) {
    const missing: string[] = [];
    for (const [name, address] of editor.acknowledged)
      if ((await addressAt(node, name)) !== address) missing.push(name);
    expect([node, missing]).toEqual([node, []]);
  }
  expect(editor.acknowledged.size).toBeGreaterThan(3 * EDITS);
  for (const { sent } of probes) expect(sent).toBeGreaterThan(100);
});
