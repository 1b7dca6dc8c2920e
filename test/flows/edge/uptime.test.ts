// An outage from the lines that edges reported to what the owner gets: incident, mail, webhook, and all of that again when the origin is back;
// workers and analytics store in processes of their own.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { networksOf } from '../../../src/dns/record/network.ts';
import { insertRequests, type Line } from '../../support/analytics/insert-requests.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { startTestApi, TEST_KEY_SECRETS, type TestApi } from '../../support/api/api.ts';
import { startSmtp, type TestSmtp } from '../../support/mail/smtp.ts';
import { startWorkers, type WorkersProcess } from '../../support/processes/workers-process.ts';
import { until } from '../../support/tests/until.ts';
import { isSigned, type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';

const LAB = '127.0.0.0/8';
const PATIENCE_MS = 120_000;
let engine: TestAnalytics;
let api: TestApi;
let receiver: Receiver;
let smtp: TestSmtp;
let workers: WorkersProcess;
let folder: string;
let domainId: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'uptime-'));
  receiver = await startReceiver(['127.0.0.1']);
  const roots = join(folder, 'roots.pem');
  writeFileSync(roots, receiver.roots);
  engine = await startAnalytics();
  smtp = await startSmtp();
  api = await startTestApi({ webhookAllow: networksOf(LAB), analytics: engine.url });
  workers = await startWorkers(api.database.url, {
    WEBHOOK_ALLOW: LAB,
    KEY_SECRETS: TEST_KEY_SECRETS.map(({ name, secret }) => `${name}:${secret.toString('base64')}`).join(),
    NODE_EXTRA_CA_CERTS: roots,
    ANALYTICS_URL: engine.url,
    SMTP_URL: smtp.url,
    MAIL_FROM: 'zonefleet@dns.zonefleet.test',
    PUBLIC_URL: 'https://dns.zonefleet.test',
  });
});
afterAll(async () => {
  await workers?.stop();
  await api?.stop();
  await smtp?.stop();
  await engine?.stop();
  await receiver?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Requests of these minutes, each with so many. */
async function report(first: number, last: number, line: Omit<Line, 'at'>): Promise<void> {
  const lines = [];
  for (let minute = first; minute <= last; minute++)
    for (let n = 0; n < 10; n++) lines.push({ at: new Date(minute * 60_000 + n * 1000), ...line });
  await insertRequests(engine.url, { domainId, host: 'www.shop.test', lines });
}

/** Has a minute judged next, with what `report` tells. No worker is at a minute meanwhile: it would see half of that. */
async function judgeFrom(minute: number, report: () => Promise<void>): Promise<void> {
  const { db } = api.database;
  await until(async () => {
    const { numAffectedRows } = await sql`
      update uptime_round set lease_until = 'infinity' where lease_until < clock_timestamp()`.execute(db);
    return numAffectedRows === 1n;
  }, 'no minute is being judged');
  await report();
  await sql`update uptime_round set judged = ${minute - 1}, lease_until = '-infinity'`.execute(db);
}

it('tells the owner and the webhook when the origin fails, and when it is back', async () => {
  domainId = (await api.makeDomain('shop.test')).id;
  const record = { name: 'www', type: 'A', destination: '192.0.2.1', proxied: true, monitor: true };
  expect((await api.ask('POST', '/domains/shop.test/records/', { body: record })).status).toBe(200);
  expect((await api.ask('PUT', '/domains/shop.test', { body: { outage_alerts: true } })).status).toBe(200);
  const url = `https://127.0.0.1:${receiver.port}/`;
  const webhook = (await api.ask('POST', '/domains/shop.test/webhooks', { body: { url } })).body;
  const uptime = async () => (await api.ask('GET', '/domains/shop.test/uptime', { as: 'viewer' })).body;

  const begin = Math.floor(Date.now() / 60_000) - 45;
  await judgeFrom(begin, () => report(begin, begin + 9, { status: 502, reason: 'origin_unreachable' }));
  await until(async () => (await uptime()).incidents.length === 1, 'the outage is found', PATIENCE_MS);
  const [open] = (await uptime()).incidents;
  expect(open).toEqual({
    id: open.id,
    started_at: new Date(begin * 60_000).toISOString(),
    error_pct: 100,
  });
  await until(() => smtp.taken.length === 1 && receiver.received.length === 1, 'it is told', PATIENCE_MS);

  await judgeFrom(begin + 10, () => report(begin + 10, begin + 20, { status: 200, cache: 'miss' }));
  await until(async () => (await uptime()).incidents[0].ended_at !== undefined, 'it is over', PATIENCE_MS);
  const { incidents, uptime_pct } = await uptime();
  expect(incidents).toEqual([{ ...open, ended_at: new Date((begin + 10) * 60_000).toISOString() }]);
  expect(uptime_pct === undefined || uptime_pct < 100).toBe(true);
  await until(
    () => smtp.taken.length === 2 && receiver.received.length === 2,
    'its end is told',
    PATIENCE_MS,
  );

  expect(smtp.taken.map(({ to }) => to)).toEqual(['owner@zonefleet.test', 'owner@zonefleet.test']);
  expect(smtp.taken.map(({ raw }) => /^Subject: (.*)$/m.exec(raw)?.[1]?.trim())).toEqual([
    'shop.test: origins are down',
    'shop.test: origins answer again',
  ]);
  const events = receiver.received.map(({ body }) => JSON.parse(body));
  expect(events).toMatchObject([
    { event: 'outage.begun', domain: 'shop.test', data: { incident: open } },
    { event: 'outage.ended', domain: 'shop.test', data: { incident: incidents[0] } },
  ]);
  expect(receiver.received.every((told) => isSigned(told, webhook.secret))).toBe(true);
  expect(await workers.metric('zonefleet_outages_total{became="ended"}')).toBe(1);
});
