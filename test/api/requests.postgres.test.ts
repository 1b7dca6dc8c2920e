import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { REQUEST_BOUNDS } from '../../src/api/requests/take-requests.ts';
import { setServedRegions } from '../../src/store/edges/edge-regions.ts';
import { revokeEdge } from '../../src/store/edges/edges.ts';
import { ownApi } from '../support/api/api.ts';
import { startEdgeApi } from '../support/edge/edge-api.ts';
import { FakeStore, linesOf, packed, requestLine, sendBatch } from '../support/edge/report-requests.ts';

const MIB = 1024 ** 2;
let store: FakeStore;
let token: string;
let domainId: number;
let edges = 0;
const directory = mkdtempSync(join(tmpdir(), 'zonefleet-spool-'));
const sink = { insert: (...call: Parameters<FakeStore['insert']>) => store.insert(...call) };
const api = ownApi(() => startEdgeApi({ reports: { sink, directory } }));

beforeAll(async () => {
  domainId = (await api.makeDomain('shop.example')).id;
});
beforeEach(async () => {
  store = new FakeStore();
  token = await api.makeEdge(`edge${edges++}`); // calls are counted per edge
});
afterAll(() => rmSync(directory, { recursive: true }));

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

/** Number of batches on disk, complete or not. */
const spooled = () =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(part|gz)$/.test(name));

