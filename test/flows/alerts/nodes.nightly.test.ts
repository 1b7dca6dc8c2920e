// Alerts about nameservers fire if their faults are caused in real processes.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { queryFor } from '../../support/answer/queries.ts';
import { exchangeUdp } from '../../support/answer/sockets.ts';
import { createDatabase, openRole, type TestDatabase } from '../../support/database/database.ts';
import { lacksSmallDisk, mountSmallDisk } from '../../support/database/small-disk.ts';
import { smallZone } from '../../support/processes/follow.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { type NodeProcess, startNode } from '../../support/processes/nodes.ts';
import { type Program, startProgram } from '../../support/processes/program.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';
import { NEEDS_PROMETHEUS, type Prometheus, startPrometheus } from '../../support/watching/prometheus.ts';
import { expectNoStacks } from '../../support/watching/stacks-in-warnings.ts';

const BY = { source: 'test', actor: 'me' } as const;
const FAULTY_ID = 48_879;
const BUG = `--import=${new URL('../../support/watching/faulty-id.mjs', import.meta.url)}`;
const lacking = lacksSmallDisk();
const NEEDS = lacking === undefined ? NEEDS_PROMETHEUS : ` (skipped: needs ${lacking})`;

let prometheus: Prometheus;
let database: TestDatabase;
let proxy: TcpProxy;
/** Reads the feed through the proxy. */
let behind: NodeProcess;
/** Has the smallest image, and a bug. */
let small: NodeProcess;
/** Writes its snapshot to a small disk. */
let full: NodeProcess;
let disk: ReturnType<typeof mountSmallDisk>;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  if (NEEDS !== '') return;
  prometheus = await startPrometheus({ ZonefleetFeedLagDays: 10, ZonefleetFeedStopped: 120 });
  database = await createDatabase();
  await saveZones(database.db, [smallZone('a.example.', 1)], BY);
  const url = await openRole(database.url, 'zonefleet_node');
  proxy = await startProxy(url);
  disk = mountSmallDisk(tmpdir(), 4);
  [behind, small, full] = await Promise.all([
    startNode('behind', { DATABASE_URL: proxy.url }),
    startNode('small', { DATABASE_URL: url, IMAGE_BYTES: '16M', NODE_OPTIONS: BUG }),
    startNode('full', { DATABASE_URL: url, DATA_DIR: disk.tablespace }),
  ]);
  stops.push(...[behind, small, full].map((node) => () => node.stop()));
  await prometheus.scrape('nameserver', ...[behind, small, full].map(({ metricsUrl }) => metricsUrl));
});

afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  disk?.remove();
  await proxy?.stop();
  await database?.drop();
  await prometheus?.stop();
});

const ask = (node: NodeProcess, name: string, id: number) =>
  exchangeUdp(
    node.address,
    queryFor({ name: parseName(name), type: TYPE.A, udpPayloadSize: undefined }, id),
    500,
  );

/** Sends queries to the node until `work` has ended. */
async function askingDuring(node: NodeProcess, name: string, work: () => Promise<unknown>, id = 1) {
  let isOver = false;
  const asking = (async () => {
    while (!isOver) await ask(node, name, id);
  })();
  await work().finally(() => {
    isOver = true;
  });
  await asking;
}

