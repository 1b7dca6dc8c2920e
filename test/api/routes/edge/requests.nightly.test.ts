import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { REQUEST_BOUNDS } from '../../../../src/api/requests/take-requests.ts';
import { setServedRegions } from '../../../../src/store/edges/edge-regions.ts';
import { createEdge, revokeEdge } from '../../../../src/store/edges/edges.ts';
import { startTestApi } from '../../../support/api/api.ts';
import { type EdgeApi, startEdgeApi } from '../../../support/edge/edge-api.ts';
import { FakeStore, linesOf, packed, requestLine, sendBatch } from '../../../support/edge/report-requests.ts';

const MIB = 1024 ** 2;
let store: FakeStore;
let api: EdgeApi;
let token: string;
let domainId: number;
let edges = 0;
const directory = mkdtempSync(join(tmpdir(), 'zonefleet-spool-'));

beforeAll(async () => {
  const sink = { insert: (...call: Parameters<FakeStore['insert']>) => store.insert(...call) };
  api = await startEdgeApi({ reports: { sink, directory } });
  domainId = (await api.makeDomain('shop.example')).id;
});
beforeEach(async () => {
  store = new FakeStore();
  token = await api.makeEdge(`edge${edges++}`); // calls are counted for each
});
afterAll(async () => {
  await api.stop();
  rmSync(directory, { recursive: true });
});

const send = (
  body: string | Uint8Array | ReadableStream,
  { batch = randomUUID() as string | undefined, headers = {}, as = token } = {},
) => sendBatch({ url: api.url, token: as, batch, body, headers });
const report = (lines: readonly (object | string)[], options = {}) => send(linesOf(lines), options);
async function nothingLeft(): Promise<void> {
  expect(spooled()).toEqual([]);
  expect(store.tries).toBe(0);
}
const dropped = (some: object = {}) => ({ line: 0, time: 0, host: 0, ...some });

/** Batches on disk, whole or not. */
const spooled = () =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(part|gz)$/.test(name));

