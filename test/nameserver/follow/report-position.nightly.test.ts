// A node keeps its name and its place in the list of nodes, whatever becomes of its connections.

import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { AskedZones } from '../../../src/nameserver/follow/asked-zones.ts';
import { PositionReporter } from '../../../src/nameserver/follow/report-position.ts';
import { claimNodeName, listNodes, type NodeReport } from '../../../src/store/feed/nodes.ts';
import { connect } from '../../../src/store/postgres/connection.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { collectingLog } from '../../support/processes/follow.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';

function nodeReport(name: string): NodeReport {
  return {
    name,
    instance: randomUUID(),
    startedAt: new Date(),
    loaded: true,
    epoch: undefined,
    position: undefined,
    snapshot: undefined,
    zones: 1,
    records: 3,
    held: undefined,
    unserved: [],
    abilities: [],
    version: '1.2.3',
    traffic: { answered: 5, dropped: 2 },
    image: { used: 0, capacity: 1 },
  };
}

describe('a node', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;

  beforeEach(async () => {
    database = await createDatabase();
    proxy = await startProxy(database.url);
  });
  afterEach(async () => {
    await proxy.stop();
    await database.drop();
  });

  function reporter(databaseUrl = proxy.url) {
    const log = collectingLog();
    // As long as can be: application names end at 63 octets.
    const report = nodeReport(`ams1-${'x'.repeat(58)}`);
    const asked = new AskedZones();
    const options = { databaseUrl, nodeName: report.name, log, report: () => report, asked };
    return { report, log, asked, reporter: new PositionReporter(options) };
  }
  const listed = async () => (await listNodes(database.db))[0];

  test('whose connection was cut silently ends the session that it had, and reports on', async () => {
    const node = reporter();
    await node.reporter.start();
    await until(async () => (await listed())?.state === 'live', 'it is listed');
    const { version, traffic, image } = node.report;
    expect(await listed()).toMatchObject({ version, traffic, image });
    proxy.forget();
    node.report.position = 42;
    // The server alone would never know: a unix socket has no keepalives.
    await until(async () => (await listed())?.position === 42, 'it reports on');
    expect(node.log.lines.filter(({ level }) => level === 'error')).toEqual([]);
    await node.reporter.stop();
    expect((await listed())?.state).toBe('left');
  });

  test('starts while a session that reports nothing holds its name, and reports once that ends', async () => {
    const node = reporter();
    const left = await connect(database.url, { applicationName: 'left behind' });
    expect(await claimNodeName(left, { ...node.report, instance: randomUUID() })).toBe('claimed');
    await node.reporter.start();
    expect(node.log.lines.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('a session that reports nothing holds the name'),
    );
    expect(await listed()).toBeUndefined();
    await left.close();
    await until(async () => (await listed())?.state === 'live', 'it is listed');
    await node.reporter.stop();
  });

  test('leaves a session of another process under its name alone, and tells of it', async () => {
    const [first, second] = [reporter(database.url), reporter()];
    proxy.cut();
    await second.reporter.start(); // the primary cannot be reached: it goes on trying
    await first.reporter.start();
    proxy.resume();
    await until(
      () => second.log.lines.some(({ message }) => message.startsWith('another process runs')),
      'the other one is told of',
    );
    first.report.position = 7;
    await until(async () => (await listed())?.position === 7, 'the first one reports on');
    expect(first.log.lines).toEqual([]);
    await first.reporter.stop();
    second.report.position = 8;
    await until(async () => (await listed())?.position === 8, 'the second one follows');
    await second.reporter.stop();
  });
});
