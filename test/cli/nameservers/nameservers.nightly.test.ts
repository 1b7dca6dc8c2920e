import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../support/cli/run-cli.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { type StartedWorld, startWorld } from '../../support/world/fake-internet.ts';

const { url, query } = keptDatabase();

const POOL = {
  NAMESERVER_POOL: 'ns[1-2].fleet-a.test,ns[1-10].fleet-b.test',
  NAMESERVER_ADDRESSES: '192.0.2.53,2001:db8:1::53;198.51.100.53',
};
const run = (args: string[], env: Record<string, string> = {}) => runCli(args, { databaseUrl: url, env });

it('without a pool, prints which settings are missing and exits with 1', async () => {
  const { code, stdout, stderr } = await run(['nameservers']);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toContain('NAMESERVER_POOL');
});

it('prints every record of every list, and the number of assigned combinations', async () => {
  expect(await run(['migrate'], POOL)).toMatchObject({ code: 0 });
  await query`insert into given_ns_sets (names, kind, account_id)
    values ('{ns1.fleet-a.test.,ns1.fleet-b.test.}', 'exclusive', 1)`;
  const { code, stdout } = await run(['nameservers', '--no-check']);
  expect(code).toBe(0);
  const lines = stdout.split('\n');
  expect(lines.slice(0, 7)).toEqual([
    '; list 1: 2 names',
    'ns1.fleet-a.test. 3600 IN A 192.0.2.53',
    'ns1.fleet-a.test. 3600 IN AAAA 2001:db8:1::53',
    'ns2.fleet-a.test. 3600 IN A 192.0.2.53',
    'ns2.fleet-a.test. 3600 IN AAAA 2001:db8:1::53',
    '; glue: register each of these names as a host with 192.0.2.53, 2001:db8:1::53 where its domain is registered',
    '',
  ]);
  expect(lines).toContain('ns10.fleet-b.test. 3600 IN A 198.51.100.53');
  expect(stdout).toContain(
    '1 of 18 combinations are assigned to accounts (5.5 %), 0 as substitutes; 0 are shared',
  );
});

it('prints one JSON document, and warns from 80 % on', async () => {
  await query`insert into given_ns_sets (names, kind, account_id)
    select array['ns2.fleet-a.test.', 'ns' || n || '.fleet-b.test.'], 'exclusive', n + 1 from generate_series(1, 10) n`;
  await query`insert into given_ns_sets (names, kind, account_id)
    select array['ns1.fleet-a.test.', 'ns' || n || '.fleet-b.test.'], 'exclusive', n + 20 from generate_series(2, 5) n`;
  const document = JSON.parse((await run(['nameservers', '--json', '--no-check'])).stdout);
  expect(document.lists[1]).toMatchObject({ addresses: ['198.51.100.53'] });
  expect(document.combinations).toMatchObject({
    total: 20,
    for_accounts: 18,
    exclusive: 15,
    share_given: 15 / 18,
  });
  const { code, stderr } = await run(['nameservers', '--no-check']);
  expect(code).toBe(0);
  expect(stderr).toContain('extend a list');
});

describe('the check', () => {
  // 127.0.1.1 and .2 are the root's, .3 and .4 those of a.test, .5 and .6 those of b.test.
  const LIVE = {
    NAMESERVER_POOL: 'ns1.a.test,ns[1-2].b.test',
    NAMESERVER_ADDRESSES: '127.0.1.3;127.0.2.1,::1',
  };
  const world = (hosts: string) => ({
    zones: { 'a.test.': 'ns1 A 127.0.1.3', 'b.test.': hosts, 'served.test.': '' },
  });
  let started: StartedWorld;

  beforeAll(async () => {
    started = await startWorld(world('ns1 A 127.0.2.1\nns1 AAAA ::1\nns2 A 127.0.2.1\nns2 AAAA ::1'));
    expect(await run(['migrate', '--force'], LIVE)).toMatchObject({ code: 0 });
  });
  afterAll(() => started?.close());
  const check = (...args: string[]) => run(['nameservers', ...args], { ...started.settings });

  it('reports no fault if the names match the lists, and lists what it could not query', async () => {
    const { code, stdout, stderr } = await check();
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('; not queried: 127.0.1.3: no zone is served yet\n');
    expect(stdout).toMatch(/; names, glue and nodes match NAMESERVER_POOL\n$/);
  });

  it('prints one line per fault, and exits with 1', async () => {
    started.become(world('ns1 A 127.0.2.1\nns1 AAAA ::1\nns2 A 127.0.2.2'));
    const input =
      '@ 3600 IN SOA ns1.a.test. admin.a.test. 1 7200 900 1209600 300\n@ 3600 IN NS ns1.a.test.\n';
    const load = ['zone', 'load', '-', '--origin', 'elsewhere.test'];
    expect(await runCli(load, { databaseUrl: url, input })).toMatchObject({ code: 0, stderr: '' });
    const { code, stderr } = await check();
    expect(code).toBe(1);
    expect(stderr).toContain('ns2.b.test: it lacks 127.0.2.1, ::1\n');
    expect(stderr).toContain('ns2.b.test: it has 127.0.2.2, which are not in its list\n');
    expect(stderr).toContain('127.0.1.3: no node of this fleet answers there: ');
    const document = JSON.parse((await check('--json')).stdout);
    expect(document.check.faults.map(({ of }: { of: string }) => of)).toContain('ns2.b.test');
    expect(document.check.skipped).toEqual([
      { address: '::1', outcome: 'skipped', reason: expect.any(String) },
    ]);
  });
});
