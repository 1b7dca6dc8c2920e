// A nameserver process that is killed and started again, with Postgres there and without: it serves what it served before.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { queryFor } from '../support/answer/queries.ts';
import { exchangeUdp } from '../support/answer/sockets.ts';
import { createDatabase, databaseNow, type TestDatabase } from '../support/database/database.ts';
import { askTcp } from '../support/peers/peers.ts';
import { smallZone } from '../support/processes/follow.ts';
import { type NodeProcess, startNode } from '../support/processes/nodes.ts';
import { startProxy, type TcpProxy } from '../support/processes/tcp-proxy.ts';
import { until } from '../support/tests/until.ts';

const BY = { source: 'test' } as const;
const APEX = parseName('a.example.');
const QUERY = queryFor({ name: APEX, type: TYPE.SOA, udpPayloadSize: undefined });

let database: TestDatabase;
let proxy: TcpProxy;
let directory: string;
let node: NodeProcess;

beforeAll(async () => {
  database = await createDatabase();
  proxy = await startProxy(database.url);
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-restart-'));
  await saveZones(database.db, [smallZone('a.example.', 1), smallZone('b.example.', 1)], BY);
  node = await start();
});

afterAll(async () => {
  await node?.stop();
  await proxy?.stop();
  await database?.drop();
  rmSync(directory, { recursive: true, force: true });
});

function start(): Promise<NodeProcess> {
  return startNode('ns1', { DATABASE_URL: proxy.url, DATA_DIR: directory });
}

/** Over both transports: they are answered by different threads. */
async function serials(): Promise<(number | undefined)[]> {
  const answers = [await exchangeUdp(node.address, QUERY), await askTcp(node.address.port, QUERY)];
  return answers.map((answer) => {
    const rdata = answer === undefined ? undefined : decodeMessage(answer).answers[0]?.rdata;
    return rdata === undefined ? undefined : Buffer.from(rdata).readUInt32BE(rdata.length - 20);
  });
}

async function untilServed(serial: number): Promise<void> {
  await until(async () => (await serials()).every((served) => served === serial), `serial ${serial}`);
}

/** Of the snapshot's log: an edit is in it a moment after it is served. */
function loggedBytes(): number {
  const place = join(directory, 'nodes', 'ns1');
  const logs = readdirSync(place).filter((name) => name.endsWith('.log'));
  return logs.reduce((bytes, name) => bytes + statSync(join(place, name)).size, 0);
}

test('killed, it comes back with the newest content while Postgres is away, and follows when it returns', async () => {
  await until(() => node.log().includes('snapshot written'), 'a snapshot');
  const loggedBefore = loggedBytes();
  await saveZones(database.db, [smallZone('a.example.', 2)], BY);
  await untilServed(2);
  await until(() => loggedBytes() > loggedBefore, 'the edit is in the log');
  await node.stop('SIGKILL');
  proxy.cut();
  node = await start();
  expect(node.log()).toContain('zones read from the snapshot');
  expect(await serials()).toEqual([2, 2]);
  const metrics = await (await fetch(`${node.metricsUrl}/metrics`)).text();
  expect(metrics).toMatch(/^zonefleet_zones 2$/m);
  expect(metrics).toMatch(/^zonefleet_feed_lag_seconds [\d.]+$/m);
  await saveZones(database.db, [smallZone('a.example.', 3)], BY);
  proxy.resume();
  await untilServed(3);
  expect(node.log()).not.toContain('zones loaded');
});

test('a second process of its name and directory never gets ready', async () => {
  // A holder that reports nothing would only be waited for: the first one is on its way back to Postgres here.
  const begun = new Date(await databaseNow(database.db));
  const hasReported = () =>
    database.db
      .selectFrom('nodes')
      .select('name')
      .where('name', '=', 'ns1')
      .where('seen_at', '>', begun)
      .executeTakeFirst();
  await until(async () => (await hasReported()) !== undefined, 'a report of the first process');
  const refusal: Error = await start().then(
    () => new Error('it started'),
    (error) => error,
  );
  expect(refusal.message).toContain('NODE_NAME: another process runs as node "ns1"');
  expect(refusal.message).not.toContain('"ready"');
});
