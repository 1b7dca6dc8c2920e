// Calls of webhooks to receivers on loopback, which the test allows, and to names with addresses that must not be
// called.

import { createServer, type Server, type Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { networksOf } from '../../../src/dns/record/network.ts';
import { type CallOptions, callWebhook } from '../../../src/features/webhooks/client.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver(['hooks.test']);
});
afterAll(() => receiver.close());
afterEach(() => receiver.answer((response) => void response.end()));

const url = (path = '/', host = 'hooks.test') => `https://${host}:${receiver.port}${path}`;

function call(target: string, options: Partial<CallOptions> = {}, attempt = 0) {
  return callWebhook(
    { url: target, body: '{"a":1}', headers: { 'Zonefleet-Event': 'test' }, attempt },
    {
      allowed: networksOf('127.0.0.0/8'),
      addressesOf: async () => ['127.0.0.1'],
      admit: async () => true,
      roots: receiver.roots,
      ...options,
    },
    new AbortController().signal,
  );
}

describe('a call', () => {
  it('connects to the validated address, with the name as SNI and Host, after one lookup', async () => {
    let lookups = 0;
    const addressesOf = async () => (lookups++ === 0 ? ['127.0.0.1'] : ['127.0.0.9']);
    expect(await call(url('/a?b=1'), { addressesOf })).toEqual({ kind: 'answered', status: 200 });
    expect(lookups).toBe(1);
    expect(receiver.received.at(-1)).toMatchObject({
      method: 'POST',
      path: '/a?b=1',
      host: `hooks.test:${receiver.port}`,
      sni: 'hooks.test',
      body: '{"a":1}',
      headers: { 'content-type': 'application/json', 'zonefleet-event': 'test' },
    });
  });

  it.each([
    '10.0.0.1',
    '169.254.169.254',
    '127.0.0.1',
    '::1',
    '::ffff:10.0.0.1',
    '::ffff:127.0.0.1',
    'fd00::1',
  ])('is not made to %s, whatever the other addresses of the name are', async (address) => {
    const before = receiver.connections();
    let admitted = 0;
    const admit = async () => ++admitted > 0;
    for (const addresses of [[address], ['192.0.2.1', address]]) {
      const addressesOf = async () => addresses;
      const result = await call(url(), { allowed: [], addressesOf, admit });
      expect(result).toEqual({ kind: 'failed', why: 'not_public' });
    }
    expect([receiver.connections(), admitted]).toEqual([before, 0]);
  });

  it('validates its URL again, which newer rules may reject', async () => {
    const before = receiver.connections();
    expect(await call('https://127.0.0.1:9999/', { allowed: [] })).toMatchObject({ why: 'not_public' });
    expect(await call('http://hooks.test/')).toMatchObject({ why: 'not_public' });
    expect(receiver.connections()).toBe(before);
  });

  it('follows no redirect', async () => {
    const other = await startReceiver(['hooks.test']);
    receiver.answer((response) => {
      response.writeHead(307, { Location: `https://hooks.test:${other.port}/inside` }).end();
    });
    expect(await call(url())).toEqual({ kind: 'answered', status: 307 });
    expect(other.connections()).toBe(0);
    await other.close();
  });

  it('trusts only a certificate of the name', async () => {
    expect(await call(url('/', 'other.test'))).toEqual({ kind: 'failed', why: 'tls' });
    expect(await call(url(), { roots: undefined })).toEqual({ kind: 'failed', why: 'tls' });
  });

  it('uses the addresses in turn, one per attempt', async () => {
    const addressesOf = async () => ['127.0.0.1', '127.0.0.77'];
    expect(await call(url(), { addressesOf }, 2)).toMatchObject({ kind: 'answered' });
    expect(await call(url(), { addressesOf }, 1)).toEqual({ kind: 'failed', why: 'unreachable' });
  });

  it('is not made if the address is at its limit, or if the name does not resolve', async () => {
    expect(await call(url(), { admit: async () => false })).toEqual({ kind: 'busy' });
    expect(await call(url(), { addressesOf: async () => undefined })).toMatchObject({ why: 'unresolved' });
    expect(await call(url(), { addressesOf: async () => [] })).toMatchObject({ why: 'unresolved' });
  });

  it('has one time limit for lookup, connection and response', async () => {
    const callMs = 150;
    const forever = (_: string, signal: AbortSignal) =>
      new Promise<never>((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    expect(await call(url(), { callMs, addressesOf: forever })).toEqual({ kind: 'failed', why: 'timeout' });
    receiver.answer(() => {});
    expect(await call(url(), { callMs })).toEqual({ kind: 'failed', why: 'timeout' });
    const silent = await listen(() => {});
    expect(await call(`https://hooks.test:${silent.port}/`, { callMs })).toMatchObject({ why: 'timeout' });
    silent.close();
  });

  it('ends when its worker stops', async () => {
    receiver.answer(() => {});
    const stop = new AbortController();
    const calling = callWebhook(
      { url: url(), body: '', headers: {}, attempt: 0 },
      {
        allowed: networksOf('127.0.0.0/8'),
        addressesOf: async () => ['127.0.0.1'],
        admit: async () => true,
        roots: receiver.roots,
      },
      stop.signal,
    );
    stop.abort(new Error('stopped'));
    await expect(calling).rejects.toThrow('stopped');
  });
});

describe('an answer', () => {
  it('is only its status: an endless body is not read', async () => {
    let wasClosed: () => void;
    const closed = new Promise<void>((resolve) => {
      wasClosed = resolve;
    });
    receiver.answer((response) => {
      response.on('close', () => wasClosed());
      response.on('error', () => {});
      response.writeHead(202);
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    expect(await call(url())).toEqual({ kind: 'answered', status: 202 });
    await closed;
  });

  it.each([
    ['endless headers', `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(1000)}\r\n`.repeat(20)}`],
    ['endless interim responses', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(50)],
    ['another protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ])('with %s is cut off', async (_, text) => {
    const { pem, key } = await makeCertificate({ names: ['hooks.test'] });
    const sockets: Socket[] = [];
    const raw = await listen((socket) => {
      sockets.push(socket);
      const secured = new TLSSocket(socket, { isServer: true, cert: pem, key });
      secured.on('error', () => {});
      secured.on('data', () => secured.write(text));
    });
    const result = await call(`https://hooks.test:${raw.port}/`, { roots: pem });
    expect(result).toEqual({ kind: 'failed', why: 'bad_answer' });
    await Promise.all(
      sockets.map((socket) => socket.destroyed || new Promise((end) => socket.on('close', end))),
    );
    raw.close();
  });
});

async function listen(onSocket: (socket: Socket) => void): Promise<{ port: number; close: () => void }> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as { port: number }).port, close };
}
