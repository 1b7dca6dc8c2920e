// Housekeeping of the cache registry, with the rights that workers have.

import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { CacheRegistry } from '../../../src/store/cached/cache-registry.ts';
import { createEdge, revokeEdge } from '../../../src/store/edges/edges.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { sweepCache } from '../../../workers/rounds/sweep-cache.ts';
import { asRole } from '../../support/database/database.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const database = sharedDatabase();
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

test('what has expired goes, and what edges had that are revoked; the counts follow', async () => {
  const url = asRole(database.url, 'zonefleet_worker');
  for (const [at, name] of ['fra', 'ber'].entries())
    await createEdge(database.db, { name, region: 'eu', v4: [`192.0.2.${at + 1}`], v6: [] });
  await sql`
    insert into cached_entries (domain_id, node, host, path, query, variant, method, hostname, store_path, key_hash, cache_key,
      l2_key, size, cached_at, expires_at)
    select d, n, 'a.test', '/', '', '', 'GET', 'a.test', '/', k, '', '', 1, now() - interval '1 hour',
      case k when 'old' then now() - interval '1 s' else now() + interval '1 hour' end
    from unnest(array[1, 2]) d, unnest(array['fra', 'ber']) n, unnest(array['old', 'new']) k`.execute(
    database.db,
  );
  await sql`insert into cached_domains (domain_id, entries) values (1, 4), (2, 4)`.execute(database.db);
  await sql`insert into cached_nodes values ('fra', now() - interval '2 hours')`.execute(database.db);
  const db = openDatabase(url);
  ends.push(() => db.destroy());
  const cacheRegistry = new CacheRegistry({ url, isElsewhere: false, maxConnections: 1 });
  ends.push(() => cacheRegistry.close());
  const onTrouble = (error: unknown) => expect.fail(String(error));
  const sweeping = sweepCache({ db, cacheRegistry, onTrouble, idleMs: 5 });
  ends.push(() => sweeping.stop());
  const left = async () => {
    const { rows } = await sql<{ entry: string }>`
      select domain_id || ' ' || node || ' ' || key_hash as entry from cached_entries order by entry`.execute(
      database.db,
    );
    return rows.map(({ entry }) => entry).join();
  };
  await until(
    async () => (await left()) === '1 ber new,1 fra new,2 ber new,2 fra new',
    'the expired are gone',
  );
  await revokeEdge(database.db, 'fra');
  await until(async () => (await left()) === '1 ber new,2 ber new', 'the edge’s are gone');
  const counts = async () => {
    const { rows } = await sql`select domain_id as id, entries from cached_domains order by id`.execute(
      database.db,
    );
    return JSON.stringify(rows) === JSON.stringify([1, 2].map((id) => ({ id, entries: 1 })));
  };
  await until(counts, 'the counts');
  await until(
    async () => (await sql`select from cached_nodes`.execute(database.db)).rows.length === 0,
    'the node',
  );
});
