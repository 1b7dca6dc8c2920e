import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sweepEntries } from '../../../src/features/cache/sql-entries.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import type { Answer } from '../../support/api/api.ts';
import { ownApi } from '../../support/api/api.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { type EdgeApi, startEdgeApi } from '../../support/edge/edge-api.ts';
import { at, storedEntry } from '../../support/edge/stored-entry.ts';
import { until } from '../../support/tests/until.ts';

const api = ownApi(() => startEdgeApi());
let domain: Domain;
const NAME = 'shop.test';
const tokens: Record<string, string> = {};

const report = async (entries: readonly object[], edge = 'fra') => {
  const { status, body } = await api.ask('POST', '/edge/v1/cache', {
    as: tokens[edge] as string,
    body: { entries },
  });
  expect([status, body.ignored]).toEqual([200, 0]);
};
const browse = async (query = '', as: string | null = 'viewer', of = NAME) =>
  await api.ask('GET', `/domains/${of}/cache/keys${query}`, { as });
const hashes = async (query: string) =>
  (await browse(query)).body.rows.map(({ key_hash }: { key_hash: string }) => key_hash);

const FULL = storedEntry(`img.${NAME}`, {
  key_hash: 'full',
  path: '/100%_a/b.png',
  query: 'x=1&y=2',
  variant: 'mobile',
  hostname: `*.${NAME}`,
  store_path: '/data/ab/cd',
  cache_key: 'https://img/b.png',
  l2_key: 'l2:b',
  size: 5_000_000_000,
  cached_at: at(-100),
});

beforeAll(async () => {
  domain = await api.makeDomain(NAME);
  tokens.fra = await api.makeEdge('fra');
  tokens.ber = await api.makeEdge('ber');
  await report([
    FULL,
    storedEntry(`www.${NAME}`, { key_hash: 'one', path: '/a/one.html', size: 30, cached_at: at(-40) }),
    storedEntry(NAME, { key_hash: 'two', path: '/a/two.css', size: 10, cached_at: at(-30) }),
  ]);
  await report(
    [storedEntry(`www.${NAME}`, { key_hash: 'three', path: '/B', size: 20, cached_at: at(-20) })],
    'ber',
  );
});

describe('GET …/cache/keys', () => {
  it('returns rows with every field, the total, limit and offset', async () => {
    const { status, body } = await browse(`?hostname=*.${NAME}`);
    const { op: _, ...fields } = FULL as Record<string, unknown>;
    expect([status, body]).toEqual([
      200,
      {
        rows: [{ domain_id: domain.id, domain: NAME, node: 'fra', ...fields }],
        total: 1,
        limit: 100,
        offset: 0,
      },
    ]);
  });

  it('sorts by cached_at by default, newest first', async () => {
    expect(await hashes('')).toEqual(['three', 'two', 'one', 'full']);
    expect(await hashes('?dir=asc')).toEqual(['full', 'one', 'two', 'three']);
    expect(await hashes('?sort=size')).toEqual(['full', 'one', 'three', 'two']);
    expect((await browse('?dir=sideways')).body.fields[0].field).toBe('dir');
  });

  it('sorts by cached_at if the column is unknown', async () => {
    for (const sort of ['nonsense', 'SIZE', 'id', 'size;drop table cached_entries', '__proto__', ''])
      expect(await hashes(`?sort=${encodeURIComponent(sort)}`)).toEqual(['three', 'two', 'one', 'full']);
  });

  it('sorts by every column of a row', async () => {
    const [row] = (await browse()).body.rows;
    for (const column of Object.keys(row)) {
      const { body } = await browse(`?sort=${column}&dir=asc`);
      const values = body.rows.map((each: Record<string, string | number>) => each[column]);
      const ordered = [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      expect([column, values]).toEqual([column, ordered]);
    }
  });

  it('filters by a part of host and path, or by a pattern of the whole', async () => {
    expect(await hashes('?host=ww')).toEqual(['three', 'one']);
    expect(await hashes('?host=WWW')).toEqual(['three', 'one']); // hosts are case-insensitive
    expect(await hashes(`?host=${NAME}`)).toHaveLength(4);
    expect(await hashes(`?host=*.${NAME}`)).toEqual(['three', 'one', 'full']);
    expect(await hashes('?host=w*')).toEqual(['three', 'one']);
    expect(await hashes('?path=/a/')).toEqual(['two', 'one']);
    expect(await hashes('?path=/a/*.css')).toEqual(['two']);
    expect(await hashes('?path=*.css')).toEqual(['two']);
    expect(await hashes('?path=a*')).toEqual([]); // matches the whole path
    expect(await hashes('?path=/b')).toEqual(['full']); // case-sensitive: not /B
  });

  it('matches the special characters of LIKE literally', async () => {
    expect(await hashes(`?path=${encodeURIComponent('100%_a')}`)).toEqual(['full']);
    expect(await hashes(`?path=${encodeURIComponent('%')}`)).toEqual(['full']);
    expect(await hashes('?path=_')).toEqual(['full']);
    expect(await hashes(`?path=${encodeURIComponent('/_')}`)).toEqual([]);
    expect(await hashes(`?path=${encodeURIComponent('\\')}`)).toEqual([]);
    expect(await hashes(`?path=${encodeURIComponent("' or 1=1 --")}`)).toEqual([]);
  });

  it('filters by node, case-sensitively, and by the exact storage host', async () => {
    expect(await hashes('?node=ber')).toEqual(['three']);
    expect(await hashes('?node=BER')).toEqual([]);
    expect(await hashes(`?hostname=www.${NAME}&node=fra`)).toEqual(['one']);
    expect(await hashes('?hostname=www')).toEqual([]);
  });

  it('has pages by limit and offset, and the total of all pages', async () => {
    const { body } = await browse('?limit=2&offset=1&sort=size&dir=asc');
    expect(body).toMatchObject({ total: 4, limit: 2, offset: 1 });
    expect(body.rows.map(({ size }: { size: number }) => size)).toEqual([20, 30]);
    expect((await browse('?offset=1000000000')).body).toMatchObject({ rows: [], total: 4 });
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'offset=-1', 'offset=99999999999', 'page=2'])
      expect([query, (await browse(`?${query}`)).status]).toEqual([query, 400]);
    expect((await browse('?limit=1000')).status).toBe(200);
  });

  it('accepts patterns with many wildcards, and limits their length', async () => {
    const path = `/${'a'.repeat(2000)}`;
    await api.makeDomain('long.test');
    await report([storedEntry('long.test', { path })]);
    const pattern = `${'*a'.repeat(500)}*b`;
    expect((await browse(`?path=${pattern}`, 'owner', 'long.test')).body.total).toBe(0);
    expect((await browse(`?path=${'*a'.repeat(500)}*`, 'owner', 'long.test')).body.total).toBe(1);
    expect((await browse(`?path=${'a'.repeat(2049)}`)).status).toBe(400);
  });

  it('hides expired entries, and housekeeping deletes them', async () => {
    await api.makeDomain('old.test');
    await report([storedEntry('old.test'), storedEntry('old.test', { key_hash: 'b' })]);
    await api.query`update cached_entries set expires_at = now() - interval '1 s' where host = 'old.test' and key_hash = 'a'`;
    expect((await browse('', 'owner', 'old.test')).body).toMatchObject({
      total: 1,
      rows: [{ key_hash: 'b' }],
    });
    await sweepEntries(api.db, ['fra', 'ber']);
    const rows = await api.query`select key_hash from cached_entries where host = 'old.test'`;
    expect(rows).toEqual([{ key_hash: 'b' }]);
    await sweepEntries(api.db, ['ber']); // the edge is revoked
    expect((await browse('', 'owner', 'old.test')).body.total).toBe(0);
    const counts = await api.query`
      select d.entries from cached_domains d
      where entries <> (select count(*) from cached_entries e where e.domain_id = d.domain_id)`;
    expect(counts).toEqual([]);
  });
});

