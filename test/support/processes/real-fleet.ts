// A fleet of real processes below a real parent: nameserver, API, workers, on a database of its own; with an owner who is
// no operator.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { printListenAddress } from '../../../src/process/listen-address.ts';
import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import { type CliRun, runCli } from '../cli/run-cli.ts';
import { asRole, createDatabase, TEST_SETTINGS, type TestDatabase } from '../database/database.ts';
import { newAccount } from '../database/domains.ts';
import { FLEET_POOL, FLEET_SETS, type RealParent } from '../peers/real-parent.ts';
import { startTogether } from '../tests/start-together.ts';
import { until } from '../tests/until.ts';
import { type ApiProcess, startApi } from './api-process.ts';
import { type NodeProcess, startNode } from './nodes.ts';
import { startWorkers, type WorkersProcess } from './workers-process.ts';

export const MOVED_AFTER_MS = 3000;

export interface Replied {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
}

export interface FleetOptions {
  readonly redisUrl?: string;
  /** There is a nameserver too. */
  readonly answers?: boolean;
  /** Each account has a set of its own. */
  readonly hasPool?: boolean;
  /** More settings of all processes but the nameserver. */
  readonly env?: Readonly<Record<string, string>>;
  /** Settings of the node. */
  readonly nodeEnv?: Readonly<Record<string, string>>;
}

/** Asks the API with the key of one account. */
export type Asker = (method: string, path: string, body?: unknown) => Promise<Replied>;

export class RealFleet {
  readonly database: TestDatabase;
  readonly api: ApiProcess;
  readonly node: NodeProcess | undefined;
  readonly #ownerKey: string;
  readonly #settings: Record<string, string>;
  readonly #workers: WorkersProcess[] = [];

  static async start(
    parent: Pick<RealParent, 'settings' | 'ours'>,
    { redisUrl, answers = false, hasPool = false, env = {}, nodeEnv = {} }: FleetOptions,
  ): Promise<RealFleet> {
    const database = await createDatabase();
    await migrate(database.db, {
      ...TEST_SETTINGS,
      ...(hasPool ? poolOf(parent) : { nameserverSets: FLEET_SETS }),
    });
    const ownerKey = generateKey();
    const accountId = await newAccount(database.db, 'owner@example.org');
    await createApiKey(database.db, ownerKey, { name: 'owner', accountId });
    const settings = {
      ...parent.settings,
      MOVED_AFTER: `${MOVED_AFTER_MS / 1000}s`,
      ...(redisUrl !== undefined && { REDIS_URL: redisUrl }),
      ...env,
    };
    const listen = parent.ours.map(printListenAddress).join();
    const nodeUrl = asRole(database.url, 'zonefleet_node');
    const nodeSettings = { DATABASE_URL: nodeUrl, DNS_LISTEN: listen, ...nodeEnv };
    const starting = startTogether<[ApiProcess, NodeProcess | undefined]>([
      startApi(database.url, { env: settings }),
      answers ? startNode('delegation', nodeSettings) : undefined,
    ]);
    const [api, node] = await starting.catch(async (error) => {
      await database.drop();
      throw error;
    });
    return new RealFleet({ database, api, node, ownerKey, settings });
  }

  constructor(started: {
    database: TestDatabase;
    api: ApiProcess;
    node: NodeProcess | undefined;
    ownerKey: string;
    settings: Record<string, string>;
  }) {
    this.database = started.database;
    this.api = started.api;
    this.node = started.node;
    this.#ownerKey = started.ownerKey;
    this.#settings = started.settings;
  }

  /** `within`: how a program is started in a network of its own. */
  async startWorkers(within?: Parameters<typeof startWorkers>[2]): Promise<WorkersProcess> {
    const workers = await startWorkers(this.database.url, this.#settings, within);
    this.#workers.push(workers);
    return workers;
  }

  /** Makes another account. */
  async newAccount(email: string): Promise<Asker> {
    const key = generateKey();
    const accountId = await newAccount(this.database.db, email);
    await createApiKey(this.database.db, key, { name: email, accountId });
    return (method, path, body) => this.#askWith(key, method, path, body);
  }

  /** As the owner. */
  async ask(method: string, path: string, body?: unknown): Promise<Replied> {
    return await this.#askWith(this.#ownerKey, method, path, body);
  }

  async #askWith(key: string, method: string, path: string, body?: unknown): Promise<Replied> {
    const response = await fetch(`${this.api.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  }

  /** Throws unless it is done. */
  async get(path: string): Promise<Replied['body']> {
    const { status, body } = await this.ask('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  cli(...args: string[]): Promise<CliRun> {
    return runCli(args, {
      databaseUrl: this.database.url,
      env: { ...this.#settings, NAMESERVER_SETS: FLEET_SETS.map((set) => set.join()).join(';') },
    });
  }

  /** Background checks one after the other, each as if its time had come, until one is as wanted: the run. */
  async checksUntil(name: string, isWanted: (run: Replied['body']) => boolean): Promise<Replied['body']> {
    const { id } = await this.get(`/domains/${name}`);
    const newest = async () => (await this.get(`/domains/${name}/checks?evidence=true&limit=1`))[0];
    let seen: Replied['body'];
    const next = async () => {
      seen = await newest();
      await sql`update domain_checks set due_at = now(), next_at = now() where domain_id = ${id}`.execute(
        this.database.db,
      );
      const isNew = (run: Replied['body']) => run?.id !== seen?.id || run?.repeated !== seen?.repeated;
      const run = await until(async () => {
        const found = await newest();
        return isNew(found) && found;
      }, `${name} is checked`);
      return isWanted(run) && run;
    };
    return await until(next, () => `a check of ${name} is as wanted: ${JSON.stringify(seen)}`);
  }

  async stop(): Promise<void> {
    await Promise.all([
      ...this.#workers.map((workers) => workers.stop()),
      this.api.stop(),
      this.node?.stop(),
    ]);
    await this.database.drop();
  }
}

function poolOf({ ours }: Pick<RealParent, 'ours'>) {
  const addresses = [...new Set(ours.map(({ address }) => address))];
  return {
    nameserverSets: [],
    nameserverPool: FLEET_POOL,
    nameserverAddresses: addresses.map((address) => [address]),
  };
}

const run = promisify(execFile);

export interface Dug {
  readonly status: string | undefined;
  readonly flags: readonly string[];
  /** `owner TYPE rdata`, sorted. */
  readonly answer: readonly string[];
}

export async function dig(
  { address, port }: { address: string; port: number },
  ...words: string[]
): Promise<Dug> {
  const { stdout } = await run('dig', [
    `@${address}`,
    '-p',
    String(port),
    '+tries=1',
    '+time=3',
    '+noauthority',
    ...words,
  ]);
  return {
    status: /status: (\w+)/.exec(stdout)?.[1],
    flags: /flags: ([a-z ]*);/.exec(stdout)?.[1]?.split(' ') ?? [],
    answer: stdout
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith(';'))
      .map((line) => line.replace(/^(\S+)\s+\d+\s+IN\s+(\S+)\s+/, '$1 $2 '))
      .sort(),
  };
}
