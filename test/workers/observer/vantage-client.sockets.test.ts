// The signed requests of an observer to an arbitrary server.

import type { KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import {
  digestOf,
  isSignedBy,
  makeVantageKey,
  readPrivateKey,
  readPublicKey,
  readVantageHeaders,
} from '../../../src/process/vantage-signature.ts';
import { createVantageClient, explainFailure } from '../../../workers/observer/vantage-client.ts';

const pair = makeVantageKey();
const key = readPrivateKey(pair.privateKey) as KeyObject;
const running = new AbortController().signal;

let server: Server | undefined;
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((done) => server?.close(done) ?? done(undefined));
  server = undefined;
});

async function clientOf(listener: RequestListener, prefix = '') {
  server = createServer(listener);
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return createVantageClient({ url: new URL(`http://127.0.0.1:${port}${prefix}`), name: 'paris', key });
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Returns why a request fails. */
const failureOf = (
  client: Awaited<ReturnType<typeof clientOf>>,
  { timeoutMs = 5000, signal = running }: { timeoutMs?: number; signal?: AbortSignal } = {},
) => client.post('/vantage/v1/jobs', {}, { timeoutMs, signal }).then(() => 'none', explainFailure);

it('a request is signed with its path, without the prefix that a proxy adds', async () => {
  let isSigned: boolean | undefined;
  let asked: string | undefined;
  const client = await clientOf(async (request, response) => {
    const proof = readVantageHeaders(request.headers);
    const body = await bodyOf(request);
    asked = `${request.url} ${request.headers['content-type']} ${body.toString()}`;
    const path = '/vantage/v1/jobs';
    isSigned =
      proof?.name === 'paris' &&
      proof.digest === digestOf(body) &&
      isSignedBy(readPublicKey(pair.publicKey) as KeyObject, proof, { method: 'POST', path }, Date.now());
    response.setHeader('Date', new Date(Date.now() + 90_000).toUTCString());
    response.end('{"jobs":[]}');
  }, '/dns/');
  const reply = await client.post('/vantage/v1/jobs', { max: 1 }, { timeoutMs: 5000, signal: running });
  expect([isSigned, asked]).toEqual([true, '/dns/vantage/v1/jobs application/json {"max":1}']);
  expect(reply).toMatchObject({ status: 200, text: '{"jobs":[]}' });
  expect(Math.round(reply.clockAheadMs / 10_000)).toBe(9);
});

it('a response has at most 65,536 octets, and the rest is not read', async () => {
  let written = 0;
  const client = await clientOf((_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 0x20))) written += 65_536;
    };
    response.on('drain', more);
    more();
  });
  expect(await failureOf(client, { timeoutMs: 60_000 })).toBe('a response has more than 65536 octets');
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

it('a redirect is not followed', async () => {
  const visited: string[] = [];
  const client = await clientOf((request, response) => {
    visited.push(String(request.url));
    response.writeHead(307, { Location: '/elsewhere' }).end();
  });
  expect(await failureOf(client)).toContain('redirect');
  expect(visited).toEqual(['/vantage/v1/jobs']);
});

it('a silent or endless server is abandoned after a time limit', async () => {
  for (const listener of [
    () => {},
    (_: unknown, response: { write(text: string): void }) => response.write('{'),
  ]) {
    const client = await clientOf(listener as RequestListener);
    expect(await failureOf(client, { timeoutMs: 200 })).toBe('no answer within 200 ms');
    server?.closeAllConnections();
    server?.close();
  }
});

it('a request ends with its signal and does not start after it; an unreachable server is reported', async () => {
  const ending = new AbortController();
  let requests = 0;
  const client = await clientOf(() => {
    requests++;
    ending.abort(new Error('enough'));
  });
  const ask = () => failureOf(client, { timeoutMs: 60_000, signal: ending.signal });
  expect([await ask(), await ask(), requests]).toEqual(['enough', 'enough', 1]);
  const lonely = await clientOf(() => {});
  await new Promise((done) => server?.close(done));
  expect(await failureOf(lonely)).toContain('ECONNREFUSED');
});
