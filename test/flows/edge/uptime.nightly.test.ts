// An outage from an edge's reports of visits to what the owner gets: incident, mail, webhook, and all of that again when the origin is back; API,
// workers and analytics store in processes of their own.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Analytics, openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { TEST_KEY_SECRETS } from '../../support/api/api.ts';
import { DOMAIN, EdgeFleet, HOST } from '../../support/edge/edge-fleet.ts';
import { linesOf, requestLine, sendBatch } from '../../support/edge/report-requests.ts';
import { startSmtp, type TestSmtp } from '../../support/mail/smtp.ts';
import { startWorkers, type WorkersProcess } from '../../support/processes/workers-process.ts';
import { until } from '../../support/tests/until.ts';
import { isSigned, type Receiver, startReceiver } from '../../support/webhooks/receiver.ts';

const LAB = '127.0.0.0/8';
const PATIENCE_MS = 120_000;
const MINUTE = 60_000;
const VISITS = 10;
let engine: TestAnalytics;
let store: Analytics;
let fleet: EdgeFleet;
let receiver: Receiver;
let smtp: TestSmtp;
let workers: WorkersProcess;
const folder = mkdtempSync(join(tmpdir(), 'uptime-'));
beforeAll(async () => {
  receiver = await startReceiver(['127.0.0.1']);
  const roots = join(folder, 'roots.pem');
  writeFileSync(roots, receiver.roots);
  engine = await startAnalytics();
  store = openAnalytics(engine.url);
  smtp = await startSmtp();
  const common = {
    WEBHOOK_ALLOW: LAB,
    KEY_SECRETS: TEST_KEY_SECRETS.map(({ name, secret }) => `${name}:${secret.toString('base64')}`).join(),
    ANALYTICS_URL: engine.url,
  };
  fleet = await EdgeFleet.start({ env: { ...common, ANALYTICS_SPOOL: join(folder, 'spool') } });
  workers = await startWorkers(fleet.database.url, {
    ...common,
    NODE_EXTRA_CA_CERTS: roots,
    SMTP_URL: smtp.url,
    MAIL_FROM: 'zonefleet@dns.zonefleet.test',
    PUBLIC_URL: 'https://dns.zonefleet.test',
  });
});
afterAll(async () => {
  await workers?.stop();
  await fleet?.stop();
  await store?.close();
  await smtp?.stop();
  await engine?.stop();
  await receiver?.close();
  rmSync(folder, { recursive: true, force: true });
});

let visited = 0;

/** Reports visits in these minutes that were answered with a status, and waits until all of them are stored. */
async function report(first: number, last: number, status: number): Promise<void> {
  const lines = [];
  for (let minute = first; minute <= last; minute++) {
    const at = new Date(minute * MINUTE + 1000).toISOString();
    for (let n = 0; n < VISITS; n++) lines.push(requestLine({ at, host: HOST, status }));
  }
  const { url } = fleet.api;
  const sent = await sendBatch({ url, token: fleet.token, batch: `${first}`, body: linesOf(lines) });
  expect(sent).toMatchObject({ status: 200 });
  visited += lines.length;
  const count = async () =>
    (await store.query<{ n: number }>('SELECT toUInt32(count()) AS n FROM requests', {}, { seconds: 20 }))[0]
      ?.n;
  await until(async () => (await count().catch(() => 0)) === visited, 'every visit is stored', PATIENCE_MS);
}

/** Has a minute judged next, with what `bring` reports. No worker is at a minute meanwhile: it would see half of that. */
async function judgeFrom(minute: number, bring: () => Promise<void>): Promise<void> {
  const { db } = fleet.database;
  await until(async () => {
    const { numAffectedRows } = await sql`
      update uptime_round set lease_until = 'infinity' where lease_until < clock_timestamp()`.execute(db);
    return numAffectedRows === 1n;
  }, 'no minute is being judged');
  await bring();
  await sql`update uptime_round set judged = ${minute - 1}, lease_until = '-infinity'`.execute(db);
}

it('tells the owner and the webhook when the origin fails, and when it is back', async () => {
  await fleet.change('PUT', `/records/${fleet.record.id}`, { monitor: true });
  await fleet.change('PUT', '', { outage_alerts: true });
  const url = `https://127.0.0.1:${receiver.port}/`;
  const webhook = await fleet.change('POST', '/webhooks', { url });
  const uptime = async () => (await fleet.ask('GET', `/domains/${DOMAIN}/uptime`)).body;

  const begin = Math.floor(Date.now() / MINUTE) - 45;
  await judgeFrom(begin, () => report(begin, begin + 9, 503));
  await until(async () => (await uptime()).incidents.length === 1, 'the outage is found', PATIENCE_MS);
  const [open] = (await uptime()).incidents;
  expect(open).toEqual({
    id: open.id,
    started_at: new Date(begin * MINUTE).toISOString(),
    error_pct: 100,
  });
  await until(() => smtp.taken.length === 1 && receiver.received.length === 1, 'it is told', PATIENCE_MS);

  await judgeFrom(begin + 10, () => report(begin + 10, begin + 20, 200));
  await until(async () => (await uptime()).incidents[0].ended_at !== undefined, 'it is over', PATIENCE_MS);
  const { incidents, uptime_pct } = await uptime();
  expect(incidents).toEqual([{ ...open, ended_at: new Date((begin + 10) * MINUTE).toISOString() }]);
  expect(uptime_pct === undefined || uptime_pct < 100).toBe(true);
  await until(
    () => smtp.taken.length === 2 && receiver.received.length === 2,
    'its end is told',
    PATIENCE_MS,
  );

  expect(smtp.taken.map(({ to }) => to)).toEqual(['owner@zonefleet.test', 'owner@zonefleet.test']);
  expect(smtp.taken.map(({ raw }) => /^Subject: (.*)$/m.exec(raw)?.[1]?.trim())).toEqual([
    `${DOMAIN}: origins are down`,
    `${DOMAIN}: origins answer again`,
  ]);
  const events = receiver.received.map(({ body }) => JSON.parse(body));
  expect(events).toMatchObject([
    { event: 'outage.begun', domain: DOMAIN, data: { incident: open } },
    { event: 'outage.ended', domain: DOMAIN, data: { incident: incidents[0] } },
  ]);
  expect(receiver.received.every((told) => isSigned(told, webhook.secret))).toBe(true);
  expect(await workers.metric('zonefleet_outages_total{became="ended"}')).toBe(1);
});
