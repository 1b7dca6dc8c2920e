// A fleet of real processes below a real parent: nameserver, API and workers with a separate database, and an owner who is
// not an operator.

import { sql } from 'kysely';
import { migrate } from '../../../src/features/migrate.ts';
import { printListenAddress } from '../../../src/process/listen-address.ts';
import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { type CliRun, runCli } from '../cli/run-cli.ts';
import { asRole, createDatabase, TEST_SETTINGS, type TestDatabase } from '../database/database.ts';
import { newAccount } from '../database/domains.ts';
import { FLEET_SETS, type RealParent } from '../peers/real-parent.ts';
import { startTogether } from '../tests/start-together.ts';
import { until } from '../tests/until.ts';
import { type ApiProcess, askApi, type HttpAnswer, startApi } from './api-process.ts';
import { type NodeProcess, startNode } from './nodes.ts';
import { startWorkers, type WorkersProcess } from './workers-process.ts';

export class RealFleet {
  readonly database: TestDatabase;
  readonly api: ApiProcess;
  readonly node: NodeProcess;
  readonly #ownerKey: string;
  readonly #settings: Record<string, string>;
  readonly #workers: WorkersProcess[] = [];

  /** `env`: additional settings of all processes except the nameserver. */
  static async start(parent: RealParent, env: Readonly<Record<string, string>> = {}): Promise<RealFleet> {
    const database = await createDatabase();
    await migrate(database.db, { ...TEST_SETTINGS, nameserverSets: FLEET_SETS });
    const ownerKey = generateKey();
    const accountId = await newAccount(database.db, 'owner@example.org');
    await createApiKey(database.db, ownerKey, { name: 'owner', accountId });
    const settings = { ...parent.settings, MOVED_AFTER: '3s', ...env };
    const listen = parent.ours.map(printListenAddress).join();
    const nodeUrl = asRole(database.url, 'zonefleet_node');
    const nodeSettings = { DATABASE_URL: nodeUrl, DNS_LISTEN: listen };
    const starting = startTogether<[ApiProcess, NodeProcess]>([
      startApi(database.url, { env: settings }),
      startNode('delegation', nodeSettings),
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
    node: NodeProcess;
    ownerKey: string;
    settings: Record<string, string>;
  }) {
    this.database = started.database;
    this.api = started.api;
    this.node = started.node;
    this.#ownerKey = started.ownerKey;
    this.#settings = started.settings;
  }

  async startWorkers(): Promise<WorkersProcess> {
    const workers = await startWorkers(this.database.url, this.#settings);
    this.#workers.push(workers);
    return workers;
  }

  /** Calls the API as the owner. */
  ask(method: string, path: string, body?: unknown): Promise<HttpAnswer> {
    return askApi(this.api.url, this.#ownerKey, method, path, body);
  }

  /** Throws unless it succeeds. */
  async get(path: string): Promise<HttpAnswer['body']> {
    const { status, body } = await this.ask('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  cli(...args: string[]): Promise<CliRun> {
    return runCli(args, { databaseUrl: this.database.url, env: this.cliSettings });
  }

  /** Settings of the command line without the database. */
  get cliSettings(): Record<string, string> {
    return { ...this.#settings, NAMESERVER_SETS: FLEET_SETS.map((set) => set.join()).join(';') };
  }

  /**
   * Runs background checks one after the other, each as if it were due, until one has the expected result. Returns that
   * check.
   */
  async checksUntil(
    name: string,
    isWanted: (run: HttpAnswer['body']) => boolean,
  ): Promise<HttpAnswer['body']> {
    const { id } = await this.get(`/domains/${name}`);
    const newest = async () => (await this.get(`/domains/${name}/checks?evidence=true&limit=1`))[0];
    let seen: HttpAnswer['body'];
    const next = async () => {
      seen = await newest();
      await sql`update domain_checks set due_at = now(), next_at = now() where domain_id = ${id}`.execute(
        this.database.db,
      );
      const isNew = (run: HttpAnswer['body']) => run?.id !== seen?.id || run?.repeated !== seen?.repeated;
      const run = await until(async () => {
        const found = await newest();
        return isNew(found) && found;
      }, `${name} is checked`);
      return isWanted(run) && run;
    };
    return await until(next, () => `a check of ${name} is as wanted: ${JSON.stringify(seen)}`);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#workers.map((workers) => workers.stop()), this.api.stop(), this.node.stop()]);
    await this.database.drop();
  }
}
