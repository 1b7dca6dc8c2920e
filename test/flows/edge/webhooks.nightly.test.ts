// A webhook from the call that makes it to the request that its receiver gets, through a workers process.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { networksOf } from '../../../src/dns/record/network.ts';
import { startTestApi, TEST_KEY_SECRETS, type TestApi } from '../../support/api/api.ts';
import { startWorkers, type WorkersProcess } from '../../support/processes/workers-process.ts';
import { until } from '../../support/tests/until.ts';
import { isSigned, type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';

const LAB = '127.0.0.0/8';
let api: TestApi;
let receiver: Receiver;
let workers: WorkersProcess;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'webhooks-'));
  receiver = await startReceiver(['127.0.0.1']);
  const roots = join(folder, 'roots.pem');
  writeFileSync(roots, receiver.roots);
  api = await startTestApi({ webhookAllow: networksOf(LAB) });
  const keys = TEST_KEY_SECRETS.map(({ name, secret }) => `${name}:${secret.toString('base64')}`).join();
  workers = await startWorkers(api.database.url, {
    WEBHOOK_ALLOW: LAB,
    KEY_SECRETS: keys,
    NODE_EXTRA_CA_CERTS: roots,
  });
});
afterAll(async () => {
  await workers?.stop();
  await api?.stop();
  await receiver?.close();
  rmSync(folder, { recursive: true, force: true });
});

it('a test reaches the receiver, signed, and the list of deliveries says so', async () => {
  await api.makeDomain('shop.test');
  const path = '/domains/shop.test/webhooks';
  const url = `https://127.0.0.1:${receiver.port}/in`;
  const { status, body: webhook } = await api.ask('POST', path, { body: { url } });
  expect(status).toBe(200);
  expect((await api.ask('POST', `${path}/${webhook.id}/test`)).status).toBe(200);
  const newest = async () => (await api.ask('GET', `${path}/${webhook.id}/deliveries`)).body[0];
  await until(async () => (await newest()).state !== 'waiting', 'the webhook is called');
  expect(await newest()).toMatchObject({ event: 'test', state: 'delivered', status: 200, attempts: 1 });
  const [told] = receiver.received;
  expect(JSON.parse(told?.body as string)).toMatchObject({ event: 'test', domain: 'shop.test' });
  expect(isSigned(told as never, webhook.secret)).toBe(true);
  expect(await workers.metric('zonefleet_webhook_calls_total{outcome="delivered"}')).toBe(1);
});
