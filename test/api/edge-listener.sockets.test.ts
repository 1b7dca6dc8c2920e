// Private keys over real sockets. The socket, and the traces that proxies leave in a request, decide whether a
// connection is private.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as askHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as askHttps } from 'node:https';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { listenForEdges, pathsBesideEdges } from '../../src/api/edge-listener.ts';
import { API_LIMITS, type HttpListeners } from '../../src/api/http/listen.ts';
import { ownApi } from '../support/api/api.ts';
import { makeCertificate } from '../support/certificates/make-certificate.ts';
import { startEdgeApi } from '../support/edge/edge-api.ts';
import { CHAIN, KEY, sealCertificate } from '../support/edge/sealed-certificate.ts';

const log = pino({ level: 'silent' });
const common = { limits: API_LIMITS, onError: () => {}, log };

const api = ownApi(() => startEdgeApi());
let directory: string;
let token: string;
let id: number;
let ca: string;
let encrypted: HttpListeners;

beforeAll(async () => {
  token = await api.makeEdge('paris');
  id = await sealCertificate(api, (await api.makeDomain('keys.example.com')).id, 'keys.example.com');
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-edge-listener-'));
  const { pem, key } = await makeCertificate({ names: ['localhost'] });
  ca = pem;
  writeFileSync(join(directory, 'cert'), pem);
  writeFileSync(join(directory, 'key'), key);
  const settings = {
    edgeListen: [{ address: '127.0.0.1', port: 0 }],
    edgeTlsCert: join(directory, 'cert'),
    edgeTlsKey: join(directory, 'key'),
  };
  encrypted = (await listenForEdges(api.app, settings, common)) as HttpListeners;
});
afterAll(async () => {
  await encrypted?.close(0);
  rmSync(directory, { recursive: true, force: true });
});
beforeEach(async () => {
  await api.query`delete from audit_log where action = 'edge.read_key'`;
});

async function ask(url: string, options: RequestOptions & { ca?: string; servername?: string } = {}) {
  const send = url.startsWith('https:') ? askHttps : askHttp;
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...(options.headers as object) };
    send(url, { agent: false, ...options, headers }, resolve)
      .on('error', reject)
      .end();
  });
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return { status: response.statusCode, text };
}
const reads = async () =>
  await api.query<{ actor_name: string; target_id: number }>`
      select actor_name, target_id from audit_log where action = 'edge.read_key'`;
const path = () => `/edge/v1/certificates/${id}`;
const portOf = ({ addresses }: HttpListeners) => addresses[0]?.port;

describe('a private key', () => {
  it('is returned over TLS that ends in this process, whatever the headers, and the read is audited', async () => {
    const headers = { host: 'edges.example.net', 'x-forwarded-for': '203.0.113.9', via: '1.1 proxy' };
    const url = `https://localhost:${portOf(encrypted)}${path()}`;
    const { status, text } = await ask(url, { ca, servername: 'localhost', headers });
    expect([status, JSON.parse(text)]).toEqual([200, { id, certificate: CHAIN, private_key: KEY }]);
    expect(await reads()).toEqual([{ actor_name: 'edge paris', target_id: id }]);
  });

  it('is returned to an agent on this machine', async () => {
    const { port } = new URL(api.url);
    for (const host of ['127.0.0.1', 'localhost'])
      expect((await ask(`http://127.0.0.1:${port}${path()}`, { headers: { host } })).status).toBe(200);
    expect(await reads()).toHaveLength(2);
  });

  it.each([
    [{ 'x-forwarded-for': '127.0.0.1' }],
    [{ forwarded: 'for=127.0.0.1;proto=https' }],
    [{ via: '1.1 proxy' }],
    [{ 'x-real-ip': '127.0.0.1' }],
    [{ 'x-forwarded-proto': 'https' }],
    [{ host: 'api.example.net' }],
    [{ host: '127.0.0.1.example.net' }],
  ])('is refused if a proxy on this machine added %j', async (headers) => {
    const { status, text } = await ask(`${api.url}${path()}`, { headers: headers as Record<string, string> });
    expect([status, text.includes(KEY)]).toEqual([403, false]);
    expect(await reads()).toEqual([]);
  });

  it('is refused over HTTP/1.0, which nginx uses as a proxy but agents do not', async () => {
    const { port } = new URL(api.url);
    const socket = connect(Number(port), '127.0.0.1').setEncoding('latin1');
    socket.write(
      `GET ${path()} HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    );
    let text = '';
    for await (const piece of socket) text += piece;
    expect([text.slice(0, 12), text.includes(KEY)]).toEqual(['HTTP/1.1 403', false]);
  });

  it('is refused over loopback if TRUSTED_PROXIES contains proxies there', async () => {
    const proxied = await startEdgeApi({ trustedProxies: ['10.0.0.0/8', '127.0.0.1/32'] });
    try {
      const as = await proxied.makeEdge('rome');
      const domain = await proxied.makeDomain('keys.example.com');
      const other = await sealCertificate(proxied, domain.id, 'keys.example.com');
      const { status, text } = await ask(`${proxied.url}/edge/v1/certificates/${other}`, {
        headers: { authorization: `Bearer ${as}` },
      });
      expect([status, text.includes(KEY)]).toEqual([403, false]);
    } finally {
      await proxied.stop();
    }
  });
});

it('only the addresses of EDGE_LISTEN serve the edge paths if it is set', async () => {
  const edgeListen = [{ address: '127.0.0.1', port: 1 }];
  const { serves } = pathsBesideEdges({ edgeListen, edgeTlsCert: undefined, edgeTlsKey: undefined });
  expect([serves?.('/edge/v1/config'), serves?.('/edge/%76%31/config'), serves?.('/domains/')]).toEqual([
    false,
    false,
    true,
  ]);
});