describe('a batch of requests', () => {
  it('gets into the store, plain or gzip, under a token of its own', async () => {
    const text = linesOf([
      requestLine({ uri: '/a?b=1', cache: 'hit' }),
      requestLine({ host: 'shop.example' }),
    ]);
    const plain = await send(text, { batch: 'one' });
    expect(plain).toMatchObject({ status: 200, body: { accepted: 2, dropped: dropped() } });
    const { body, headers } = packed(`${text}\n\r\n`);
    expect((await send(body, { batch: 'two', headers })).body).toEqual({ accepted: 2, dropped: dropped() });
    const rows = await store.until(4);
    expect(rows[0]).toMatchObject({
      domain_id: domainId,
      host: '*.shop.example',
      asked_host: 'www.shop.example',
      uri: '/a?b=1',
      cache: 'hit',
      client: '203.0.113.0/24',
    });
    expect(JSON.stringify(rows)).not.toContain('203.0.113.9');
    expect(store.tokens.map((each) => each.split(':')[1])).toEqual(['one', 'two']);
    expect(new Set(rows.map(({ visitor }) => visitor)).size).toBe(1);
  });

  it('drops and counts lines that do not count, and takes the others', async () => {
    const answer = await report([
      requestLine(),
      '{"at":',
      requestLine({ status: 'ok' }),
      requestLine({ at: '2020-01-01T00:00:00Z' }),
      requestLine({ host: 'other.example' }),
      'x'.repeat(REQUEST_BOUNDS.lineBytes + 1),
      requestLine({ uri: '/last' }),
    ]);
    expect(answer.body).toEqual({ accepted: 2, dropped: { line: 3, time: 1, host: 1 } });
    expect((await store.until(2)).map(({ uri }) => uri)).toEqual(['/', '/last']);
  });

  it('without any line that counts is answered, and nothing is written', async () => {
    expect((await report([requestLine({ host: 'other.example' })])).body.accepted).toBe(0);
    expect((await send('\n\n')).body).toEqual({ accepted: 0, dropped: dropped() });
    expect(store.tries).toBe(0);
  });

  it('that is repeated changes nothing and is answered as the first time', async () => {
    const batch = randomUUID();
    const first = await report([requestLine(), 'bad'], { batch });
    const again = await report([requestLine(), requestLine(), requestLine()], { batch });
    expect(again.body).toEqual(first.body);
    await report([requestLine({ uri: '/after' })]);
    expect((await store.until(2)).map(({ uri }) => uri)).toEqual(['/', '/after']);
  });

  it('that comes at once over several connections counts once', async () => {
    const batch = randomUUID();
    const lines = Array.from({ length: 3000 }, (_, i) => requestLine({ uri: `/${i}` }));
    const answers = await Promise.all([1, 2].map(() => report(lines, { batch })));
    expect(answers.map(({ body }) => body.accepted)).toEqual([3000, 3000]);
    await report([requestLine({ uri: '/after' })]);
    const rows = await store.until(3001);
    expect(rows).toHaveLength(3001);
    expect(new Set(rows.map(({ uri }) => uri)).size).toBe(3001);
  });

  it('of another edge with the same id is another batch', async () => {
    const batch = randomUUID();
    await report([requestLine()], { batch });
    const other = await api.makeEdge(`edge${edges++}`);
    expect((await report([requestLine()], { batch, as: other })).body.accepted).toBe(1);
    expect(await store.until(2)).toHaveLength(2);
  });

  it('is kept while the store is away', async () => {
    store.fault = () => new Error('away');
    expect((await report([requestLine()])).status).toBe(200);
    store.fault = undefined;
    expect(await store.until(1)).toHaveLength(1);
  });

  it('is answered, and in no store twice, when the database fails between spool and row', async () => {
    await sql`alter table edge_batches rename to edge_batches_away`.execute(api.db);
    const batch = randomUUID();
    const failed = await report([requestLine()], { batch });
    await sql`alter table edge_batches_away rename to edge_batches`.execute(api.db);
    expect(failed.status).toBeGreaterThanOrEqual(500);
    expect((await report([requestLine()], { batch })).body.accepted).toBe(1);
    await report([requestLine({ uri: '/after' })]);
    expect((await store.until(2)).map(({ uri }) => uri)).toEqual(['/', '/after']);
  });
});

