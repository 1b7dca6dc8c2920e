import { once } from 'node:events';
import { get, type IncomingHttpHeaders } from 'node:http';
import { connect, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { QueryCounters } from '../../src/nameserver/answer/query-counters.ts';
import { createMetrics } from '../../src/nameserver/metrics.ts';
import { type HealthListener, listenHealth, type Readiness } from '../../src/process/listen-health.ts';

let listener: HealthListener | undefined;
afterEach(async () => {
  await listener?.close();
  listener = undefined;
});

const metrics = () =>
  createMetrics(() => new QueryCounters(), {
    zones: () => 1,
    records: () => 2,
    regions: () => 2,
    tcpConnections: () => 0,
    feedLagSeconds: () => 0,
    imageBytes: () => 4096,
    imageCapacityBytes: () => 65536,
    refusedZones: () => 0,
    zonesWithoutRoom: () => 7,
    heldZones: () => 0,
    asked: () => ({ reported: 0, dropped: 0 }),
    counted: () => ({ reported: 0, other: 0, dropped: 0 }),
  });

async function listening(readiness: () => Readiness | Promise<Readiness>): Promise<string> {
  const address = { address: '127.0.0.1', port: 0 };
  listener = await listenHealth(address, metrics(), readiness, ['node1.example.net']);
  return `http://127.0.0.1:${listener.address.port}`;
}

test('a process is alive while it runs; its readiness, warnings included, is what it reports', async () => {
  let readiness: Readiness | Promise<Readiness> = { kind: 'waiting', reason: 'no zones loaded' };
  const url = await listening(() => readiness);
  const ready = async () => {
    const answer = await fetch(`${url}/readyz`);
    return [answer.status, await answer.text(), answer.headers.get('retry-after')];
  };
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await ready()).toEqual([503, 'no zones loaded\n', '1']);
  readiness = Promise.resolve({ kind: 'waiting', reason: 'the queue cannot be reached' });
  expect(await ready()).toEqual([503, 'the queue cannot be reached\n', '1']);
  readiness = { kind: 'ready' };
  expect(await ready()).toEqual([200, expect.any(String), null]);
  readiness = { kind: 'ready', warnings: ['the pool is nearly given', 'another'] };
  expect(await ready()).toEqual([200, 'ready\nwarning: the pool is nearly given\nwarning: another\n', null]);
});

test('the metrics are exported in the text format', async () => {
  const url = await listening(() => ({ kind: 'ready' }));
  const response = await fetch(`${url}/metrics?x=y`);
  expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(await response.text()).toContain('zonefleet_zones 1');
});

test('anything else is not found, and nothing can be written', async () => {
  const url = await listening(() => ({ kind: 'ready' }));
  expect((await fetch(`${url}/`)).status).toBe(404);
  const posted = await fetch(`${url}/metrics`, { method: 'POST' });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

test('a fault while collecting is a 500, and the process lives', async () => {
  const url = await listening(() => {
    throw new Error('a bug');
  });
  expect((await fetch(`${url}/readyz`)).status).toBe(500);
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test('an address in use is an error', async () => {
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done));
  const { port } = taken.address() as { port: number };
  const starting = listenHealth({ address: '127.0.0.1', port }, metrics(), () => ({ kind: 'ready' }));
  await expect(starting).rejects.toThrow(`METRICS_LISTEN: 127.0.0.1:${port} is in use`);
  await new Promise((done) => taken.close(done));
});

const askAs = async (host: string) => {
  const { address, port } = (listener as HealthListener).address;
  return await new Promise<[number | undefined, IncomingHttpHeaders]>((done, fail) => {
    get({ host: address, port, path: '/metrics', headers: { host } }, (response) => {
      response.resume();
      done([response.statusCode, response.headers]);
    }).on('error', fail);
  });
};

test("a name that may be somebody else's is not answered by, names that are ours are", async () => {
  await listening(() => ({ kind: 'ready' }));
  for (const host of ['evil.example', 'evil.example:9153', 'node2.example.net']) {
    expect((await askAs(host))[0]).toBe(421);
  }
  for (const host of ['localhost', '192.0.2.1:9153', 'nameserver:9153', 'node1.example.net:9153']) {
    expect((await askAs(host))[0]).toBe(200);
  }
});

test('every answer may be kept by nobody and is what it says it is', async () => {
  await listening(() => ({ kind: 'ready' }));
  for (const host of ['localhost', 'evil.example']) {
    expect((await askAs(host))[1]).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
  }
});

test('connections that say nothing do not keep a scraper out', async () => {
  const url = await listening(() => ({ kind: 'ready' }));
  const { address, port } = (listener as HealthListener).address;
  const idle = Array.from({ length: 100 }, () => connect(port, address).on('error', () => {}));
  await Promise.all(idle.map((socket) => once(socket, 'connect').catch(() => {})));
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  for (const socket of idle) socket.destroy();
});