it('a page waits in the queue of its account: ten wait, and more are a 429', async () => {
  const answers: Answer[] = [];
  // Pages wait for the lock.
  const { asked, refused } = await api.db.transaction().execute(async (trx) => {
    await sql`lock table cached_entries in access exclusive mode`.execute(trx);
    const asked = Array.from({ length: 13 }, () => browse());
    for (const each of asked) void each.then((answer) => answers.push(answer));
    await until(() => answers.length === 2, 'two are refused');
    return { asked, refused: [...answers] };
  });
  for (const { status, body, headers } of refused)
    expect([status, body, headers['retry-after']]).toEqual([429, { error: 'rate limit exceeded' }, '1']);
  const statuses = (await Promise.all(asked)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 200)).toHaveLength(11);
});

describe('a registry in its own database', () => {
  let elsewhere: TestDatabase;
  let own: EdgeApi;
  let token: string;

  beforeAll(async () => {
    elsewhere = await createDatabase({ empty: true });
    own = await startEdgeApi({ cacheRegistryUrl: elsewhere.url });
    token = await own.makeEdge('fra');
    await own.makeDomain(NAME);
  });
  afterAll(async () => {
    await own.stop();
    await elsewhere.drop().catch(() => undefined);
  });

  it('receives its tables and entries; while it is unavailable, only browsing and reports respond 503', async () => {
    const body = { entries: [storedEntry(NAME)] };
    expect((await own.ask('POST', '/edge/v1/cache', { as: token, body })).body).toMatchObject({ stored: 1 });
    expect((await own.ask('GET', `/domains/${NAME}/cache/keys`)).body.total).toBe(1);
    const rows = await own.query`select from cached_entries`;
    expect(rows).toEqual([]);
    await elsewhere.drop();
    const away = await own.ask('GET', `/domains/${NAME}/cache/keys`);
    expect([away.status, away.body.error, away.headers['retry-after']]).toEqual([
      503,
      expect.stringContaining('the cache registry'),
      '5',
    ]);
    expect((await own.ask('POST', '/edge/v1/cache', { as: token, body })).status).toBe(503);
    const purge = await own.ask('DELETE', `/domains/${NAME}/cache/`);
    expect(purge.status).toBe(200);
    const { id } = purge.body.purge;
    expect((await own.ask('POST', `/edge/v1/purges/${id}`, { as: token, body: {} })).status).toBe(200);
    expect((await own.ask('GET', `/domains/${NAME}`)).status).toBe(200);
  });
});
