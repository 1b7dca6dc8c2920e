import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { request as askHttp, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { Agent, request as askHttps } from 'node:https';
import { connect } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { DEFAULT_TCP_LIMITS, type TcpLimits } from '../../../src/nameserver/tcp/limited-connections.ts';
import { type DohListener, listenDoh } from '../../../src/nameserver/tls/doh.ts';
import { TlsServers } from '../../../src/nameserver/tls/tls-servers.ts';
import { assemble, queryFor, summarize } from '../../support/answer/packets.ts';
import { ask as askNode, testNode } from '../../support/answer/test-node.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { until } from '../../support/tests/until.ts';

const DNS = { 'content-type': 'application/dns-message' };
const WWW = queryFor('www.example.test.', TYPE.A);
const BIG = queryFor('big.example.test.', TYPE.TXT);
const target = (query: Uint8Array) => `/dns-query?dns=${Buffer.from(query).toString('base64url')}`;

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Uint8Array;
}

interface Received {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: Buffer;
}

let pair: { cert: string; key: string };
let node: ReturnType<typeof testNode>;
let servers: TlsServers;
let listener: DohListener;
let session: ClientHttp2Session;
const agent = new Agent({ keepAlive: true });
let nowMs = 0;

beforeAll(async () => {
  const { pem, key } = await makeCertificate({ names: ['127.0.0.1'] });
  pair = { cert: pem, key };
});
beforeEach(() => listenWith());
afterEach(async () => {
  session.destroy();
  agent.destroy();
  servers.close();
  await listener.close();
  expect(node.failures).toEqual([]);
});

async function listenWith(limits: Partial<TcpLimits> = {}): Promise<void> {
  node = testNode();
  servers = new TlsServers(pair);
  const at = [{ address: '127.0.0.1', port: 0 }];
  listener = await listenDoh({
    listen: at,
    plainListen: at,
    tls: servers,
    answers: node,
    limits: { ...DEFAULT_TCP_LIMITS, ...limits },
    now: () => nowMs,
  });
  session = connectHttp2(`https://127.0.0.1:${listener.addresses[0]?.port}`, { ca: pair.cert });
  session.on('error', () => {});
}

function overHttp2({ method = 'GET', path = target(WWW), headers = {}, body }: Sent): ClientHttp2Stream {
  const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: false });
  stream.on('error', () => {});
  return stream.end(body);
}

async function receiveHttp2(stream: ClientHttp2Stream): Promise<Received> {
  const headers = await new Promise<Record<string, unknown>>((done) => stream.once('response', done));
  return { status: headers[':status'] as number, headers, body: await buffer(stream) };
}

async function overHttp1(
  { method, path = target(WWW), headers, body }: Sent,
  isPlain = false,
): Promise<Received> {
  const { port } = listener.addresses[isPlain ? 1 : 0] as { port: number };
  const options = {
    host: '127.0.0.1',
    port,
    method,
    path,
    headers,
    ...(!isPlain && { ca: pair.cert, agent }),
  };
  const response = await new Promise<IncomingMessage>((done, fail) => {
    const request = isPlain ? askHttp(options, done) : askHttps(options, done);
    request.on('error', fail).end(body);
  });
  return { status: response.statusCode, headers: response.headers, body: await buffer(response as Readable) };
}

const WAYS: readonly [string, (sent: Sent) => Promise<Received>][] = [
  ['HTTP/2', (sent) => receiveHttp2(overHttp2(sent))],
  ['HTTP/1.1', (sent) => overHttp1(sent)],
  ['HTTP without TLS', (sent) => overHttp1(sent, true)],
];

describe.each(WAYS)('over %s', (_, send) => {
  it.each([
    ['www.example.test.', TYPE.A, 'max-age=300'],
    ['big.example.test.', TYPE.TXT, 'max-age=300'],
    ['none.example.test.', TYPE.A, 'max-age=60'],
    ['other.test.', TYPE.A, 'max-age=0'],
  ])('the answer for %s equals that over TCP', async (name, type, cacheControl) => {
    const query = queryFor(name, type, { opt: '' });
    const overTcp = askNode(query, node, { transport: 'tcp', address: Uint8Array.of(127, 0, 0, 1) });
    const post = { method: 'POST', path: '/dns-query', headers: DNS, body: query };
    for (const sent of [{ path: target(query) }, post]) {
      const { status, headers, body } = await send(sent);
      expect([status, headers['content-type'], headers['cache-control']]).toEqual([
        200,
        DNS['content-type'],
        cacheControl,
      ]);
      expect(body.equals(overTcp)).toBe(true);
    }
    expect([...node.counters.answerCounts()]).toContainEqual(
      expect.objectContaining({ transport: 'https', count: 2 }),
    );
  });

  it('each error has its status', async () => {
    const post = { method: 'POST', path: '/dns-query', headers: DNS };
    const cases: [number, Sent][] = [
      [400, { path: '/dns-query' }],
      [400, { path: target(WWW.subarray(0, 11)) }],
      [400, { path: target(Buffer.from(WWW).fill(0x80, 2, 3)) }], // a response
      [404, { path: '/' }],
      [405, { method: 'PUT' }],
      [405, { method: 'HEAD' }],
      [413, { ...post, body: Buffer.alloc(65_536) }],
      [413, { ...post, headers: { ...DNS, 'content-length': 65_536 }, body: Buffer.alloc(65_536) }],
      [415, { ...post, headers: {}, body: WWW }],
      [431, { headers: { x: 'x'.repeat(16_384) } }],
    ];
    for (const [status, sent] of cases) expect((await send(sent)).status).toBe(status);
    expect((await send({ method: 'PUT' })).headers.allow).toBe('GET, POST');
    expect((await send({})).status).toBe(200);
    expect(listener.statuses()).toEqual({ 200: 1, 400: 3, 404: 1, 405: 3, 413: 2, 415: 1, 431: 1 });
  });
});