describe('hosts', () => {
  it('belong to the longest domain that edges serve, whoever has it', async () => {
    const inner = await api.makeDomain('inner.shop.example');
    const lines = ['a.inner.shop.example', 'inner.shop.example', 'xinner.shop.example', 'SHOP.example'];
    const answer = await report(lines.map((host) => requestLine({ host })));
    expect(answer.body).toEqual({ accepted: 4, dropped: dropped() });
    expect((await store.until(4)).map(({ domain_id }) => domain_id)).toEqual([
      inner.id,
      inner.id,
      domainId,
      domainId,
    ]);
  });

  it('of a domain that other regions serve are dropped, also where the edge serves the domain above', async () => {
    const theirs = await api.makeDomain('theirs.shop.example');
    await setServedRegions(api.db, theirs.id, ['us']);
    const host = 'www.theirs.shop.example';
    expect((await report([requestLine({ host })])).body).toEqual({
      accepted: 0,
      dropped: dropped({ host: 1 }),
    });
    const american = await api.makeEdge(`edge${edges++}`, 'us');
    expect((await report([requestLine({ host })], { as: american })).body.accepted).toBe(1);
    expect((await store.until(1))[0]).toMatchObject({ domain_id: theirs.id });
  });

  it('without a record of their own are kept for long under the nearest wildcard, of many labels too', async () => {
    const add = (name: string) =>
      api.ask('POST', '/domains/shop.example/records/', {
        body: { type: 'A', name, destination: '198.51.100.1', proxied: true },
      });
    for (const name of ['www', '*', '*.deep']) expect((await add(name)).status).toBe(200);
    const deep = `${Array.from({ length: 110 }, () => 'a').join('.')}.shop.example`;
    const hosts = ['www', 'WWW', 'x.www', 'b', 'c', 'b.deep', 'deep', 'a.b.deep'].map(
      (label) => `${label}.shop.example`,
    );
    const bare = await api.makeDomain('bare.example');
    const lines = [...hosts, deep, 'shop.example', 'x.bare.example', 'bare.example'];
    const answer = await report(lines.map((host) => requestLine({ host })));
    expect(answer.body).toEqual({ accepted: lines.length, dropped: dropped() });
    const rows = await store.until(lines.length);
    expect(rows.map(({ host, asked_host }) => [asked_host ?? host, host])).toEqual([
      ['www.shop.example', 'www.shop.example'],
      ['www.shop.example', 'www.shop.example'],
      ['x.www.shop.example', '*.shop.example'],
      ['b.shop.example', '*.shop.example'],
      ['c.shop.example', '*.shop.example'],
      ['b.deep.shop.example', '*.deep.shop.example'],
      ['deep.shop.example', '*.shop.example'],
      ['a.b.deep.shop.example', '*.deep.shop.example'],
      [deep, '*.shop.example'],
      ['shop.example', 'shop.example'],
      ['x.bare.example', '*.bare.example'],
      ['bare.example', 'bare.example'],
    ]);
    expect(rows.at(-1)?.domain_id).toBe(bare.id);
  });

  it('that are made up in one domain take no names from others, nor from what is often asked for', async () => {
    const add = async (domain: string) => {
      const body = { type: 'A', name: 'own', destination: '198.51.100.1', proxied: true };
      expect((await api.ask('POST', `/domains/${domain}/records/`, { body })).status).toBe(200);
    };
    await api.makeDomain('calm.example');
    for (const domain of ['shop.example', 'calm.example']) await add(domain);
    const madeUp = Array.from({ length: 4000 }, (_, i) => `a${i}.shop.example`);
    const own = ['own.shop.example', 'own.shop.example', 'own.calm.example', 'own.calm.example'];
    const hosts = [...madeUp.slice(0, 900), ...own, ...madeUp.slice(900), ...own];
    await report(hosts.map((host) => requestLine({ host })));
    const rows = await store.until(hosts.length);
    const told = new Map<unknown, number>();
    for (const { host } of rows) told.set(host, (told.get(host) ?? 0) + 1);
    expect(told).toEqual(
      new Map([
        ['*.shop.example', madeUp.length],
        ['own.shop.example', 4],
        ['own.calm.example', 4],
      ]),
    );
  });

  it('of a domain that visitors make up are no more names than its records, beyond what is looked up too', async () => {
    const labels = Array.from({ length: 110 }, () => 'a').join('.');
    const lines = Array.from({ length: 4000 }, (_, i) =>
      requestLine({ host: `${labels}.${i}.shop.example` }),
    );
    await report(lines);
    const rows = await store.until(1000);
    expect(new Set(rows.map(({ host }) => host))).toEqual(new Set(['*.shop.example']));
  });

  it('that visitors make up cost a bounded number of looks into the table', async () => {
    const labels = Array.from({ length: 120 }, () => 'a').join('.');
    const lines = Array.from({ length: 4000 }, (_, i) => requestLine({ host: `${labels}.${i}.example` }));
    expect((await report(lines)).body).toEqual({ accepted: 0, dropped: dropped({ host: 4000 }) });
  });
});

