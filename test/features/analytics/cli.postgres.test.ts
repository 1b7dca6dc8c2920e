import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openAnalytics } from '../../../src/analytics/open-analytics.ts';
import { addAnalyticsCommands } from '../../../src/features/analytics/cli.ts';
import { writeDnsCounts } from '../../../src/features/analytics/sql-dns.ts';
import { startAnalytics, type TestAnalytics } from '../../support/analytics/start-analytics.ts';
import { storedRequest } from '../../support/analytics/stored-request.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

let engine: TestAnalytics;
const { db, url, query } = keptDatabase();
beforeAll(async () => {
  engine = await startAnalytics();
  const ann = await newAccount(db, 'ann@example.org');
  const { id } = await newDomain(db, ann, 'shop.example.');
  await newDomain(db, ann, 'bare.example.');
  await query`update subscriptions set started_at = now() - interval '3 days'`;
  await query`update plans set max_traffic_gb = 5`;
  await query`update subscriptions set ended_at = now(), status = 'expired' where domain_id <> ${id}`;
  const at = new Date(Date.now() - 1000);
  const store = openAnalytics(engine.url);
  const lines = [200, 200, 200, 502].map((status) =>
    storedRequest(at, { domain_id: id, host: 'shop.example', status }),
  );
  await store.insert('requests', lines, 'lines');
  const row = { minute: new Date(Math.floor(at.getTime() / 60_000) * 60_000), domainId: id, node: 'ams1' };
  await writeDnsCounts(store, 'first', {
    counts: [
      { ...row, type: 1, rcode: 0, count: 5 },
      { ...row, type: 28, rcode: 3, node: 'fra1', count: 7 },
      { ...row, type: 0, rcode: 0, count: 1 },
    ],
    names: [{ day: at.toISOString().slice(0, 10), domainId: id, name: 'www.shop.example.', count: 256 }],
  });
  await store.close();
});
afterAll(() => engine?.stop());

const run = (...args: string[]) =>
  runCommands(addAnalyticsCommands, ['analytics', ...args], url, { analyticsUrl: engine.url });
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);

it('analytics summary prints the totals of requests in a period', async () => {
  const { code, stdout } = await run('summary', 'Shop.Example', '--period', '3h');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^shop\.example, 3h\n/);
  expect(stdout).toMatch(/requests +4\n/);
  expect(stdout).toMatch(/failed +1 \(25\.00 %\)\n/);
  expect(await json('summary', 'shop.example')).toMatchObject({
    ...{ domain: 'shop.example', period: '24h', requests: 4, bytes: 4, failures: 1, visitors: 1 },
  });
  expect(await json('summary', 'bare.example')).toMatchObject({ requests: 0, bytes: 0, failures: 0 });
});

describe('analytics traffic', () => {
  it('prints the traffic and the limit of the quota period, and fails without a plan', async () => {
    const told = await json('traffic', 'shop.example');
    expect(told).toMatchObject({ domain: 'shop.example', requests: 4, used_bytes: 4, limit_gb: 5 });
    expect(new Date(told.period_start) < new Date()).toBe(true);
    expect((await run('traffic', 'shop.example')).stdout).toMatch(/included +5 GB\n/);
    expect(await run('traffic', 'bare.example')).toEqual({
      ...{ code: 1, stdout: '', stderr: 'bare.example: it has no active plan\n' },
    });
  });
});

it('analytics dns prints the queries by type, rcode and node, with sampled names', async () => {
  const { code, stdout } = await run('dns', 'shop.example', '--period', '1h');
  expect(code).toBe(0);
  expect(stdout.split('\n').slice(0, 3)).toEqual([
    'shop.example, 1h: 13 answers',
    expect.stringMatching(/^BY +ANSWERS$/),
    expect.stringMatching(/^type +AAAA +7$/),
  ]);
  expect(await json('dns', 'shop.example')).toEqual({
    ...{ domain: 'shop.example', period: '24h', total: 13 },
    types: { A: 5, AAAA: 7, other: 1 },
    rcodes: { NOERROR: 6, NXDOMAIN: 7 },
    nodes: [
      { node: 'fra1', count: 7 },
      { node: 'ams1', count: 6 },
    ],
    names: [{ name: 'www.shop.example.', count: 256 }],
  });
  expect((await run('dns', 'bare.example')).stdout).toBe('bare.example, 24h: 0 answers\n');
});

it('unknown periods, unknown domains and an unavailable store are reported', async () => {
  expect((await run('summary', 'shop.example', '--period', '1h')).code).toBe(2);
  expect(await run('dns', 'nobody.example')).toMatchObject({ code: 1, stdout: '' });
  const at = async (analyticsUrl: string | undefined) =>
    await runCommands(addAnalyticsCommands, ['analytics', 'dns', 'shop.example'], url, {
      analyticsUrl,
    });
  const away = await at('http://zonefleet:secret@127.0.0.1:9/zonefleet');
  expect([away.code, away.stderr]).toEqual([2, expect.stringContaining('the analytics store')]);
  expect(away.stderr).not.toContain('secret');
  const none = await at(undefined);
  expect([none.code, none.stderr]).toEqual([
    2,
    expect.stringMatching(/ANALYTICS_URL is not set.*npm start -- --analytics/),
  ]);
});
