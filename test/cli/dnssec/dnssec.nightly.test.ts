// Operators sign operator zones, and enter the DS themselves.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { addDnssecCommands } from '../../../src/cli/dnssec/dnssec.ts';
import { addZoneCommands } from '../../../src/cli/zone/zone.ts';
import { parseName } from '../../../src/dns/name.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { signatureFaults } from '../../support/database/signed-zones.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const K1 = { name: 'k1', secret: Buffer.alloc(32, 1) };
const K2 = { name: 'k2', secret: Buffer.alloc(32, 2) };
const ZONE =
  '@ SOA ns hostmaster 7 3600 600 86400 300\n@ NS ns.else.test.\nwww A 192.0.2.1\nsub NS ns.else.test.\n';
const APEX = parseName('op.test.');

const { db, url, query, value } = keptDatabase();
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-dnssec-'));
  await load(ZONE);
});

const run = (args: string, ...keySecrets: (typeof K1)[]) =>
  runCommands(
    (program, cli) => {
      addDnssecCommands(program, cli);
      addZoneCommands(program, cli);
    },
    args.split(' '),
    url,
    { keySecrets },
  );

async function load(text: string, secret = K1) {
  const file = join(folder, 'op.test.zone');
  writeFileSync(file, `$ORIGIN op.test.\n$TTL 300\n${text}`);
  return await run(`zone load ${file}`, secret);
}

/** Commands that fail, with their exit codes and a part of their output. */
async function expectRefused(...refusals: readonly (readonly [string, number, RegExp])[]): Promise<void> {
  for (const [args, code, stderr] of refusals)
    expect([args, await run(args, K1)]).toMatchObject([
      args,
      { code, stderr: expect.stringMatching(stderr) },
    ]);
}

