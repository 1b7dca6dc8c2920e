import { createServer } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, expect, test } from 'vitest';
import { type HealthListener, listenHealth, type Readiness } from '../../workers/health.ts';

let listener: HealthListener | undefined;
afterEach(async () => {
  await listener?.close();
  listener = undefined;
});

test('a process that runs is alive, and ready when it says so', async () => {
  let readiness: Readiness = { kind: 'waiting', reason: 'the queue cannot be reached' };
  listener = await listenHealth({ address: '127.0.0.1', port: 0 }, new Registry(), async () => readiness);
  const url = `http://127.0.0.1:${listener.address.port}`;
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  const waiting = await fetch(`${url}/readyz`);
  expect([waiting.status, await waiting.text()]).toEqual([503, 'the queue cannot be reached\n']);
  readiness = { kind: 'ready' };
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect((await fetch(`${url}/metrics`)).headers.get('content-type')).toContain('text/plain');
  expect((await fetch(`${url}/nowhere`)).status).toBe(404);
  expect((await fetch(`${url}/metrics`, { method: 'POST' })).status).toBe(405);
});

test('an address that another program has is refused', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  await expect(
    listenHealth({ address: '127.0.0.1', port }, new Registry(), async () => ({ kind: 'ready' })),
  ).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await new Promise((resolve) => other.close(resolve));
});
