// Bringing a domain's records along, as its owner sees it: real API, workers and command line, below a small internet on
// loopback addresses. The zone has many servers, since each is asked only so often in a second.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from '../../src/store/migrate/migrate.ts';
import { runCli } from '../support/cli/run-cli.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase } from '../support/database/database.ts';
import { expectPublished } from '../support/database/domains.ts';
import { type ApiProcess, startApi } from '../support/processes/api-process.ts';
import { startWorkers, type WorkersProcess } from '../support/processes/workers-process.ts';
import { startTogether } from '../support/tests/start-together.ts';
import { until } from '../support/tests/until.ts';
import { type StartedWorld, startWorld } from '../support/world/fake-internet.ts';

const SERVERS = Array.from({ length: 24 }, (_, i) => ({
  name: `ns${i}.host.zz.`,
  address: `127.0.2.${i + 1}`,
}));
const OWN_EDGE = TEST_SETTINGS.edgeIpv4[0] as string;

const SHOP = [
  '@ 3600 A 198.51.100.10',
  '@ 3600 MX 10 mail.shop.zz.',
  '@ 600 TXT "v=spf1 mx include:_spf.example.net -all"',
  'www 120 CNAME shop.zz.',
  'mail 3600 A 198.51.100.25',
  'api 30 A 198.51.100.11',
  `edge 300 A ${OWN_EDGE}`,
  '_dmarc 3600 TXT "v=DMARC1; p=reject"',
  'dev 3600 NS ns1.dev.shop.zz.',
  'ns1.dev 3600 A 198.51.100.53',
  '*.apps 300 A 198.51.100.12',
  'one.apps 300 A 198.51.100.13',
];
const BLOG = ['@ 300 A 198.51.100.20', 'www 300 A 198.51.100.20'];

/** `name ttl type destination`, as the API has it. */
const SHOP_HERE = [
  '@ 3600 A 198.51.100.10',
  '@ 3600 MX mail.shop.zz',
  '@ 600 TXT v=spf1 mx include:_spf.example.net -all',
  '*.apps 300 A 198.51.100.12',
  '_dmarc 3600 TXT v=DMARC1; p=reject',
  'api 60 A 198.51.100.11', // the lowest TTL that is allowed here
  'dev 3600 NS ns1.dev.shop.zz',
  'mail 3600 A 198.51.100.25',
  'ns1.dev 3600 A 198.51.100.53',
  'www 120 CNAME shop.zz',
];

function worldText(): string {
  const ns = (apex: string) => SERVERS.map(({ name }) => `  ${apex} NS ${name}`);
  const zone = (apex: string, records: readonly string[]) => [
    `zone ${apex}`,
    ...ns(apex),
    ...records.map((record) => `  ${record}`),
  ];
  const lines = [
    '# A registry, and a host with many servers.',
    'server a.root. 127.0.1.1',
    '  serves .',
    'server a.nic.zz. 127.0.1.2',
    '  serves zz.',
    ...SERVERS.flatMap(({ name, address }) => [
      `server ${name} ${address}`,
      '  serves shop.zz. blog.zz. host.zz.',
    ]),
    'zone .',
    '  . NS a.root.',
    '  a.root. A 127.0.1.1',
    '  zz. NS a.nic.zz.',
    '  a.nic.zz. A 127.0.1.2',
    ...zone('zz.', []).slice(0, 1),
    '  zz. NS a.nic.zz.',
    '  a.nic.zz. A 127.0.1.2',
    ...['shop.zz.', 'blog.zz.', 'host.zz.'].flatMap(ns),
    ...SERVERS.map(({ name, address }) => `  ${name} A ${address}`),
    ...zone(
      'host.zz.',
      SERVERS.map(({ name, address }) => `${name} A ${address}`),
    ),
    ...zone('shop.zz.', SHOP),
    ...zone('blog.zz.', BLOG),
  ];
  return `${lines.join('\n')}\n`;
}

