// The observer as an operator runs it, with an API played by the test, over TLS and over loopback.

import { execFileSync } from 'node:child_process';
import { type KeyObject, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import {
  digestOf,
  fingerprintOf,
  isSignedBy,
  makeVantageKey,
  readPublicKey,
  readVantageHeaders,
} from '../../../src/process/vantage-signature.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { forkedWorkers, statusOf } from '../../support/processes/forked-worker.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { until } from '../../support/tests/until.ts';

const pair = makeVantageKey();
const needsOpenssl = isInstalled('openssl') ? '' : ' (skipped: needs openssl)';
const start = forkedWorkers(new URL('../../../workers/observer/main.ts', import.meta.url));

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    (server as ReturnType<typeof createHttpServer>).closeAllConnections();
    server.close();
  }
});

interface PlayedApi {
  readonly answers: { name: string; evidence: { domain: string; servers: unknown[]; failure?: object } }[];
  readonly unsigned: string[];
  readonly listener: RequestListener;
}

/** Returns one job, then lets the observer wait. */
function playApi(name: string): PlayedApi {
  const answers: PlayedApi['answers'] = [];
  const unsigned: string[] = [];
  const job = { id: randomUUID(), name, deadline: '', fresh: true, thorough: false };
  let isGiven = false;
  const key = readPublicKey(pair.publicKey) as KeyObject;
  return {
    answers,
    unsigned,
    async listener(request, response) {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const path = String(request.url);
      const proof = readVantageHeaders(request.headers);
      const isSigned = proof !== undefined && isSignedBy(key, proof, { method: 'POST', path }, Date.now());
      if (!isSigned || proof.digest !== digestOf(body)) unsigned.push(path);
      if (path === '/vantage/v1/answers') {
        answers.push(JSON.parse(body.toString()));
        response.end('{"taken":true}');
      } else if (!isGiven) {
        isGiven = true;
        const deadline = new Date(Date.now() + 30_000).toISOString();
        response.end(JSON.stringify({ jobs: [{ ...job, deadline }] }));
      }
    },
  };
}

async function listen(server: Server, port = 0): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  return (server.address() as AddressInfo).port;
}

/** Returns an empty text while the server cannot be reached. */
const textOf = (url: string) =>
  fetch(url).then(
    (response) => response.text(),
    () => '',
  );

it('waits for the API, answers its jobs, logs its fingerprint and state, and ends on SIGTERM', async () => {
  const port = await freePort();
  const started = await start({
    VANTAGE: 'paris',
    VANTAGE_KEY: pair.privateKey,
    VANTAGE_API: `http://127.0.0.1:${port}`,
  });
  await until(async () => (await statusOf(`${started.metrics}/healthz`)) === 200, 'alive');
  await until(async () => (await textOf(`${started.metrics}/readyz`)).includes('ECONNREFUSED'));
  expect(await statusOf(`${started.metrics}/readyz`)).toBe(503);
  const api = playApi('example.com');
  await listen(createHttpServer(api.listener), port);
  await until(
    () => api.answers.length > 0,
    () => `it answers: ${started.log()}`,
  );
  expect(api.unsigned).toEqual([]);
  expect(api.answers[0]).toMatchObject({
    name: 'example.com',
    evidence: { domain: 'example.com.', servers: [], failure: { zone: '.' } },
  });
  await until(async () => (await statusOf(`${started.metrics}/readyz`)) === 200);
  const metrics = await until(async () => {
    const text = await textOf(`${started.metrics}/metrics`);
    return /^zonefleet_observer_jobs_total\{outcome="taken"\} 1$/m.test(text) && text;
  });
  expect(metrics).toMatch(/^zonefleet_observer_api_reached 1$/m);
  expect(metrics).toMatch(/^zonefleet_resolver_packets_total\{kind="sent"\} [1-9]/m);
  const ready = started
    .log()
    .split('\n')
    .find((line) => line.includes('"ready"')) as string;
  expect(JSON.parse(ready)).toMatchObject({ vantage: 'paris', fingerprint: fingerprintOf(pair.publicKey) });
  expect(started.log()).not.toContain(pair.privateKey.slice(4));
  started.process.kill('SIGTERM');
  expect(await started.exited).toBe(0);
});

it.skipIf(needsOpenssl !== '')(
  `accepts only a server with a verified certificate${needsOpenssl}`,
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'zonefleet-observer-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const [keyFile, certFile] = [join(directory, 'tls.key'), join(directory, 'tls.pem')];
    const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=api';
    const files = ['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', certFile];
    execFileSync('openssl', [...request.split(' '), ...files], { stdio: 'pipe' });
    const api = playApi('example.net');
    const tls = { key: readFileSync(keyFile), cert: readFileSync(certFile) };
    const port = await listen(createTlsServer(tls, api.listener));
    const env = { VANTAGE: 'paris', VANTAGE_KEY: pair.privateKey, VANTAGE_API: `https://127.0.0.1:${port}` };
    const [stranger, friend] = [await start(env), await start({ ...env, NODE_EXTRA_CA_CERTS: certFile })];
    await until(async () => (await textOf(`${stranger.metrics}/readyz`)).includes('self-signed'));
    await until(
      () => api.answers.length > 0,
      () => `it answers: ${friend.log()}`,
    );
    expect(api.unsigned).toEqual([]);
    expect(stranger.process.exitCode).toBeNull();
  },
);

it('reports missing settings', async () => {
  const reasonOf = async (env: Record<string, string>) => {
    const started = await start(env);
    expect(await started.exited).toBe(1);
    return started.told.find(({ kind }) => kind === 'failed')?.reason;
  };
  const whole = { VANTAGE: 'paris', VANTAGE_KEY: pair.privateKey, VANTAGE_API: 'https://127.0.0.1' };
  const [none, key, api, hints] = await Promise.all([
    reasonOf({ VANTAGE: 'paris' }),
    reasonOf({ ...whole, VANTAGE_KEY: 'zfv_secret' }),
    reasonOf({ ...whole, VANTAGE_API: 'http://192.0.2.1' }),
    reasonOf({ ...whole, ROOT_HINTS: '/nonexistent/hints' }),
  ]);
  expect(none).toMatch(/^VANTAGE_KEY, VANTAGE_API: /);
  expect(key).toContain('VANTAGE_KEY: expected zfv_ and 43');
  expect(key).not.toContain('secret');
  expect(api).toContain('VANTAGE_API: expected an https URL');
  expect(api).toContain('http only to a loopback address');
  expect(hints).toMatch(/^ROOT_HINTS: /);
});
