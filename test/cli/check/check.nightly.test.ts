// The command as an operator runs it, without a database, against a small internet on loopback addresses.

import { createSocket } from 'node:dgram';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCheckCommand } from '../../../src/cli/check/check.ts';
import { INTERRUPTED } from '../../../src/cli/terminal/output.ts';
import { runCli } from '../../support/cli/run-cli.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { type StartedWorld, startWorld } from '../../support/world/fake-internet.ts';

const SETS = 'ns1.fleet.example,ns2.fleet.example;ns1.fleet.test,ns2.fleet.test';

let world: StartedWorld;
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'zonefleet-check-'));
  world = await startWorld({
    zones: {
      'test.': [
        'good NS ns1.fleet.test.',
        'good NS ns2.fleet.test.',
        'part NS ns1.fleet.example.',
        'part NS ns9.other.test.',
        'signed NS ns1.fleet.example.',
        'signed NS ns2.fleet.example.',
        `signed DS 4660 8 2 ${'ab'.repeat(32)}`,
        'there A 192.0.2.1',
        'www.alias CNAME there.test.',
      ].join('\n'),
      'co.test.': 'shop NS ns1.fleet.example.\nshop NS ns2.fleet.example.',
      'own.test.': '@ 3600 SOA a.nic hostmaster 1 7200 3600 1209600 3600',
    },
  });
});
afterAll(async () => {
  await world?.close();
  await rm(folder, { recursive: true, force: true });
});

const check = (args: string[], env: Record<string, string> = {}) =>
  runCli(['check', ...args], { env: { ...world.settings, NAMESERVER_SETS: SETS, ...env } });