describe('a domain that comes from elsewhere', () => {
  let world: StartedWorld;
  let database: TestDatabase;
  let api: ApiProcess;
  let workers: WorkersProcess;
  let env: Record<string, string>;

  beforeAll(async () => {
    [world, database] = await Promise.all([startWorld({ text: worldText() }), createDatabase()]);
    await migrate(database.db, TEST_SETTINGS);
    env = { ...world.settings, PUBLIC_RESOLVERS: 'off', ALLOW_RESERVED_NAMES: 'on' };
    [api, workers] = await startTogether<[ApiProcess, WorkersProcess]>([
      startApi(database.url, { env }),
      startWorkers(database.url, env),
    ]);
  });
  afterAll(async () => {
    await Promise.all([workers?.stop(), api?.stop()]);
    await Promise.all([world?.close(), database?.drop()]);
  });

  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await api.ask(method, path, body);
    if (answer.status !== 200) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`);
    return answer.body;
  };
  // biome-ignore lint/suspicious/noExplicitAny: bodies of the API
  type Body = any;
  const shown = (records: readonly Body[]) =>
    records
      .filter(({ editable }) => editable !== false)
      .map(({ name, ttl, type, destination }) => `${name} ${ttl} ${type} ${destination}`)
      .sort();
  const here = async (name: string) => shown(await ask('GET', `/domains/${name}/records/`));

  it('has its records soon after it was created, in one change', async () => {
    const { id } = await ask('POST', '/domains/', { name: 'shop.zz' });
    await until(async () => (await here('shop.zz')).length > 0, 'the records are there');
    const records = await here('shop.zz');
    expect(records).toEqual(expect.arrayContaining(SHOP_HERE));
    // no list contains `one.apps`, and an answer of the wildcard is no record
    expect(records.filter((line) => !SHOP_HERE.includes(line))).toEqual([]);
    const changes: Body[] = await ask('GET', '/domains/shop.zz/changes');
    expect(changes.map(({ source }) => source)).toEqual(['scan', 'api']);
    await expectPublished(database.db, id);
    expect(await workers.metric('zonefleet_scans_total{kind="background",complete="true"}')).toBe(1);
    expect(workers.log()).toMatch(/"domain":"shop\.zz\.".*"msg":"scanned"/);
  });

  it('can be scanned from the command line, without a database, and imported from there', async () => {
    const settings = { env: { ...env, EDGE_IPV4: OWN_EDGE } };
    const alone = await runCli(['scan', 'Shop.ZZ', '--json'], settings);
    expect([alone.code, alone.stderr]).toEqual([0, '']);
    expect(shown(JSON.parse(alone.stdout).records)).toEqual([...SHOP_HERE].sort());
    const absent = await runCli(['scan', 'nothing.zz'], settings);
    expect([absent.code, absent.stdout]).toEqual([
      1,
      expect.stringContaining('nothing.zz. does not exist: NXDOMAIN from the servers of zz.'),
    ]);
    await ask('POST', '/domains/', { name: 'blog.zz', scan: false });
    const imported = await runCli(['scan', 'blog.zz', '--import'], {
      ...settings,
      databaseUrl: database.url,
    });
    expect([imported.code, imported.stderr]).toEqual([0, '']);
    expect(imported.stdout).toMatch(
      /^blog\.zz {2}complete, 2 records [\s\S]*\ncreated 2 failed 0 skipped 0 change \d+\n$/,
    );
    expect(await here('blog.zz')).toHaveLength(2);
  });

  it('is scanned to its end after a worker is killed in the middle, and requests meanwhile join', async () => {
    const { id } = await ask('POST', '/domains/', { name: 'host.zz', scan: false });
    for (const { address } of SERVERS) world.internet.silenced.add(address);
    const asked = ask('POST', '/domains/host.zz/records/scan-import');
    const { db } = database;
    await until(async () => {
      const { rows } = await sql`select from scans where domain_id = ${id} and run is not null`.execute(db);
      return rows.length > 0;
    }, 'the scan is under way');
    await workers.stop('SIGKILL');
    world.internet.silenced.clear();
    workers = await startWorkers(database.url, env);
    // as if its lease had expired
    await sql`update scans set due_at = clock_timestamp() where domain_id = ${id}`.execute(db);
    const joined = ask('POST', '/domains/host.zz/records/scan-import');
    const [first, second] = await Promise.all([asked, joined]);
    expect(second.created).toBeGreaterThan(0);
    expect(first.change_id).toBe(second.change_id);
    const { rows } = await sql`select attempts from scans where domain_id = ${id}`.execute(db);
    expect(rows).toEqual([{ attempts: 2 }]);
  });
});
