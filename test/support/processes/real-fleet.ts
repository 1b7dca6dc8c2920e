// A fleet of real processes below a real parent: nameserver, API and workers with a separate database, and an owner who is
// not an operator.

import { sql } from 'kysely';
import { migrate } from '../../../src/features/migrate.ts';
import { printListenAddress } from '../../../src/process/listen-address.ts';
import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { type CliRun, runCli } from '../cli/run-cli.ts';
import { asRole, createDatabase, TEST_SETTINGS } from '../database/database.ts';
import { newAccount } from '../database/domains.ts';
import { FLEET_SETS, type RealParent } from '../peers/real-parent.ts';
import { startTogether } from '../tests/start-together.ts';
import { until } from '../tests/until.ts';
import { type ApiProcess, askApi, type HttpAnswer, startApi } from './api-process.ts';
import { type NodeProcess, startNode } from './nodes.ts';
import { startWorkers, type WorkersProcess } from './workers-process.ts';

export type RealFleet = Awaited<ReturnType<typeof startRealFleet>>;

/** `env`: additional settings of all processes except the nameserver. */
export async function startRealFleet(parent: RealParent, env: Readonly<Record<string, string>> = {}) {
  const database = await createDatabase();
  const { db, url } = database;
  await migrate(db, { ...TEST_SETTINGS, nameserverSets: FLEET_SETS });
  const ownerKey = generateKey();
  const accountId = await newAccount(db, 'owner@example.org');
  await createApiKey(db, ownerKey, { name: 'owner', accountId });
  const settings = { ...parent.settings, MOVED_AFTER: '3s', ...env };
  const listen = parent.ours.map(printListenAddress).join();
  const nodeSettings = { DATABASE_URL: asRole(url, 'zonefleet_node'), DNS_LISTEN: listen };
  const starting = startTogether<[ApiProcess, NodeProcess]>([
    startApi(url, { env: settings }),
    startNode('delegation', nodeSettings),
  ]);
  const [api, node] = await starting.catch(async (error) => {
    await database.drop();
    throw error;
  });
  const started: WorkersProcess[] = [];
  /** Settings of the command line without the database. */
  const cliSettings: Record<string, string> = {
    ...settings,
    NAMESERVER_SETS: FLEET_SETS.map((set) => set.join()).join(';'),
  };
  /** Calls the API as the owner. */
  const ask = (method: string, path: string, body?: unknown): Promise<HttpAnswer> =>
    askApi(api.url, ownerKey, method, path, body);
  /** Throws unless it succeeds. */
  const get = async (path: string): Promise<HttpAnswer['body']> => {
    const { status, body } = await ask('GET', path);
    if (status !== 200) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  };

  return {
    database,
    api,
    node,
    cliSettings,
    ask,
    get,
    async startWorkers(): Promise<WorkersProcess> {
      const workers = await startWorkers(url, settings);
      started.push(workers);
      return workers;
    },
    cli: (...args: string[]): Promise<CliRun> => runCli(args, { databaseUrl: url, env: cliSettings }),
    /**
     * Runs background checks one after the other, each as if it were due, until one has the expected result. Returns
     * that check.
     */
    async checksUntil(
      name: string,
      isWanted: (run: HttpAnswer['body']) => boolean,
    ): Promise<HttpAnswer['body']> {
      const { id } = await get(`/domains/${name}`);
      const newest = async () => (await get(`/domains/${name}/checks?evidence=true&limit=1`))[0];
      let seen: HttpAnswer['body'];
      const next = async () => {
        seen = await newest();
        await sql`update domain_checks set due_at = now(), next_at = now() where domain_id = ${id}`.execute(
          db,
        );
        const isNew = (run: HttpAnswer['body']) => run?.id !== seen?.id || run?.repeated !== seen?.repeated;
        const run = await until(async () => {
          const found = await newest();
          return isNew(found) && found;
        }, `${name} is checked`);
        return isWanted(run) && run;
      };
      return await until(next, () => `a check of ${name} is as wanted: ${JSON.stringify(seen)}`);
    },
    async stop(): Promise<void> {
      await Promise.all([...started.map((workers) => workers.stop()), api.stop(), node.stop()]);
      await database.drop();
    },
  };
}