describe.skipIf(NEEDS !== '')(`alerts about nameservers${NEEDS}`, () => {
  it('fire for edits that reach a node late', async () => {
    await saveZones(database.db, [smallZone('a.example.', 2)], BY);
    await prometheus.fires('ZonefleetEditsSlow', async () => {
      proxy.pause();
      await prometheus.fires('ZonefleetNodesDiffer', () =>
        saveZones(database.db, [smallZone('late.example.', 1)], BY),
      );
      // Several rounds, because a regular comparison of all zones may find the edits of one before the feed is read.
      for (const round of [1, 2, 3]) {
        proxy.pause();
        const late = Array.from({ length: 20 }, (_, i) => smallZone(`late${i}.example.`, round));
        await saveZones(database.db, late, BY);
        await pause(5500);
        proxy.resume();
        await pause(1500);
      }
    });
  });

  it('fire for zones that a node cannot serve', async () => {
    const { db } = database;
    await prometheus.fires('ZonefleetZonesRefused', async () => {
      const { apex, records } = smallZone('refused.example.', 1);
      await saveZones(db, [{ apex, records: records.filter(({ type }) => type !== TYPE.SOA) }], BY);
    });
    await unloadZones(db, [parseName('refused.example.')], BY);
    await prometheus.ends('ZonefleetZonesRefused');
    const many = Array.from({ length: 120 }, (_, i) => smallZone(`many${i}.example.`, 1));
    await saveZones(db, many, BY);
    await prometheus.fires('ZonefleetRemovalsHeld', () =>
      unloadZones(
        db,
        many.map(({ apex }) => apex),
        BY,
      ),
    );
  });

  it('fire for queries that a node refuses, or fails to answer', async () => {
    const fire = (...alerts: string[]) =>
      Promise.all(alerts.map((alert) => prometheus.fires(alert, () => undefined)));
    await askingDuring(small, 'not.ours.test.', () => fire('ZonefleetQueriesRefused'));
    await askingDuring(
      small,
      'www.a.example.',
      () => fire('ZonefleetQueryFailures', 'ZonefleetAnswerErrorsFast', 'ZonefleetAnswerErrorsSlow'),
      FAULTY_ID,
    );
  });

  it('fire for a full disk', async () => {
    await prometheus.fires('ZonefleetDiskNearlyFull', () => disk.fill());
    await prometheus.fires('ZonefleetSnapshotFailing', () =>
      saveZones(
        database.db,
        Array.from({ length: 100 }, (_, i) => smallZone(`disk${i}.example.`, 1)),
        BY,
      ),
    );
  });

  it('fire for an image that is too small', async () => {
    /** Each zone needs about 950,000 bytes of the image. */
    const add = async (from: number, to: number) => {
      const text = Array.from(
        { length: 250 },
        (_, i) => `t${i} 60 TXT ${`"${'x'.repeat(250)}" `.repeat(15)}`,
      ).join('\n');
      for (let i = from; i < to; i++)
        await saveZones(database.db, [smallZone(`large${i}.example.`, 1, text)], BY);
    };
    await prometheus.fires('ZonefleetImageNearlyFull', () => add(0, 17));
    await prometheus.fires('ZonefleetImageFull', () => add(17, 20));
  });

  it('fire for a node that receives no changes', async () => {
    proxy.cut();
    const lags = ['ZonefleetFeedLag', 'ZonefleetFeedStopped', 'ZonefleetFeedLagDays'];
    await Promise.all(lags.map((alert) => prometheus.fires(alert, () => undefined)));
  });

  it('fire for a node that is down', async () => {
    await prometheus.fires('ZonefleetProcessDown', () => full.stop('SIGKILL'));
  });

  it('fire for a node that has no zones, and restarts again and again', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'zonefleet-restarting-'));
    stops.push(async () => rmSync(directory, { recursive: true, force: true }));
    const metrics = `127.0.0.1:${await freePort()}`;
    await prometheus.scrape('nameserver', `http://${metrics}`);
    const settings = {
      DATABASE_URL: proxy.url, // refuses connections
      METRICS_LISTEN: metrics,
      DNS_LISTEN: `127.0.0.1:${await freePort()}`,
      DATA_DIR: directory,
      IMAGE_BYTES: '16M',
    };
    const start = async () => {
      const now = Date.now() / 1000;
      const node = startProgram('../../../src/nameserver/main.ts', settings);
      stops.push(() => node.stop('SIGKILL'));
      const isScraped = `process_start_time_seconds{instance="${metrics}"} > ${now}`;
      await until(
        async () => (await prometheus.query(isScraped)).length > 0,
        'Prometheus has scraped the node',
      );
      return node;
    };
    let node: Program | undefined;
    await prometheus.fires('ZonefleetNotReady', async () => {
      node = await start();
    });
    await prometheus.fires('ZonefleetRestarting', async () => {
      for (let restarts = 0; restarts < 3; restarts++) {
        await node?.stop('SIGKILL');
        node = await start();
      }
    });
  });

  it('log warnings without stack traces', () => {
    expectNoStacks([behind, small, full]);
  });
});
