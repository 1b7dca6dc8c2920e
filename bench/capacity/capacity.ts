// What a record and an edit take in Postgres and on the way to a node: the figures of docs/operating/runbooks/capacity.md.

import { sql } from 'kysely';
import { parseName } from '../../src/dns/name.ts';
import { migrate } from '../../src/features/migrate.ts';
import { listNodes } from '../../src/store/feed/nodes.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../src/store/postgres/deadlines.ts';
import { newAccount, saved } from '../../test/support/database/domains.ts';
import { enabled, useSecrets } from '../../test/support/database/signed-zones.ts';
import { startNode } from '../../test/support/processes/nodes.ts';
import { startProxy } from '../../test/support/processes/tcp-proxy.ts';
import { until } from '../../test/support/tests/until.ts';
import { edit } from '../../test/support/zone/customer-records.ts';
import { addSmall, unsignedName } from '../edits/signed-domains.ts';
import type { Part } from '../part.ts';
import { benchCluster, runOn } from '../postgres/cluster.ts';
import { loadRecipe } from '../postgres/load-recipe.ts';
import { BENCH_SETTINGS } from '../postgres/zonefleet-database.ts';
import { count, table } from '../report/table.ts';
import { say } from '../say.ts';
import { makeRecipeZones, RECIPE_RECORDS } from '../zones/recipe-zones.ts';

const DOMAINS = 1000;
const EDITS = 2000;
const CONCURRENT = 8;
const IDLE_MS = 10_000;

export const capacity: Part = {
  names: ['capacity'],
  async run(options) {
    const domains = Math.min(options.zones ?? DOMAINS, DOMAINS);
    const zones = 20 * domains;
    const cluster = await benchCluster();
    const url = await cluster.database(`capacity_${domains}`, async (made) => {
      const db = openDatabase(made, { limits: OPERATOR_LIMITS });
      await migrate(db, BENCH_SETTINGS);
      await runOn(made, 'update plans set max_records = null, max_domains = null');
      await db.destroy();
    });
    const db = openDatabase(url, { limits: OPERATOR_LIMITS });
    try {
      const empty = await sizeOf(db);
      const { recipe } = makeRecipeZones(zones);
      if (recipe !== undefined) await loadRecipe(url, recipe);
      const withZones = await sizeOf(db);
      say(`${zones} operator zones are loaded`);
      useSecrets(db);
      const account = await newAccount(db, 'bench@example.org');
      const ids: number[] = [];
      for (let i = 0; i < domains; i++) ids.push(await addSmall(db, account, unsignedName(i)));
      const withDomains = await sizeOf(db);
      say(`${domains} domains are created`);
      const edits = await measureEdits(url, db, ids);
      const edited = await sizeOf(db);
      for (const domainId of ids) await enabled(db, { domainId });
      const signed = await sizeOf(db);
      const perRecord = (bytes: number, of: number) => count(bytes / of / RECIPE_RECORDS);
      return [
        {
          part: 'capacity',
          title: 'Space and bandwidth',
          blocks: [
            `${count(zones)} operator zones and ${count(domains)} domains with the ${RECIPE_RECORDS} records of the recipe, in an embedded Postgres without tuning. Sizes are those of the whole database, with indexes and logs of changes.`,
            table(
              ['', 'bytes of Postgres'],
              [
                ['a record of an operator zone', perRecord(withZones - empty, zones)],
                ['a record of a domain, with its change log', perRecord(withDomains - withZones, domains)],
                ['a record of a domain, additionally if it is signed', perRecord(signed - edited, domains)],
                [
                  'an edit that adds a record (feed, history, log; most of it is deleted after 7 days)',
                  count((edited - withDomains) / EDITS),
                ],
              ],
            ),
            `${count(EDITS)} edits, each in its own transaction and ${CONCURRENT} concurrently, while one node follows:`,
            table(
              ['', 'octets'],
              [
                ['WAL for an edit, as a standby receives it', count(edits.wal / EDITS)],
                ['from Postgres to a node for an edit', count(edits.received / EDITS)],
                ['from Postgres to an idle node, per second', count(edits.idlePerSecond)],
              ],
            ),
          ],
          charts: [],
          runs: 'one run each',
        },
      ];
    } finally {
      await db.destroy();
    }
  },
};

/** Returns the size of the database in bytes, after dead rows are removed. */
async function sizeOf(db: Database): Promise<number> {
  await sql`vacuum`.execute(db);
  const { rows } = await sql<{ size: string }>`
    select pg_database_size(current_database())::text as size`.execute(db);
  return Number(rows[0]?.size);
}

async function walPosition(db: Database): Promise<number> {
  const { rows } = await sql<{ at: string }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as at`.execute(db);
  return Number(rows[0]?.at);
}

interface EditCost {
  readonly wal: number;
  readonly received: number;
  readonly idlePerSecond: number;
}

async function measureEdits(url: string, db: Database, ids: readonly number[]): Promise<EditCost> {
  const proxy = await startProxy(url);
  const node = await startNode('capacity', { DATABASE_URL: proxy.url, DNS_COUNTS: 'off' });
  try {
    const position = async () => {
      const { rows } = await sql<{
        newest: string;
      }>`select coalesce(max(id), 0)::text as newest from changes`.execute(db);
      const [reported] = await listNodes(db);
      return (reported?.position ?? -1) >= Number(rows[0]?.newest);
    };
    await until(position, 'the node has every change');
    /** Returns the octets that the node receives per second without edits. */
    const idleRate = async () => {
      const [before, startedMs] = [proxy.received(), performance.now()];
      await new Promise((passed) => setTimeout(passed, IDLE_MS));
      return ((proxy.received() - before) * 1000) / (performance.now() - startedMs);
    };
    const idleBefore = await idleRate();
    const [wal, received, startedMs] = [await walPosition(db), proxy.received(), performance.now()];
    let next = 0;
    const editSome = async () => {
      for (let i = next++; i < EDITS; i = next++) {
        const index = i % ids.length;
        const create = [`host${i} 300 A 198.51.100.1`];
        await saved(db, ids[index] as number, edit({ create }, parseName(unsignedName(index))));
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, editSome));
    await until(position, 'the node has every edit');
    const [walAfter, receivedAfter, seconds] = [
      await walPosition(db),
      proxy.received(),
      (performance.now() - startedMs) / 1000,
    ];
    const idlePerSecond = (idleBefore + (await idleRate())) / 2;
    return {
      wal: walAfter - wal,
      received: receivedAfter - received - idlePerSecond * seconds,
      idlePerSecond,
    };
  } finally {
    await node.stop();
    await proxy.stop();
  }
}
