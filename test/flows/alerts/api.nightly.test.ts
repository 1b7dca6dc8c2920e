// Alerts about the API fire if their faults are caused in a real process.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { createDatabase, openRole, type TestDatabase } from '../../support/database/database.ts';
import { type ApiProcess, startApi } from '../../support/processes/api-process.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { NEEDS_PROMETHEUS, type Prometheus, startPrometheus } from '../../support/watching/prometheus.ts';
import { expectNoStacks } from '../../support/watching/stacks-in-warnings.ts';

/** A spool file of an ended process: 7 lines in a batch of edge 1 that cannot be unpacked. */
const DAMAGED = '1700000000000-000001-7-1-batch.ndjson.gz';

let prometheus: Prometheus;
let database: TestDatabase;
let proxy: TcpProxy;
let api: ApiProcess;
let spool: string;

beforeAll(async () => {
  if (NEEDS_PROMETHEUS !== '') return;
  prometheus = await startPrometheus();
  database = await createDatabase();
  proxy = await startProxy(await openRole(database.url, 'zonefleet_api'));
  spool = mkdtempSync(join(tmpdir(), 'zonefleet-spool-'));
});

afterAll(async () => {
  await api?.stop();
  await proxy?.stop();
  await prometheus?.stop();
  await database?.drop();
  if (spool !== undefined) rmSync(spool, { recursive: true, force: true });
});

describe.skipIf(NEEDS_PROMETHEUS !== '')(`alerts about the API${NEEDS_PROMETHEUS}`, () => {
  it('fire for reports that are lost, and for requests that fail', async () => {
    await prometheus.fires('ZonefleetReportsLost', async () => {
      const ended = join(spool, '0123456789ab');
      mkdirSync(ended);
      writeFileSync(join(ended, DAMAGED), 'not gzip');
      const metrics = `127.0.0.1:${await freePort()}`;
      await prometheus.scrape('api', `http://${metrics}`);
      api = await startApi(database.url, {
        env: {
          DATABASE_URL: proxy.url,
          METRICS_LISTEN: metrics,
          ANALYTICS_URL: `http://127.0.0.1:${await freePort()}/zonefleet`,
          ANALYTICS_SPOOL: spool,
        },
      });
    });
    let isOver = false;
    const asking = (async () => {
      while (!isOver) await api.ask('GET', '/domains/');
    })();
    await prometheus.fires('ZonefleetApiErrors', () => proxy.cut());
    isOver = true;
    await asking;
  });

  it('log warnings without stack traces', () => {
    expectNoStacks([api]);
  });
});