describe('zonefleet dnssec', () => {
  it('does not sign without secrets, and rejects unknown zones', async () => {
    const { code, stderr } = await run('dnssec enable op.test');
    expect([code, stderr]).toEqual([2, expect.stringContaining('KEY_SECRETS is not set')]);
    await expectRefused(
      ['dnssec enable no.test', 1, /no such domain or operator zone/],
      ['dnssec show op.test', 1, /^op\.test\. is not signed\n$/],
      ['dnssec denial nsec3 no.test', 1, /no such domain/],
      ['dnssec denial nsec5 op.test', 2, /nsec or nsec3/],
      ['dnssec verify', 2, /give names of zones, or --file/],
    );
  });

  it('signs an operator zone, and prints the DS for its parent zone', async () => {
    const { code, stdout } = await run('dnssec enable op.test --json', K1);
    expect(code).toBe(0);
    const [zone] = JSON.parse(stdout).zones;
    expect(zone).toMatchObject({ zone: 'op.test.', outcome: 'signed' });
    expect(zone.ds).toEqual([
      expect.stringMatching(/^\d+ 13 2 [0-9A-F]{64}$/i),
      expect.stringMatching(/^\d+ 13 4 [0-9A-F]{96}$/i),
    ]);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    expect((await run('dnssec show op.test', K1)).stdout).toContain(`op.test. DS ${zone.ds[0]}`);
    expect(await run('dnssec verify op.test', K1)).toMatchObject({ code: 0, stdout: 'verified op.test.\n' });
    const file = join(folder, 'exported.zone');
    expect((await run(`zone export op.test -o ${file}`, K1)).code).toBe(0);
    expect(await run(`dnssec verify --file ${file}`, K1)).toMatchObject({
      code: 0,
      stdout: 'verified op.test.\n',
    });
    expect((await run('dnssec enable op.test', K1)).stdout).toContain('unchanged op.test.');
    expect((await run('dnssec list', K1)).stdout).toMatch(/op\.test\. +operator +waiting +- +nsec +13/);
    expect((await run('dnssec keys op.test', K1)).stdout).toMatch(/csk +13 +published +both/);
    expect(await run('dnssec check-keys', K1)).toMatchObject({ code: 0, stdout: 'keys 1 unreadable 0\n' });
  });

  it('changes the denial of existence of an operator zone, and reverts it', async () => {
    const changed = await run('dnssec denial nsec3 op.test --json', K1);
    expect(changed.code).toBe(0);
    expect(JSON.parse(changed.stdout).zones).toMatchObject([{ zone: 'op.test.', outcome: 'nsec3' }]);
    expect((await run('dnssec list', K1)).stdout).toMatch(/op\.test\. +operator +waiting +- +nsec3 +13/);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    expect((await run('dnssec denial nsec3 op.test', K1)).stdout).toContain('unchanged op.test.');
    await query`update signed_zones set denial_change = 'adding'`; // as if the zone were large
    expect((await run('dnssec denial nsec op.test', K1)).stdout).toContain('unchanged op.test.'); // continues the change
    expect((await run('dnssec list', K1)).stdout).toMatch(/op\.test\. +operator +waiting +- +nsec +13/);
    expect((await run('zone export op.test', K1)).stdout).not.toMatch(/NSEC3/);
    expect(await signatureFaults(db, APEX)).toEqual([]);
  });

  it('a missing secret is detected before it is needed; boxes sealed again need only the first secret', async () => {
    const before = (await run('zone export op.test', K1)).stdout;
    expect(await run('dnssec check-keys', K2)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^op\.test\. key \d+: .*KEY_SECRETS/),
    });
    expect((await load(`${ZONE}lost A 192.0.2.9\n`, K2)).code).toBe(2);
    expect((await run('zone export op.test', K1)).stdout).toBe(before);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    expect(await run('dnssec rewrap', K2, K1)).toMatchObject({ code: 0, stdout: 'boxes sealed again 1\n' });
    expect(await run('dnssec check-keys', K2)).toMatchObject({ code: 0 });
    expect(await run('dnssec rewrap', K1, K2)).toMatchObject({
      code: 0,
    });
  });

  it('unsigns a zone if the operator confirms that no DS exists, and reuses the same keys later', async () => {
    const ds = async () => JSON.parse((await run('dnssec show op.test --json', K1)).stdout).zones[0].ds;
    const before = await ds();
    expect(await run('dnssec disable op.test', K1)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Remove the DS there'),
    });
    expect(await run('dnssec disable op.test --now', K1)).toMatchObject({
      code: 0,
      stdout: 'unsigned op.test.\n',
    });
    expect((await run('zone export op.test', K1)).stdout).not.toMatch(/RRSIG|DNSKEY|NSEC/);
    expect(await run('dnssec show op.test', K1)).toMatchObject({ code: 1 });
    expect(await run('dnssec enable op.test', K1)).toMatchObject({ code: 0 });
    expect(await ds()).toEqual(before);
    const goals = await value<string[]>`
      select array_agg(after->>'goal' order by id) as goals from audit_log
      where action = 'zone.dnssec' and after ? 'goal'`;
    expect(goals).toEqual(['signed', 'unsigned', 'signed']);
  });

  it('sets the goal of a domain, and prints no DS before it can be entered', async () => {
    await newDomain(db, await newAccount(db, 'a@example.org'));
    await expectRefused(
      ['dnssec check example.com', 1, /it has no keys/],
      ['dnssec abort example.com', 1, /./],
    );
    const without = await run('dnssec enable example.com');
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('KEY_SECRETS is not set')]);
    const { code, stdout } = await run('dnssec enable example.com --json', K1);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).zones).toMatchObject([{ zone: 'example.com.', outcome: 'signing' }]);
    expect((await run('dnssec enable example.com', K1)).stdout).toContain('unchanged example.com.');
    await query`update signed_zones set machine = jsonb_set(machine, '{waiting}', '{"cause": "nodes", "since": 0, "keys": []}')
      where machine is not null`;
    const waiting = await run('dnssec list --waiting', K1);
    expect(waiting.stdout).toMatch(/example\.com\. +domain +signing +nodes +nsec/);
    expect(waiting.stdout).not.toContain('op.test.');
    expect((await run('dnssec list --status secure', K1)).stdout).not.toContain('example.com.');
    expect(JSON.parse((await run('dnssec list --status signing --json', K1)).stdout).zones).toMatchObject([
      { zone: 'example.com.', status: 'signing', waits_for: { cause: 'nodes' } },
    ]);
    const shown = await run('dnssec show example.com', K1);
    expect([shown.code, shown.stderr, shown.stdout]).toEqual([
      1,
      '',
      expect.stringMatching(/^example\.com\. domain signing nsec/),
    ]);
    expect(shown.stdout).not.toContain('example.com. DS ');
    await expectRefused(
      ['dnssec roll example.com', 1, /still in progress/],
      ['dnssec roll example.com --key 1000', 1, /no such key/],
      ['dnssec roll example.com --key all', 2, /the id of a key/],
      ['dnssec roll op.test', 1, /an operator zone/],
    );
    expect((await run('dnssec check example.com', K1)).stdout).toContain('asked example.com.');
    expect((await run('dnssec disable example.com --now', K1)).stdout).toContain('disabling example.com.');
    expect(await run('dnssec show example.com --json', K1)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"status":"off"'),
    });
  });
});
