// The shipped rules and dashboards fit a running fleet: Prometheus accepts every expression, and the processes export every
// metric in them.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dashboardTexts } from '../../../deploy/grafana/make-dashboards.mjs';
import { createDatabase, openRole, type TestDatabase } from '../../support/database/database.ts';
import { startApi } from '../../support/processes/api-process.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { startNode } from '../../support/processes/nodes.ts';
import { startWorkers } from '../../support/processes/workers-process.ts';
import { ROOT } from '../../support/tests/sources.ts';
import { until } from '../../support/tests/until.ts';
import { metricsIn } from '../../support/watching/metrics-in.ts';
import { NEEDS_PROMETHEUS, type Prometheus, startPrometheus } from '../../support/watching/prometheus.ts';
import { rulesIn } from '../../support/watching/scaled-rules.ts';

const FOLDER = join(ROOT, 'deploy/prometheus');
const rulesOf = (file: string) => rulesIn(readFileSync(join(FOLDER, file), 'utf8'));
const rules = [...rulesOf('zonefleet-rules.yml'), ...rulesOf('zonefleet-alerts.yml')];

interface Dashboard {
  readonly panels: readonly { readonly targets?: readonly { readonly expr: string }[] }[];
}

const expressions = [
  ...rules.map(({ expr }) => expr),
  ...Object.values(dashboardTexts())
    .flatMap((text) => (JSON.parse(text) as Dashboard).panels)
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
].map((expr) => expr.replaceAll('$node', '.*').replaceAll('$__rate_interval', '5m'));

let prometheus: Prometheus;
let database: TestDatabase;
let spool: string;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  if (NEEDS_PROMETHEUS !== '') return;
  prometheus = await startPrometheus();
  database = await createDatabase();
  spool = mkdtempSync(join(tmpdir(), 'zonefleet-spool-'));
  const [ofApi, ofWorkers, ofStore] = [await freePort(), await freePort(), await freePort()];
  const env = { ANALYTICS_URL: `http://127.0.0.1:${ofStore}/zonefleet` };
  const metrics = (port: number) => `127.0.0.1:${port}`;
  const node = await startNode('one', { DATABASE_URL: await openRole(database.url, 'zonefleet_node') });
  stops.push(() => node.stop());
  const api = await startApi(database.url, {
    env: { ...env, METRICS_LISTEN: metrics(ofApi), ANALYTICS_SPOOL: spool, DNS_UPDATE: 'on' },
  });
  stops.push(() => api.stop());
  const workers = await startWorkers(database.url, {
    ...env,
    METRICS_LISTEN: metrics(ofWorkers),
    SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
    PUBLIC_URL: 'http://127.0.0.1:1',
    TRUST_ANCHORS: 'off',
    PUBLIC_RESOLVERS: 'off',
  });
  stops.push(() => workers.stop());
  await prometheus.scrape('nameserver', node.metricsUrl);
  await prometheus.scrape('api', `http://${metrics(ofApi)}`);
  await prometheus.scrape('workers', `http://${metrics(ofWorkers)}`);
  await until(
    async () => (await prometheus.query('count(zonefleet_ready == 1) == 3')).length > 0,
    'all are scraped',
  );
});

afterAll(async () => {
  await Promise.all(stops.map((stop) => stop()));
  await prometheus?.stop();
  await database?.drop();
  if (spool !== undefined) rmSync(spool, { recursive: true, force: true });
});

describe.skipIf(NEEDS_PROMETHEUS !== '')(`the rules and dashboards${NEEDS_PROMETHEUS}`, () => {
  it('are accepted by promtool, which also plays the objectives', () => {
    const promtool = (...args: string[]) => execFileSync('promtool', args, { cwd: FOLDER, encoding: 'utf8' });
    expect(promtool('check', 'config', 'prometheus.yml')).toContain('SUCCESS');
    expect(promtool('test', 'rules', join(ROOT, 'fixtures/alerts/objectives.yml'))).toContain('SUCCESS');
  });

  it('have only expressions that Prometheus can evaluate', async () => {
    for (const expr of expressions) await prometheus.query(expr);
  });

  it('name only metrics that a running fleet exports', async () => {
    const exported = new Set(await prometheus.families());
    const recorded = new Set(rules.map(({ record }) => record));
    const missing = expressions
      .flatMap(metricsIn)
      .filter((name) => !exported.has(name.replace(/_(bucket|count)$/, '')) && !recorded.has(name));
    expect([...new Set(missing)]).toEqual([]);
  });

  it('fire if Prometheus scrapes no workers', async () => {
    await prometheus.ends('ZonefleetProcessMissing');
    await prometheus.fires('ZonefleetProcessMissing', () => prometheus.scrape('workers'));
  });
});
