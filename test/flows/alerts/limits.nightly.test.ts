// Alerts about the certificate and the rate limits of a node fire if their faults are caused in a real process.

import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { makeCertificate } from '../../support/certificates/make-certificate.ts';
import { createDatabase, openRole, type TestDatabase } from '../../support/database/database.ts';
import { NEEDS_NETWORKS, NetworkNamespace } from '../../support/network/namespace.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { smallZone } from '../../support/processes/follow.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { type NodeProcess, startNode } from '../../support/processes/nodes.ts';
import { type Program, startProgram } from '../../support/processes/program.ts';
import { until } from '../../support/tests/until.ts';
import { NEEDS_PROMETHEUS, type Prometheus, startPrometheus } from '../../support/watching/prometheus.ts';

const NEEDS =
  NEEDS_PROMETHEUS || NEEDS_NETWORKS || (isInstalled('dnsperf') ? '' : ' (skipped: needs dnsperf)');
const BY = { source: 'test', actor: 'me' } as const;
const DAY_MS = 86_400_000;
/** Loopback clients have no rate limit. */
const ADDRESS = '198.18.0.1';

let prometheus: Prometheus;
let database: TestDatabase;
let directory: string;
let url: string;
const stops: (() => unknown)[] = [];

beforeAll(async () => {
  if (NEEDS !== '') return;
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-limits-'));
  prometheus = await startPrometheus();
  database = await createDatabase();
  await saveZones(database.db, [smallZone('a.example.', 1)], BY);
  url = await openRole(database.url, 'zonefleet_node');
});

afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  await prometheus?.stop();
  await database?.drop();
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
});

describe.skipIf(NEEDS !== '')(`alerts about a certificate and rate limits${NEEDS}`, () => {
  it('fire for a certificate that expires soon, and for one that cannot be used', async () => {
    const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')];
    const issued = await makeCertificate({
      names: ['ns1.example.net'],
      notAfter: new Date(Date.now() + 3 * DAY_MS),
    });
    writeFileSync(cert, issued.pem);
    writeFileSync(key, issued.key);
    let node: NodeProcess;
    await prometheus.fires('ZonefleetCertificateExpiring', async () => {
      const dot = `127.0.0.1:${await freePort()}`;
      node = await startNode('tls', {
        DATABASE_URL: url,
        DOT_LISTEN: dot,
        DNS_TLS_CERT: cert,
        DNS_TLS_KEY: key,
      });
      stops.push(() => node.stop());
      await prometheus.scrape('nameserver', node.metricsUrl);
    });
    // The node reads changed files once per minute.
    await prometheus.fires('ZonefleetCertificateUnusable', () => writeFileSync(cert, 'not a certificate'));
  });

  it('fire for answers that rate limits drop', async () => {
    const namespace = await NetworkNamespace.create();
    stops.push(() => namespace.remove());
    await namespace.run('ip', 'address', 'add', `${ADDRESS}/32`, 'dev', 'lo');
    const metrics = `127.0.0.1:${await freePort()}`;
    const node: Program = startProgram(
      '../../../src/nameserver/main.ts',
      {
        DATABASE_URL: url,
        DNS_LISTEN: `${ADDRESS}:53`,
        METRICS_LISTEN: metrics,
        DATA_DIR: directory,
        DNS_THREADS: '1',
        IMAGE_BYTES: '16M',
        RRL: '10',
      },
      { within: namespace },
    );
    stops.push(() => node.stop());
    const read = (path: string) => namespace.try('curl', '-s', '--fail', `http://${metrics}${path}`);
    await until(async () => (await read('/readyz')).code === 0, 'the node is ready');
    const relay: Server = createServer(async (_, response) => {
      response.end((await read('/metrics')).text);
    }).listen(0, '127.0.0.1');
    await once(relay, 'listening');
    stops.push(() => relay.close().closeAllConnections());
    await prometheus.scrape('nameserver', `http://127.0.0.1:${(relay.address() as AddressInfo).port}`);
    const names = join(directory, 'names');
    writeFileSync(names, 'www.a.example. A\n');
    await prometheus.fires('ZonefleetAnswersLimited', () =>
      namespace.run('dnsperf', '-s', ADDRESS, '-a', ADDRESS, '-d', names, '-l', '12', '-Q', '100', '-t', '1'),
    );
  });
});