describe('is refused', () => {
  it.each(
    [undefined, '', 'a b', 'x'.repeat(65), 'é', 'a:b', '../x'].map((batch) => [batch]),
  )('a Batch-Id that is %s: 400', async (batch) => {
    const asked = { as: token, body: linesOf([requestLine()]) };
    const headers = {
      'content-type': 'application/x-ndjson',
      ...(batch === undefined ? {} : { 'batch-id': batch }),
    };
    const { status, body } = await api.ask('POST', '/edge/v1/requests', { ...asked, headers });
    expect(status).toBe(400);
    expect(body.error).toMatch(/Batch-Id/);
  });

  it('no body: 400', async () => {
    expect(
      (await api.ask('POST', '/edge/v1/requests', { as: token, headers: { 'batch-id': 'a' } })).status,
    ).toBe(400);
  });

  it('another type, or another coding: 415', async () => {
    const text = linesOf([requestLine()]);
    expect((await send(text, { headers: { 'content-type': 'application/json' } })).status).toBe(415);
    expect((await send(text, { headers: { 'content-encoding': 'br' } })).status).toBe(415);
  });

  it('what is not gzip, or not all of it: 400', async () => {
    const headers = { 'content-encoding': 'gzip' };
    expect((await send('not gzip', { headers })).status).toBe(400);
    const whole = gzipSync(
      linesOf(Array.from({ length: 5000 }, () => requestLine({ uri: randomBytes(50).toString('hex') }))),
    );
    expect((await send(whole.subarray(0, whole.length - 100), { headers })).status).toBe(400);
    await nothingLeft();
  });

  it('garbage: 422', async () => {
    const { status, body } = await send('garbage\n'.repeat(200_000));
    expect(status).toBe(422);
    expect(body.error).toMatch(/none of the first \d+ lines/);
  });

  it('more than 8 MiB: 413, also when no length was announced', async () => {
    const line = `${linesOf([requestLine({ uri: `/${'x'.repeat(900)}` })])}\n`;
    expect((await send(line.repeat(Math.ceil((9 * MIB) / line.length)))).status).toBe(413);
    const endless = new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.from(line.repeat(500)));
      },
    });
    const answer = await send(endless).catch(() => undefined); // the connection is closed on who goes on sending
    expect([413, undefined]).toContain(answer?.status);
    await nothingLeft();
  });

  it.each([
    ['one line', 'x'],
    ['empty lines', '\n'],
  ])('a bomb of gzip, of %s: 413', async (_what, text) => {
    const bomb = gzipSync(Buffer.alloc(256 * MIB, text));
    expect(bomb.length).toBeLessThan(MIB);
    expect((await send(bomb, { headers: { 'content-encoding': 'gzip' } })).status).toBe(413);
    await nothingLeft();
  });

  it('more lines than a batch may have: 413', async () => {
    expect(
      (await send(`${linesOf([requestLine()])}\n\n`.concat('\n'.repeat(REQUEST_BOUNDS.lines)))).status,
    ).toBe(413);
    await nothingLeft();
  });

  it('a token that was revoked: 401, also while the body comes', async () => {
    const name = `edge${edges++}`;
    const gone = await api.makeEdge(name);
    let sent = 0;
    const body = new ReadableStream({
      async pull(controller) {
        if (sent++ === 1) await revokeEdge(api.db, name);
        controller.enqueue(Buffer.from(`${JSON.stringify(requestLine())}\n`));
        if (sent === 3) controller.close();
      },
    });
    expect((await send(body, { as: gone })).status).toBe(401);
    expect((await report([requestLine()], { as: gone })).status).toBe(401);
    expect(store.tries).toBe(0);
  });

  it('too many batches of one edge in a minute: 429 with the time to wait', async () => {
    let answer = await report([requestLine()]);
    for (let i = 0; i < 125 && answer.status === 200; i++) answer = await report([]);
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

it('an edge that sends more bytes than it may has to wait, and others have not', async () => {
  const own = await startEdgeApi({
    reports: { sink: new FakeStore(), budget: { bytes: 10_000, bytesASecond: 1 } },
  });
  const [first, other] = [await own.makeEdge('first'), await own.makeEdge('other')];
  const ask = (as: string) =>
    sendBatch({
      url: own.url,
      token: as,
      batch: randomUUID(),
      body: linesOf(Array(100).fill(requestLine())),
    });
  expect((await ask(first)).status).toBe(200);
  const refused = await ask(first);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1000);
  expect((await ask(other)).status).toBe(200);
  await own.stop();
});

it('without an analytics store edges keep what they have: 503', async () => {
  const off = await startTestApi();

  const created = await createEdge(off.db, { name: 'one', region: 'eu', v4: ['192.0.2.1'], v6: [] });
  if (created.kind !== 'created') throw new Error(created.kind);
  const headers = { 'content-type': 'application/x-ndjson', 'batch-id': 'a' };
  const answer = await off.ask('POST', '/edge/v1/requests', { as: created.token, body: '{}', headers });
  expect([answer.status, answer.body.error, answer.headers['retry-after']]).toEqual([
    503,
    'analytics are off',
    '300',
  ]);
  await off.stop();
});
