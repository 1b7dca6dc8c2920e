import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { type HttpListeners, listenHttp } from '../../../src/api/http/listen.ts';
import { until } from '../../support/tests/until.ts';

let app: FastifyInstance;
let listeners: HttpListeners | undefined;
let begun = 0;
let finish: (() => void)[] = [];
afterEach(async () => {
  await listeners?.close(0);
  await app.close();
});

async function listening(addresses = [{ address: '127.0.0.1', port: 0 }]): Promise<string[]> {
  begun = 0;
  finish = [];
  app = Fastify();
  app.get('/slow', async () => {
    begun++;
    await new Promise<void>((done) => finish.push(done));
    return 'done';
  });
  await app.ready();
  listeners = await listenHttp(app, addresses);
  return listeners.addresses.map(({ address, port }) => `http://${address}:${port}`);
}

describe('an HTTP server', () => {
  it('listens on every given address', async () => {
    const [first, second] = await listening([
      { address: '127.0.0.1', port: 0 },
      { address: '127.0.0.2', port: 0 },
    ]);
    expect([(await fetch(`${first}/x`)).status, (await fetch(`${second}/x`)).status]).toEqual([404, 404]);
  });

  it('rejects if an address is in use, and closes the others', async () => {
    await listening();
    const taken = listeners?.addresses[0] as { address: string; port: number };
    const free = { address: '127.0.0.2', port: taken.port };
    await expect(listenHttp(app, [free, taken])).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const again = await listenHttp(app, [free]);
    await again.close(0);
  });

  it('lets running requests end before it closes, although their connections would stay open', async () => {
    const [url] = await listening();
    const agent = new Agent({ keepAlive: true });
    const answered = new Promise<{ status: number | undefined; connection: string | undefined }>(
      (done, fail) => {
        get(`${url}/slow`, { agent }, (response) => {
          response.resume();
          done({ status: response.statusCode, connection: response.headers.connection });
        }).on('error', fail);
      },
    );
    await until(() => begun === 1, 'the request has begun');
    const closing = listeners?.close(10_000);
    await expect(fetch(`${url}/x`)).rejects.toThrow();
    finish[0]?.();
    expect((await answered).status).toBe(200);
    await closing;
    agent.destroy();
  });

  it('closes connections that are too slow', async () => {
    const [url] = await listening();
    const answered = fetch(`${url}/slow`).catch(() => 'cut');
    await until(() => begun === 1, 'the request has begun');
    await listeners?.close(50);
    expect(await answered).toBe('cut');
    finish[0]?.();
  });

  it('handles one request of a connection at a time', async () => {
    const [url = ''] = await listening();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    let text = '';
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));
    await until(() => begun > 0, 'the first is begun');
    expect((await fetch(`${url}/x`)).status).toBe(404); // afterwards, on another connection
    expect(begun).toBe(1);
    for (let i = 0; i < 3; i++) {
      await until(() => begun === i + 1, `request ${i} is begun`);
      finish[i]?.();
    }
    await until(() => text.split('done').length === 4, 'all are answered');
    socket.destroy();
  });

  it('accepts at most 200 connections of one address, and then accepts a new one when one is closed', async () => {
    const [url = ''] = await listening();
    let ended = 0;
    const sockets = Array.from({ length: 300 }, () =>
      connect(Number(new URL(url).port), '127.0.0.1')
        .on('error', () => {})
        .on('close', () => ended++),
    );
    await until(() => ended >= 100, 'those beyond it are ended');
    expect((await fetch(`${url}/x`)).status).toBe(404);
    for (const socket of sockets) socket.destroy();
  });
});