describe('check', () => {
  it('prints the walk to a good delegation and exits with 0', async () => {
    const { code, stdout, stderr } = await check(['Shop.CO.test.']);
    expect([code, stderr]).toEqual([0, '']);
    const [name, walk = '', servers = '', sets = '', verdict] = stdout.trimEnd().split('\n\n');
    expect(name).toBe('shop.co.test');
    expect(walk.split('\n')).toEqual([
      expect.stringMatching(/^\. {2}a\.nic\.root-servers b\.nic\.root-servers/),
      expect.stringMatching(/^└─ test {2}a\.nic\.test b\.nic\.test/),
      expect.stringMatching(/^ {3}└─ co\.test {2}a\.nic\.co\.test b\.nic\.co\.test/),
      '      └─ shop.co.test  is queried at co.test',
      'DNSSEC of co.test: not validated (indeterminate)',
    ]);
    expect(servers).toMatch(/^Servers of co\.test \(2 of 2 addresses, \d+ packets, \d+\.\d s\)\n/);
    expect(servers).toMatch(
      /^ {2}b\.nic\.co\.test +127\.0\.1\.6 +udp +\d+ ms +referral +NS ns1\.fleet\.example ns2\.fleet\.example$/m,
    );
    expect(sets).toContain(
      '  set 1\n      ns1.fleet.example\n      ns2.fleet.example\n  set 2, also accepted',
    );
    expect(verdict).toBe('Verdict match: delegated to exactly one accepted set (said by 2 addresses)');
  });

  it.each([
    ['part.test', 'partial', {}],
    ['nowhere.test', 'unregistered', {}],
    ['there.test', 'not_delegated', {}],
    ['www.alias.test', 'alias', {}],
    ['good.test', 'foreign', { NAMESERVER_SETS: 'ns1.fleet.example,ns2.fleet.example' }],
  ])('exits with 1 for %s: %s', async (name, verdict, env) => {
    const { code, stdout } = await check([name], env);
    expect([code, /^Verdict (\w+)/m.exec(stdout)?.[1]]).toEqual([1, verdict]);
  });

  it('prints the evidence and the judgement as JSON', async () => {
    const { code, stdout } = await check(['signed.test', '--json']);
    const { verdict, evidence, judgement, accepted_sets } = JSON.parse(stdout);
    expect([code, verdict, accepted_sets.length]).toEqual([1, 'match', 2]);
    expect(evidence).toMatchObject({ parent: 'test', parent_addresses: 2, failure: null });
    expect(evidence.servers[0]).toMatchObject({ outcome: 'referral', ds: [`12340802${'ab'.repeat(32)}`] });
    expect(judgement).toMatchObject({ confirmed: true, stale_ds: true, findings: [{ code: 'STALE_DS' }] });
  });

  it('ends immediately when it is interrupted', async () => {
    const { port } = world;
    const silent = createSocket('udp4');
    await new Promise<void>((done) => silent.bind(port, '127.0.0.77', done));
    const asked = new Promise((done) => silent.once('message', done));
    const hints = join(folder, 'hints');
    await writeFile(hints, '. 3600 NS silent.root.\nsilent.root. 3600 A 127.0.0.77\n');
    const stop = new AbortController();
    const coming = runCommands(addCheckCommand, ['check', 'good.test'], undefined, {
      rootHints: hints,
      dnsPortOut: port,
      resolverAllow: ['127.0.0.0/8'],
      interrupt: stop.signal,
    });
    await asked;
    stop.abort();
    expect(await coming).toEqual({ code: INTERRUPTED, stdout: '', stderr: '' });
    silent.close();
  });

  it('reports findings about the name’s own nameservers, as a profile selects them', async () => {
    const { child } = JSON.parse((await check(['own.test', '--json'])).stdout);
    expect(child).toMatchObject({ domain: 'own.test', parent: 'test', complete: true });
    const codes = child.findings.map((finding: { code: string }) => finding.code);
    expect(codes).toEqual(['IPV4_ONLY', 'ALL_IN_ONE_PREFIX', 'SOA_REFRESH_LOW']);
    const profile = join(folder, 'profile.json');
    await writeFile(profile, '{"delegation01": "off", "ALL_IN_ONE_PREFIX": "error"}');
    const text = (await check(['own.test', '--profile', profile])).stdout;
    expect(text).toMatch(/^Advice\n {2}error ALL_IN_ONE_PREFIX: .*\n {2}notice SOA_REFRESH_LOW: /m);
    expect(text).not.toContain('IPV4_ONLY');
  });

  it('tests nameservers before a name is delegated to them, without querying the parent', async () => {
    const asked = world.internet.seen.length;
    const servers = ['a.nic.own.test/127.0.1.7', 'b.nic.own.test/127.0.1.8'];
    const good = await check(['own.test', '--ns', ...servers, '--json']);
    expect([good.code, good.stderr]).toEqual([0, '']);
    expect(JSON.parse(good.stdout)).toMatchObject({ parent: null, servers: [{ at_parent: true }, {}] });
    const at = world.internet.seen.slice(asked).map(({ address }) => address);
    expect(new Set(at)).toEqual(new Set(['127.0.1.7', '127.0.1.8']));
    const lame = await check(['other.test', '--ns', ...servers]);
    expect([lame.code, lame.stdout]).toEqual([1, expect.stringContaining('error SERVER_LAME: ')]);
  });

  it('exits with 1 if only one of several addresses shows the match', async () => {
    world.internet.silenced.add('127.0.1.6');
    try {
      const { code, stdout } = await check(['shop.co.test', '--json']);
      expect([code, JSON.parse(stdout).judgement]).toMatchObject([1, { verdict: 'match', confirmed: false }]);
    } finally {
      world.internet.silenced.clear();
    }
  });

  it('exits with 2 on wrong usage, unreadable files and invalid settings', async () => {
    const profile = join(folder, 'wrong.json');
    await writeFile(profile, '{"nameserver99": "off"}');
    for (const [args, env, message] of [
      [
        ['good.test', '--profile', profile],
        {},
        'wrong.json: "nameserver99" is neither a code nor a test case',
      ],
      [['good.test', '--profile', join(folder, 'none.json')], {}, 'none.json: ENOENT'],
      [['good.test', '--ns', 'ns1.own.test/127.0.0'], {}, '--ns ns1.own.test/127.0.0: '],
      [['good.test', '--ns', 'ns1..test/127.0.0.1'], {}, 'ns1..test'],
      [['good.test'], { ROOT_HINTS: '/nonexistent/hints' }, 'zonefleet: ROOT_HINTS: '],
      [['good.test'], { DNS_PORT_OUT: 'x' }, 'DNS_PORT_OUT'],
      [[], {}, 'name'],
      [['.'], {}, 'the root'],
      [['a..b'], {}, 'a..b'],
      [['good.test', 'part.test'], {}, 'too many'],
    ] as const) {
      const { code, stdout, stderr } = await check([...args], env);
      expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)]);
    }
  });
});