describe('a batch of requests', () => {
  it('is stored under its own token, plain or gzip', async () => {
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

  it('drops and counts invalid lines, and accepts the others', async () => {
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

  it('without a valid line is not stored', async () => {
    expect((await report([requestLine({ host: 'other.example' })])).body.accepted).toBe(0);
    expect((await send('\n\n')).body).toEqual({ accepted: 0, dropped: dropped() });
    expect(store.tries).toBe(0);
  });

  it('changes nothing if it is repeated, and receives the same response', async () => {
    const batch = randomUUID();
    const first = await report([requestLine(), 'bad'], { batch });
    const again = await report([requestLine(), requestLine(), requestLine()], { batch });
    expect(again.body).toEqual(first.body);
    await report([requestLine({ uri: '/after' })]);
    expect((await store.until(2)).map(({ uri }) => uri)).toEqual(['/', '/after']);
  });

  it('counts once if it arrives over several connections concurrently', async () => {
    const batch = randomUUID();
    const lines = Array.from({ length: 300 }, (_, i) => requestLine({ uri: `/${i}` }));
    const answers = await Promise.all([1, 2].map(() => report(lines, { batch })));
    expect(answers.map(({ body }) => body.accepted)).toEqual([300, 300]);
    await report([requestLine({ uri: '/after' })]);
    const rows = await store.until(301);
    expect(rows).toHaveLength(301);
    expect(new Set(rows.map(({ uri }) => uri)).size).toBe(301);
  });

  it('is different from one of another edge with the same id', async () => {
    const batch = randomUUID();
    await report([requestLine()], { batch });
    const other = await api.makeEdge(`edge${edges++}`);
    expect((await report([requestLine()], { batch, as: other })).body.accepted).toBe(1);
    expect(await store.until(2)).toHaveLength(2);
  });

  it('is stored once if the database fails between spool and row', async () => {
    await api.query`alter table edge_batches rename to edge_batches_away`;
    const batch = randomUUID();
    const failed = await report([requestLine()], { batch });
    await api.query`alter table edge_batches_away rename to edge_batches`;
    expect(failed.status).toBeGreaterThanOrEqual(500);
    expect((await report([requestLine()], { batch })).body.accepted).toBe(1);
    await report([requestLine({ uri: '/after' })]);
    expect((await store.until(2)).map(({ uri }) => uri)).toEqual(['/', '/after']);
  });
});

describe('hosts', () => {
  it('belong to the longest domain that edges serve', async () => {
    const { id } = await api.makeDomain('inner.shop.example');
    const lines = ['a.inner.shop.example', 'inner.shop.example', 'xinner.shop.example', 'SHOP.example'];
    const answer = await report(lines.map((host) => requestLine({ host })));
    expect(answer.body).toEqual({ accepted: 4, dropped: dropped() });
    const found = (await store.until(4)).map(({ domain_id }) => domain_id);
    expect(found).toEqual([id, id, domainId, domainId]);
  });

  it('of a domain that other regions serve are dropped, also below a served domain', async () => {
    const theirs = await api.makeDomain('theirs.shop.example');
    await setServedRegions(api.db, theirs.id, ['us']);
    const host = 'www.theirs.shop.example';
    const { body } = await report([requestLine({ host })]);
    expect(body).toEqual({ accepted: 0, dropped: dropped({ host: 1 }) });
    const american = await api.makeEdge(`edge${edges++}`, 'us');
    expect((await report([requestLine({ host })], { as: american })).body.accepted).toBe(1);
    expect((await store.until(1))[0]).toMatchObject({ domain_id: theirs.id });
  });

  it('without a record of their own count under the nearest wildcard, also with many labels', async () => {
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
    expect(rows.map(({ host, asked_host }) => asked_host ?? host)).toEqual(
      lines.map((host) => host.toLowerCase()),
    );
    const counted = ['www', 'www', '*', '*', '*', '*.deep', '*', '*.deep', '*'];
    expect(rows.map(({ host }) => host)).toEqual([
      ...counted.map((label) => `${label}.shop.example`),
      ...['shop.example', '*.bare.example', 'bare.example'],
    ]);
    expect(rows.at(-1)?.domain_id).toBe(bare.id);
  });

  it('that visitors invent do not displace the names of records, in this domain or in others', async () => {
    const add = async (domain: string) => {
      const body = { type: 'A', name: 'own', destination: '198.51.100.1', proxied: true };
      expect((await api.ask('POST', `/domains/${domain}/records/`, { body })).status).toBe(200);
    };
    await api.makeDomain('calm.example');
    for (const domain of ['shop.example', 'calm.example']) await add(domain);
    const madeUp = Array.from({ length: 2100 }, (_, i) => `a${i}.shop.example`);
    const own = ['own.shop.example', 'own.shop.example', 'own.calm.example', 'own.calm.example'];
    const hosts = [...madeUp.slice(0, 900), ...own, ...madeUp.slice(900), ...own];
    await report(hosts.map((host) => requestLine({ host })));
    const rows = await store.until(hosts.length);
    const countOf = (wanted: string) => rows.filter(({ host }) => host === wanted).length;
    expect(countOf('*.shop.example')).toBe(madeUp.length);
    expect([countOf('own.shop.example'), countOf('own.calm.example')]).toEqual([4, 4]);
  });
});

describe('POST /edge/v1/requests responds', () => {
  it('400 for a wrong Batch-Id, or without a body', async () => {
    const type = { 'content-type': 'application/x-ndjson' };
    for (const batch of [undefined, '', 'a b', 'x'.repeat(65), 'é', 'a:b', '../x']) {
      const headers = batch === undefined ? type : { ...type, 'batch-id': batch };
      const asked = { as: token, body: linesOf([requestLine()]), headers };
      const { status, body } = await api.ask('POST', '/edge/v1/requests', asked);
      expect([batch, status, body.error]).toEqual([batch, 400, expect.stringMatching(/Batch-Id/)]);
    }
    const bare = { as: token, headers: { 'batch-id': 'a' } };
    expect((await api.ask('POST', '/edge/v1/requests', bare)).status).toBe(400);
  });

  const line = linesOf([requestLine({ uri: `/${'x'.repeat(900)}` })]);
  const GZIP = { 'content-encoding': 'gzip' };
  const random = Array.from({ length: 5000 }, () => requestLine({ uri: randomBytes(50).toString('hex') }));
  const endless = () =>
    new ReadableStream({ pull: (controller) => controller.enqueue(Buffer.from(`${line}\n`.repeat(500))) });

  it.each<[number, string, () => Parameters<typeof send>[0], Record<string, string>]>([
    [415, 'another type', () => line, { 'content-type': 'application/json' }],
    [415, 'another coding', () => line, { 'content-encoding': 'br' }],
    [400, 'a body that is not gzip', () => 'not gzip', GZIP],
    [400, 'a truncated gzip', () => gzipSync(linesOf(random)).subarray(0, -100), GZIP],
    [422, 'lines of which none of the first can be read', () => 'garbage\n'.repeat(200_000), {}],
    [413, 'more than 8 MiB', () => `${line}\n`.repeat(Math.ceil((9 * MIB) / line.length)), {}],
    [413, 'a body without end', endless, {}],
    [413, 'a gzip bomb', () => gzipSync(Buffer.alloc(65 * MIB, 'x')), GZIP],
    [413, 'too many lines', () => `${line}\n\n${'\n'.repeat(REQUEST_BOUNDS.lines)}`, {}],
  ])('%i for %s', async (status, _, body, headers) => {
    const answer = await send(body(), { headers }).catch(() => undefined);
    if (body === endless)
      expect([413, undefined]).toContain(answer?.status); // its connection is closed
    else expect(answer?.status).toBe(status);
    await nothingLeft();
  });

  it('401 for a revoked token, also while the body arrives', async () => {
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
});
