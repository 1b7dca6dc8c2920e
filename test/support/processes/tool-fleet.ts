// An API process with the APIs of other systems, nodes, and a customer's domain, for tests with real clients.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { runCli } from '../cli/run-cli.ts';
import { asRole, createDatabase } from '../database/database.ts';
import { newAccount, newDomain } from '../database/domains.ts';
import { startTogether } from '../tests/start-together.ts';
import { type ApiProcess, askApi, startApi } from './api-process.ts';
import { type NodeProcess, startNode } from './nodes.ts';

export const OWNER = 'ann@shop.example';

export type ToolFleet = Awaited<ReturnType<typeof startToolFleet>>;

/** Starts a fleet whose customer has the domain shop.example. */
export async function startToolFleet(nodeNames: readonly string[] = []) {
  const database = await createDatabase();
  try {
    const accountId = await newAccount(database.db, OWNER);
    const ownerKey = generateKey();
    await createApiKey(database.db, ownerKey, { name: 'owner', accountId });
    await newDomain(database.db, accountId, 'shop.example.');
    const env = { COMPAT_API: 'on', PDNS_API: 'on', ALLOW_RESERVED_NAMES: 'on' };
    const settings = { DATABASE_URL: asRole(database.url, 'zonefleet_node') };
    const [api, ...nodes] = await startTogether<[ApiProcess, ...NodeProcess[]]>([
      startApi(database.url, { env }),
      ...nodeNames.map((name) => startNode(name, settings)),
    ]);
    const folder = mkdtempSync(join(tmpdir(), 'zonefleet-tools-'));
    return {
      api,
      nodes,
      ownerKey,
      /** For the files of the clients. */
      folder,
      ask: (method: string, path: string, body?: unknown) => askApi(api.url, ownerKey, method, path, body),
      /** Returns the records of a type as lines `name destination`, sorted. */
      async records(type: string): Promise<string[]> {
        const { body } = await askApi(
          api.url,
          ownerKey,
          'GET',
          `/domains/shop.example/records/?type=${type}`,
        );
        return body.map((one: Record<string, string>) => `${one.name} ${one.destination}`).sort();
      },
      /** Runs a documented command, `npx zonefleet …`. Returns what it prints. Throws unless it succeeds. */
      async cli(command: string): Promise<string> {
        const args = command.replace(/^npx zonefleet /, '').split(' ');
        const { code, stdout, stderr } = await runCli(args, { databaseUrl: database.url });
        if (code !== 0) throw new Error(`${command}: ${code} ${stdout}${stderr}`);
        return stdout.trim();
      },
      async stop(): Promise<void> {
        await Promise.all([api, ...nodes].map((each) => each.stop()));
        rmSync(folder, { recursive: true, force: true });
        await database.drop();
      },
    };
  } catch (error) {
    await database.drop();
    throw error;
  }
}
