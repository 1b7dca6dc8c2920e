import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createHealthServer } from '../../src/api/health.ts';

it.each([
  ['localhost:9154', 200],
  ['192.0.2.1', 200],
  ['api:9154', 200],
  ['node1.example.net', 200],
  ['evil.example', 421],
])('the metrics are asked for under %s: %i, with the headers of every answer', async (host, status) => {
  const app = await createHealthServer(new Registry(), async () => ({ kind: 'ready' }), [
    'node1.example.net',
  ]);
  for (const url of ['/metrics', '/healthz', '/readyz', '/nowhere']) {
    const { statusCode, headers } = await app.inject({ url, headers: { host } });
    expect([url, statusCode]).toEqual([url, url === '/nowhere' && status === 200 ? 404 : status]);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
  }
  await app.close();
});