it('transfers, NOTIFY and UPDATE are refused in a DNS message', async () => {
  const question = '0001 0000 0000 0000 "example.test."';
  const cases: [string, Buffer][] = [
    ['REFUSED', queryFor('example.test.', TYPE.AXFR)],
    [
      'REFUSED',
      assemble(`0000 0000 0001 0000 0001 0000 "example.test." 00FB 0001 C00C 0006 0001 00000000 0016
      00 00 ${'00000001'.repeat(5)}`),
    ],
    ['REFUSED', assemble(`0000 2000 ${question} 0006 0001`)],
    ['REFUSED', assemble(`0000 2800 ${question} 0006 0001`)],
    [
      'NOTAUTH',
      assemble(`0000 0000 0001 0000 0000 0001 "example.test." 0001 0001 "key." 00FA 00FF 00000000 0000`),
    ],
  ];
  for (const [rcode, body] of cases) {
    const { status, body: answer } = await receiveHttp2(
      overHttp2({ method: 'POST', path: '/dns-query', headers: DNS, body }),
    );
    expect([status, summarize(answer).split(' ')[0]]).toEqual([200, rcode]);
  }
});

it('input that is not HTTP is refused', async () => {
  const { port } = listener.addresses[1] as { port: number };
  const socket = connect(port, '127.0.0.1');
  socket.end(WWW);
  expect((await buffer(socket)).toString()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
});

it.each([
  0, 1,
])('no more requests are read from a client that sends too many (address %d)', async (address) => {
  let requests = 0;
  const count = () => requests++;
  subscribe('http.server.request.start', count);
  const { port } = listener.addresses[address] as { port: number };
  const socket =
    address === 0 ? connectTls({ host: '127.0.0.1', port, ca: pair.cert }) : connect(port, '127.0.0.1');
  socket.on('error', () => {}).resume();
  socket.write('GET / HTTP/1.1\r\nHost:\r\n\r\n'.repeat(2000));
  await new Promise((closed) => socket.once('close', closed));
  unsubscribe('http.server.request.start', count);
  expect(requests).toBe(17);
});

it('a slow body is refused, and an idle connection is ended', async () => {
  await listener.close();
  await listenWith({ idleTimeoutMs: 80 });
  const stream = session.request({ ':method': 'POST', ':path': '/dns-query', ...DNS }, { endStream: false });
  stream.write(WWW.subarray(0, 5));
  for (let i = 0; i < 2; i++) {
    expect((await receiveHttp2(overHttp2({}))).status).toBe(200);
    nowMs += 50;
  }
  expect((await receiveHttp2(stream)).status).toBe(408);
  nowMs += 50;
  await until(() => session.destroyed, 'the end of the connection');
  expect([listener.connections(), node.counters.tcpExpired]).toEqual([0, 1]);
});

it('a process that is replaced ends connections without losing a request', async () => {
  const ways = WAYS.slice(0, 2).map(([, send]) => send);
  for (const send of ways) await send({});
  listener.stopAccepting();
  const { status, headers } = await overHttp1({});
  expect([status, headers.connection]).toEqual([200, 'close']);
  await listener.finished();
  expect([listener.connections(), session.closed]).toEqual([0, true]);
});

it.each<[string, () => void]>([
  ['does not read its answers', () => overHttp2({ path: target(BIG) })],
  [
    'does not end its requests',
    () =>
      session
        .request({ ':method': 'POST', ':path': '/dns-query', ...DNS }, { endStream: false })
        .on('error', () => {})
        .write(WWW),
  ],
])('a client that %s is disconnected', async (_, send) => {
  await listener.close();
  await listenWith({ maxUnreadBytesPerAddress: 64 << 10, limitsLoopback: true });
  session.settings({ initialWindowSize: 0 });
  const { port } = listener.addresses[0] as { port: number };
  const other = connectHttp2(`https://127.0.0.1:${port}`, { ca: pair.cert });
  for (let i = 0; i < 100; i++) send();
  await until(() => session.destroyed, 'the end of the connection');
  expect(node.counters.tcpUnread).toBe(1);
  const stream = other.request({ ':path': target(BIG) });
  expect((await receiveHttp2(stream)).status).toBe(200);
  other.destroy();
});

it('a client with too many requests that wait for their turn is disconnected', async () => {
  await listener.close();
  await listenWith({ queriesPerSecond: 1, maxUnreadBytesPerAddress: 64 << 10, limitsLoopback: true });
  for (let i = 0; i < 40; i++) overHttp2({});
  await until(() => session.destroyed, 'the end of the connection');
  expect(node.counters.tcpUnread).toBe(1);
});

it('a cancelled request is forgotten before its turn', async () => {
  await listener.close();
  await listenWith({ queriesPerSecond: 1, limitsLoopback: true });
  expect((await receiveHttp2(overHttp2({}))).status).toBe(200);
  const stream = overHttp2({});
  await until(() => node.counters.tcpSlowed === 1, 'the client is slowed');
  stream.close();
  await new Promise<void>((done) => session.ping(() => done()));
  nowMs += 1000;
  expect((await receiveHttp2(overHttp2({}))).status).toBe(200);
  expect([...node.counters.answerCounts()].map(({ count }) => count)).toEqual([2]);
});
