// The analytics store through the proxy of the embedded engine: tables, exact inserts, and errors that callers
// receive.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Analytics, type AnalyticsFault, openAnalytics } from '../../src/analytics/open-analytics.ts';
import { bruteForce, madeLines, rolledUp } from '../support/analytics/made-lines.ts';
import { startAnalytics, type TestAnalytics } from '../support/analytics/start-analytics.ts';

let store: TestAnalytics;
let analytics: Analytics;
const LIMIT = { seconds: 20 };

beforeAll(async () => {
  store = await startAnalytics();
  analytics = openAnalytics(store.url);
});
afterAll(async () => {
  await analytics?.close();
  await store?.stop();
});

async function countOf(table: string, domainId: number): Promise<number> {
  const sql = `SELECT ${table === 'requests' ? 'count()' : 'sum(count)'} AS n FROM ${table} WHERE domain_id = {id:UInt64}`;
  return Number((await analytics.query<{ n: number }>(sql, { id: domainId }, LIMIT))[0]?.n);
}

async function faultOf(work: Promise<unknown>): Promise<AnalyticsFault> {
  return await work.then(
    () => Promise.reject(new Error('there was no fault')),
    (fault: AnalyticsFault) => fault,
  );
}

describe('tables', () => {
  it('are created once, even if several processes start concurrently', async () => {
    const many = Array.from({ length: 6 }, () => openAnalytics(store.url));
    await Promise.all(many.map((each) => each.query('SELECT count() FROM requests', {}, LIMIT)));
    await Promise.all(many.map((each) => each.close()));
    const noted = await analytics.query(
      'SELECT name, count() AS n FROM migrations FINAL GROUP BY name',
      {},
      LIMIT,
    );
    expect(noted).toContainEqual({ name: '0001-requests', n: 1 });
  });

  it('are created again if they are missing', async () => {
    const away = openAnalytics(store.url);
    await away.query('SELECT count() FROM requests', {}, LIMIT);
    const names = 'requests_to_hourly requests_to_values requests_to_uris requests migrations'.split(' ');
    for (const name of names) await drop(name);
    expect((await faultOf(away.query('SELECT count() FROM requests', {}, LIMIT))).kind).toBe('refused');
    expect(await away.query('SELECT count() AS n FROM requests', {}, LIMIT)).toEqual([{ n: 0 }]);
    await away.close();
  });
});

describe('an insert', () => {
  it('counts once if it is repeated with its token, in the rollups too, and again with another token', async () => {
    const lines = madeLines({ domainId: 11, count: 500, days: 3 });
    for (let turn = 0; turn < 3; turn++) await analytics.insert('requests', lines, 'token-11');
    await analytics.insert('requests', Readable.from(lines), 'token-11');
    for (const table of ['requests', 'requests_hourly', 'values_daily', 'uris_daily'])
      expect(await countOf(table, 11), table).toBe(500);
    const more = madeLines({ domainId: 12, count: 10, days: 1 });
    await analytics.insert('requests', more, 'token-12a');
    await analytics.insert('requests', more, 'token-12b');
    expect(await countOf('requests_hourly', 12)).toBe(20);
  });

  it('is rejected as a whole with an unknown field, a value of another type, or rows of more than 100 days', async () => {
    const [first, second] = madeLines({ domainId: 13, count: 2, days: 1 });
    const unknown = await faultOf(analytics.insert('requests', [first ?? {}, { ...second, more: 1 }], 'a'));
    expect(unknown).toMatchObject({ kind: 'refused', message: expect.stringContaining('more') });
    const wrong = await faultOf(analytics.insert('requests', [first ?? {}, { ...second, octets: 'x' }], 'b'));
    expect(wrong).toMatchObject({ kind: 'refused', message: expect.stringContaining('octets') });
    expect(await countOf('requests', 13)).toBe(0);
    const lines = madeLines({ domainId: 14, count: 2000, days: 120 });
    expect((await faultOf(analytics.insert('requests', lines, 'c'))).kind).toBe('refused');
  });
});

it('rollups equal a count of all lines, and distinct visitors and times are within 2 %', async () => {
  const lines = madeLines({ domainId: 21, count: 20_000, days: 2 });
  for (let at = 0; at < lines.length; at += 4000)
    await analytics.insert('requests', lines.slice(at, at + 4000), `21-${at}`);
  const wanted = bruteForce(lines);
  const { hours, values, uris, visitors, median } = await rolledUp(analytics, 21);
  expect(hours).toEqual(wanted.hours);
  expect(values).toEqual(wanted.values);
  expect(uris).toEqual(wanted.uris);
  expect(Math.abs(visitors / wanted.visitors - 1)).toBeLessThan(0.02);
  expect(Math.abs(median / wanted.median - 1)).toBeLessThan(0.02);
});

describe('a query', () => {
  it('receives values unchanged, and runs concurrently with others without mixing results', async () => {
    const values = { text: "a'b\\c\n\t{x:y}", list: ["'", '\\', 'ü'], number: 7, none: null };
    const sql =
      'SELECT {text:String} AS text, {list:Array(String)} AS list, {number:UInt64} AS number, {none:Nullable(String)} AS none';
    expect(await analytics.query(sql, values, LIMIT)).toEqual([values]);
    const asked = Array.from({ length: 60 }, (_, n) =>
      analytics.query<{ n: number }>('SELECT sum({n:UInt32}) AS n FROM numbers(3)', { n }, LIMIT),
    );
    expect((await Promise.all(asked)).map(([row]) => row?.n)).toEqual(asked.map((_, n) => n * 3));
  });

  it('that takes too long is slow, and others continue meanwhile', async () => {
    const long = 'SELECT count() AS n FROM numbers(1000000000000) WHERE sipHash64(number) = 1';
    const slow = faultOf(analytics.query(long, {}, { seconds: 1 }));
    expect(await analytics.query('SELECT 1 AS n', {}, LIMIT)).toEqual([{ n: 1 }]);
    expect((await slow).kind).toBe('slow');
  });

  it('with a result that is too large is refused', async () => {
    const many = 'SELECT number FROM numbers(100001)';
    expect((await faultOf(analytics.query(many, {}, LIMIT))).kind).toBe('refused');
  });

  it('with a wrong password is refused', async () => {
    const other = openAnalytics(store.url.replace(':test@', ':wrong@'));
    expect(await faultOf(other.query('SELECT 1', {}, LIMIT))).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('Authentication failed'),
    });
    await other.close();
  });

  it('is absent if nothing listens, or if the server is not ClickHouse', async () => {
    const server = createServer((_, response) => response.writeHead(503).end('not there'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const other = openAnalytics(`http://u:p@127.0.0.1:${port}/d`);
    expect((await faultOf(other.query('SELECT 1', {}, LIMIT))).kind).toBe('absent');
    await new Promise((done) => server.close(done));
    expect((await faultOf(other.query('SELECT 1', {}, LIMIT))).kind).toBe('absent');
    await other.close();
  });
});

async function drop(name: string): Promise<void> {
  const { origin, username, password } = new URL(store.url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const answer = await fetch(origin, {
    method: 'POST',
    headers: { authorization },
    body: `DROP TABLE ${name}`,
  });
  expect(await answer.text()).toBe('');
}
