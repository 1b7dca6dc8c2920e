// The counts of the registry, and what happens to a domain that has too many entries.

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { type CacheOperation, foldReport } from '../../../src/features/cache/rules.ts';
import { deleteEntries, listEntries, removePurged } from '../../../src/features/cache/sql-entries.ts';
import { saveReport } from '../../../src/features/cache/sql-report.ts';
import { at, storedEntry } from '../../support/edge/stored-entry.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const { db, query, value } = sharedDatabase();
const DOMAIN = 7;

const entry = (key_hash: string, more: object = {}) =>
  storedEntry('www.a.test', { key_hash, query: '', variant: '', cache_key: '', l2_key: '', ...more });
const save = (words: readonly object[], node = 'fra', most?: number) =>
  saveReport(
    db,
    node,
    foldReport(words as CacheOperation[], () => DOMAIN),
    most,
  );
const list = async () => {
  const page = { sort: 'cached_at', ascends: true, limit: 1000, offset: 0 } as const;
  const { rows, total, dropped } = await listEntries(db, DOMAIN, page);
  return { hashes: rows.map(({ keyHash }) => keyHash), total, dropped };
};
const counted = () => value<number>`select entries from cached_domains where domain_id = ${DOMAIN}`;

it('a domain with too many entries loses the oldest, and this is reported', async () => {
  await save([entry('a', { cached_at: at(-50) }), entry('b', { cached_at: at(-40) })], 'fra', 3);
  expect(await save([entry('c', { cached_at: at(-60) })], 'nyc', 3)).toMatchObject({ dropped: 0 });
  const saved = await save(
    [entry('d', { cached_at: at(-30) }), entry('e', { cached_at: at(-20) })],
    'nyc',
    3,
  );
  expect(saved).toEqual({ stored: 2, evicted: 0, dropped: 2 });
  expect(await list()).toEqual({ hashes: ['b', 'd', 'e'], total: 3, dropped: 2 });
  expect(await counted()).toBe(3);
});

it('concurrent reports, evictions, restarts and purges do not deadlock, and the counts are exact', async () => {
  await Promise.all(
    ['n1', 'n2', 'n3', 'n4'].map(async (node, n) => {
      for (let round = 0; round < 8; round++) {
        const hashes = Array.from({ length: 20 }, (_, i) => `${i + round}`);
        await save(
          hashes.map((hash) => entry(hash, { cached_at: at(-round) })),
          node,
          60,
        );
        await save([{ op: 'evicted', domain_id: DOMAIN, key_hash: `${round}`, at: at(0) }], node, 60);
        if (round === 5 && n === 0) await save([{ op: 'restarted', at: at(-1) }], node, 60);
        if (round === 6) {
          const target = { kind: 'host', host: 'www.a.test' } as const;
          await removePurged(db, node, { domainId: DOMAIN, target, at: new Date(Date.now() - 4000) });
        }
      }
    }),
  );
  const { total } = await list();
  expect(total).toBeLessThanOrEqual(60);
  expect(await counted()).toBe(total);
});

it('deletes more rows than fit in one transaction', async () => {
  await query`
    insert into cached_entries (domain_id, node, host, path, query, variant, method, hostname, store_path, key_hash,
      cache_key, l2_key, size, cached_at, expires_at)
    select ${DOMAIN}, 'fra', 'www.a.test', '/' || i, '', '', 'GET', 'www.a.test', '/c/' || i, i::text, '', '', 1,
      now() - interval '1 hour', now() + interval '1 hour' from generate_series(1, 12000) i`;
  await query`insert into cached_domains (domain_id, entries) values (${DOMAIN}, 12000)`;
  expect(await deleteEntries(db, sql`e.domain_id = ${DOMAIN} and e.path <> '/5'`)).toBe(11_999);
  expect([(await list()).hashes, await counted()]).toEqual([['5'], 1]);
});

it('a completed purge deletes the matching rows that were cached before it', async () => {
  const of = async (target: Parameters<typeof removePurged>[2]['target']) => {
    await query`truncate cached_entries, cached_domains`;
    await save([
      entry('one', { path: '/a', query: 'x=1', store_path: '/s/1' }),
      entry('two', { path: '/a', store_path: '/s/2' }),
      entry('long', { path: `/a/${'b'.repeat(300)}`, store_path: '/s/3' }),
      entry('star', { path: '/a*', store_path: '/s/4', hostname: '*.a.test' }),
      entry('host', { host: 'deep.www.a.test', hostname: 'deep.www.a.test', store_path: '/s/1' }),
    ]);
    await save([entry('one', { path: '/a', query: 'x=1' })], 'nyc');
    await removePurged(db, 'fra', { domainId: DOMAIN + 1, target, at: new Date() }); // of another domain
    await removePurged(db, 'fra', { domainId: DOMAIN, target, at: new Date(Date.now() - 60_000) }); // before the entries were cached
    const before = (await list()).total;
    await removePurged(db, 'fra', { domainId: DOMAIN, target, at: new Date() });
    const rows = await query<{ hash: string }>`
      select key_hash as hash from cached_entries where node = 'fra' order by hash`;
    expect([before, await counted()]).toEqual([6, rows.length + 1]);
    return rows.map(({ hash }) => hash).join(' ');
  };
  const host = 'www.a.test';
  expect(await of({ kind: 'all' })).toBe('');
  expect(await of({ kind: 'host', host })).toBe('host');
  expect(await of({ kind: 'host', host: `*.${host}` })).toBe('long one star two');
  expect(await of({ kind: 'host', host: '*.a.test' })).toBe('');
  expect(await of({ kind: 'url', host, path: '/a', query: 'x=1' })).toBe('host long star two');
  expect(await of({ kind: 'url', host, path: '/a', query: '' })).toBe('host long one star');
  expect(await of({ kind: 'prefix', host, path: '/a/' })).toBe('host one star two');
  expect(await of({ kind: 'prefix', host, path: `/a/${'b'.repeat(299)}` })).toBe('host one star two');
  expect(await of({ kind: 'prefix', host, path: '/a*' })).toBe('host long one two');
  expect(await of({ kind: 'stored', hostname: host, store_path: '/s/1' })).toBe('host long star two');
  expect(await of({ kind: 'stored', hostname: '*.a.test', store_path: '/s/4' })).toBe('host long one two');
});
