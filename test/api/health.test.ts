import Fastify, { type FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addHealth } from '../../src/api/health.ts';
import type { Readiness } from '../../src/process/listen-health.ts';

let app: FastifyInstance;
let state: Readiness;
beforeEach(() => {
  app = Fastify();
  addHealth(app, async () => state);
});
afterEach(() => app.close());

it('an API that is not ready responds to /healthz, and to /readyz with the reason and the time to retry', async () => {
  state = { kind: 'waiting', reason: 'the database cannot be reached' };
  expect((await app.inject('/healthz')).json()).toEqual({ status: 'alive' });
  const { statusCode, headers, body } = await app.inject('/readyz');
  expect([statusCode, headers['retry-after']]).toEqual([503, '1']);
  expect(JSON.parse(body)).toMatchObject({ error: 'the database cannot be reached' });
});

it('an API that is ready says so', async () => {
  state = { kind: 'ready' };
  const { statusCode, body } = await app.inject('/readyz');
  expect([statusCode, JSON.parse(body)]).toEqual([200, { status: 'ready' }]);
});

it('OPTIONS is answered before the API is ready', async () => {
  state = { kind: 'waiting', reason: 'not yet' };
  for (const url of ['/healthz', '/readyz']) {
    const { statusCode, headers } = await app.inject({ method: 'OPTIONS', url });
    expect([url, statusCode, headers.allow]).toEqual([url, 200, 'GET, HEAD, OPTIONS']);
  }
});
