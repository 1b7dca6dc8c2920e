import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, expect, it } from 'vitest';
import { rewrapBoxes } from '../../../src/cli/dnssec/care-for-keys.ts';
import type { Cli } from '../../../src/cli/terminal/cli.ts';
import { addZoneCommands } from '../../../src/cli/zone/zone.ts';
import { parseName } from '../../../src/dns/name.ts';
import { addTransferCommands } from '../../../src/features/transfers/cli.ts';
import { KeyBoxes, useKeyBoxes } from '../../../src/store/secrets/key-boxes.ts';
import { type SealedTsigKey, unsealTsigKey } from '../../../src/store/secrets/tsig-secrets.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { captureOutput } from '../../support/tests/captured-output.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query, column, value } = keptDatabase();
const OLD = { name: 'old', secret: Buffer.alloc(32, 1) };
const NEW = { name: 'new', secret: Buffer.alloc(32, 2) };
let tsigSecrets = [OLD];
const add = (program: Command, cli: Cli) => {
  addZoneCommands(program, cli);
  addTransferCommands(program, cli);
};
const run = (command: string) => runCommands(add, command.split(' '), url, { tsigSecrets });
const json = async (command: string) => JSON.parse((await run(`${command} --json`)).stdout);
const version = async () => Number(await value`select version from transfer_config`);

beforeAll(async () => {
  for (const [name, serial] of Object.entries({ one: 10, two: 20 }))
    await saveZones(
      db,
      [
        {
          apex: parseName(`${name}.test.`),
          records: recordsOf(`@ SOA a. b. ${serial} 1 1 1 1\n@ NS a.`, `${name}.test.`),
        },
      ],
      { source: 'test' },
    );
});

it('shows the secret of a created key once, and stores it sealed', async () => {
  const { stdout, stderr, code } = await run('tsig create ACME --algorithm hmac-sha384');
  const [, name, algorithm, secret] =
    /^key "(acme-[a-z2-7]{6}\.)" \{\n\talgorithm ([^;]+);\n\tsecret "([^"]+)";\n\};\n$/.exec(stdout) ?? [];
  expect(stderr).toBe(`created ${name} hmac-sha384; the secret is not shown again\n`);
  expect([code, algorithm, Buffer.from(secret ?? '', 'base64').length]).toEqual([0, 'hmac-sha384', 48]);
  const rows = await query<SealedTsigKey>`select name, wrap, sealed from tsig_keys`;
  expect(rows).toMatchObject([{ name, wrap: 'old' }]);
  const [row] = rows as [SealedTsigKey];
  expect(unsealTsigKey([NEW, OLD], row)?.toString('base64')).toBe(secret);
  expect(unsealTsigKey([OLD], { ...row, name: 'other.' })).toBeUndefined();
  expect(await json('tsig list')).toMatchObject({ keys: [{ name, use: 'serve', peers: 0 }] });
  expect((await run('tsig list')).stdout).not.toContain(secret);
});

it('refuses to store a key without the secret that sealed the others', async () => {
  for (const [given, message] of [
    [[], 'TSIG_SECRETS is not set'],
    [[{ ...NEW, name: 'old' }], '"old" is not the secret'],
  ] as const) {
    const { code, stderr } = await runCommands(add, ['tsig', 'create', 'x'], url, { tsigSecrets: given });
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  }
});

it('uses the secret that npm start keeps in the data directory', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'zf-tsig-'));
  writeFileSync(join(dataDirectory, 'tsig-keys'), `old:${OLD.secret.toString('base64')}\n`);
  const { code } = await runCommands(add, ['tsig', 'create', 'kept'], url, { dataDirectory });
  rmSync(dataDirectory, { recursive: true });
  expect(code).toBe(0);
});

it('imports the key of a primary under its folded name, once', async () => {
  expect((await run('tsig import Hidden.Example c2VjcmV0IG9mIGEgcHJpbWFyeQ==')).stdout).toBe(
    'imported hidden.example. hmac-sha256\n',
  );
  const again = await run('tsig import hidden.example. c2VjcmV0IG9mIGEgcHJpbWFyeQ==');
  expect([again.code, again.stderr]).toEqual([1, 'hidden.example.: a key with this name exists\n']);
  expect((await run('tsig import short c2hvcnQ=')).code).toBe(2);
});

it('seals all keys again with the first secret', async () => {
  tsigSecrets = [NEW, OLD];
  useKeyBoxes(db, new KeyBoxes([NEW]));
  const captured = captureOutput(true);
  expect(await rewrapBoxes(db, tsigSecrets, captured.output)).toBe(0);
  expect(JSON.parse(captured.out)).toMatchObject({ tsig_keys: 3, tsig_unreadable: [] });
  expect(await column`select distinct wrap from tsig_keys`).toEqual(['new']);
  tsigSecrets = [NEW];
  expect((await run('tsig create another')).code).toBe(0);
});

it('adds peers, and refuses to remove a peer or to revoke a key in use', async () => {
  const key = (await json('tsig create acme')).name;
  const before = await version();
  const added = await run(
    `peer add second --to 10.0.0.53:5353 [2001:DB8:0::53]:5353 --from 10.1.2.3/24 --key ${key}`,
  );
  expect([added.code, added.stdout]).toEqual([0, 'added second\n']);
  expect(await version()).toBeGreaterThan(before);
  expect(await json('peer list')).toEqual({
    peers: [
      {
        name: 'second',
        addresses: ['10.0.0.53', '2001:db8::53'],
        port: 5353,
        networks: ['10.1.2.0/24'],
        tsig_key: key,
        tsig_key_revoked: false,
        tls: 'off',
        tls_port: 853,
        tls_name: null,
        tls_pins: [],
        policies: [],
        primary_of: 0,
      },
    ],
  });
  expect((await run(`peer add second --key ${key}`)).stderr).toBe('second: a peer with this name exists\n');
  expect((await run('peer add third --key none')).stderr).toBe('third: no such key: none.\n');
  expect((await run(`tsig revoke ${key}`)).stderr).toContain(': used by 1 peer; remove');
  expect((await run('policy set default --transfer second --notify second third')).stderr).toBe(
    'default: no such peer: third\n',
  );
  expect((await run('peer add hidden --to 192.0.2.1 --key hidden.example')).code).toBe(0);
  expect((await run('policy set hidden --notify hidden')).code).toBe(0);
  expect((await run('policy set hidden --transfer hidden')).stderr).toBe(
    'hidden: cannot transfer with an imported key: hidden\n',
  );
  expect((await run('policy remove hidden')).code).toBe(0);
  expect((await run('peer remove hidden')).code).toBe(0);
  expect((await run('policy set default --transfer second --notify second')).stdout).toBe('set default\n');
  expect(await value`select is_default from transfer_policies`).toBe(true);
  expect((await run('peer remove second')).stderr).toBe('second: still used by policy default\n');
  expect((await run(`tsig revoke ${key} --force`)).stdout).toBe(`revoked ${key}\n`);
  expect((await run('peer list')).stdout).toContain(`${key} (revoked)`);
  expect((await run(`tsig revoke ${key}`)).stderr).toBe(`${key}: no such key\n`);
});

it('gives zones a policy, and orders NOTIFY for those that exist', async () => {
  expect((await run('peer add other --from 192.0.2.1')).code).toBe(0);
  expect((await run('policy set own --transfer other')).code).toBe(0);
  const given = await run('zone policy one.test none.test --policy own');
  expect([given.code, given.stdout, given.stderr]).toEqual([
    1,
    'set one.test.\n',
    'none.test.: no such zone\n',
  ]);
  expect((await run('zone policy one.test --policy none')).stderr).toBe('none: no such policy\n');
  expect((await run('zone policy one.test')).code).toBe(2);
  expect(await json('policy list')).toEqual({
    policies: [
      { policy: 'default', transfer: ['second'], notify: ['second'], zones: 0 },
      { policy: 'own', transfer: ['other'], notify: [], zones: 1 },
    ],
  });
  expect((await run('policy remove own')).stderr).toContain('1 zones have this policy');
  expect((await run('zone notify two.test none.test')).code).toBe(1);
  expect(await column`select z.name from notify_orders o join zones z on z.id = o.zone_id`).toEqual([
    'two.test.',
  ]);
});

it('shows what peers have taken, and exits with 1 if one lags by a minute', async () => {
  await query`update changes set at = now() - interval '59 seconds'`;
  const report = (serial: number, node: string) => query`
    insert into transfer_reports (zone_id, peer_id, node, notified_serial, acked_at, served_serial, served_at, form)
    select z.id, p.id, ${node}, 20, '2026-01-01T00:00:00Z', ${serial}, '2026-01-01T00:00:01Z', 'ixfr'
    from zones z, peers p where z.name = 'two.test.' and p.name = 'second'`;
  await report(19, 'n1');
  const lagging = await run('transfers one.test two.test --json');
  expect([lagging.code, JSON.parse(lagging.stdout)]).toEqual([
    0,
    {
      zones: [
        { zone: 'one.test.', serial: 10, peers: [expect.objectContaining({ peer: 'other', notify: false })] },
        {
          zone: 'two.test.',
          serial: 20,
          peers: [
            {
              peer: 'second',
              transfer: true,
              notify: true,
              notified_serial: 20,
              acknowledged_at: '2026-01-01T00:00:00.000Z',
              served_serial: 19,
              served_at: '2026-01-01T00:00:01.000Z',
              form: 'ixfr',
              error: null,
              lag_seconds: expect.any(Number),
            },
          ],
        },
      ],
    },
  ]);
  await query`update changes set at = now() - interval '61 seconds'`;
  expect((await run('transfers two.test')).code).toBe(1);
  await report(20, 'n2');
  const { code, stdout } = await run('transfers two.test');
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^two\.test\. serial 20\nPEER .*\nsecond +20 .* 20 +ixfr .* 0 s/),
  ]);
  expect((await run('transfers none.test')).stderr).toBe('none.test.: no such zone\n');
});

it('removes policies and peers that nothing uses, and audits each change', async () => {
  await run('zone policy one.test --default');
  for (const command of [
    'policy remove own',
    'policy remove default',
    'peer remove other',
    'peer remove second',
  ])
    expect((await run(command)).code).toBe(0);
  expect(await column`select action from audit_log order by id`).toEqual([
    ...['tsig.create', 'tsig.create', 'tsig.import', 'tsig.create', 'tsig.create', 'peer.add', 'peer.add'],
    ...['policy.set', 'policy.remove', 'peer.remove', 'policy.set', 'tsig.revoke'],
    ...['peer.add', 'policy.set', 'zone.policy', 'zone.notify', 'zone.policy'],
    ...['policy.remove', 'policy.remove', 'peer.remove', 'peer.remove'],
  ]);
  const told = JSON.stringify(await query`select before, after, target_name from audit_log`);
  expect(told).toContain('acme-');
  expect(told).not.toMatch(/secret|c2VjcmV0/);
});

it.each([
  'tsig create bad_label',
  'tsig create x --algorithm hmac-md5',
  'peer add Upper --from 192.0.2.1',
  'peer add none',
  'peer add x --to 192.0.2.1:22',
  'peer add x --to 192.0.2.1 192.0.2.2:5353',
  'peer add x --to ns1.example',
  'peer add x --from 192.0.2.0/33',
  'peer add x --key ..',
])('rejects `%s` as wrong usage', async (command) => {
  expect((await run(command)).code).toBe(2);
});

it('adds peers that use TLS', async () => {
  const [one, two] = [1, 2].map((octet) => Buffer.alloc(32, octet).toString('base64'));
  const strict = `peer add strict --to 192.0.2.7:5353 --tls strict --tls-name NS.Example. --tls-pin ${one} ${two}`;
  expect((await run(`${strict} --tls-port 8853`)).stderr).toBe('');
  expect((await run('peer add migrating --to 192.0.2.8 --tls opportunistic')).code).toBe(0);
  const { peers } = await json('peer list');
  expect(peers).toMatchObject([
    { name: 'migrating', port: 53, networks: [], tls: 'opportunistic', tls_port: 853 },
    {
      name: 'strict',
      port: 5353,
      networks: ['192.0.2.7/32'],
      tls: 'strict',
      ...{ tls_port: 8853, tls_name: 'ns.example', tls_pins: [one, two] },
    },
  ]);
  expect((await run('peer list')).stdout).toMatch(/strict ns\.example 2 pins port 8853/);
  for (const name of ['strict', 'migrating']) expect((await run(`peer remove ${name}`)).code).toBe(0);
  const [removed] = await column`
    select before from audit_log where target_name = 'strict' and action = 'peer.remove'`;
  expect(removed).toMatchObject({ tls: 'strict', tls_pins: [one, two] });
});

it('replaces the TLS settings of a peer', async () => {
  const pin = Buffer.alloc(32, 3).toString('base64');
  expect((await run('peer add changed --to 192.0.2.7')).code).toBe(0);
  expect((await run('peer add odd --to 192.0.2.7:853')).code).toBe(0);
  await query`insert into peers (name, key_id) select 'bare', min(id) from tsig_keys`;
  expect((await run(`peer set changed --tls strict --tls-pin ${pin} --tls-port 8853`)).stdout).toBe(
    'set changed\n',
  );
  const peerNamed = async (name: string) =>
    (await json('peer list')).peers.find((each: { name: string }) => each.name === name);
  const strict = { tls: 'strict', tls_port: 8853, tls_name: null, tls_pins: [pin] };
  expect(await peerNamed('changed')).toMatchObject({ ...strict, networks: ['192.0.2.7/32'] });
  await query`insert into secondaries (zone_name, peers) select 'copy.test.', array[id] from peers where name = 'changed'`;
  for (const [command, message] of [
    ['changed --tls strict', 'changed: zones are copied from it, so it needs --tls-name or --tls-pin\n'],
    ['odd --tls opportunistic', 'odd: it receives NOTIFY at port 853, which is that of TLS\n'],
    ['bare --tls strict', 'bare: it has neither an address nor a network\n'],
    ['none --tls off', 'none: no such peer\n'],
  ] as const)
    expect(await run(`peer set ${command}`)).toMatchObject({ code: 1, stderr: message });
  expect((await run('peer set changed')).code).toBe(2);
  expect(await peerNamed('changed')).toMatchObject(strict);
  expect((await run('peer set changed --tls off')).code).toBe(0);
  expect(await peerNamed('changed')).toMatchObject({ tls: 'off', tls_port: 853, tls_pins: [] });
  const off = { tls: 'off', tls_port: 853, tls_pins: [] };
  const on = { tls: 'strict', tls_port: 8853, tls_pins: [pin] };
  expect(await query`select before, after from audit_log where action = 'peer.set' order by id`).toEqual([
    { before: { ...off, networks: [] }, after: { ...on, networks: ['192.0.2.7/32'] } },
    { before: on, after: off },
  ]);
});

it.each([
  ['--tls on', '--tls: expected off, opportunistic, strict, not "on"'],
  ['--tls-name ns.example', '--tls-name: a name is verified only with --tls strict'],
  ['--tls opportunistic --tls-name ns.example', '--tls-name: a name is verified only with --tls strict'],
  ['--tls opportunistic --tls-pin AAAA', '--tls-pin: a pin is verified only with --tls strict'],
  ['--tls strict --tls-pin AAAA', '--tls-pin: "AAAA": expected the SHA-256 of a public key in base64'],
  ['--tls strict --tls-pin A B C D E', '--tls-pin: a peer has at most 4 pins'],
  ['--tls strict --tls-name 192.0.2.1', '--tls-name: "192.0.2.1" is not the name of a host'],
  ['--tls strict --tls-name a..b', '--tls-name: "a..b" is not the name of a host'],
  ['--tls-port 853', '--tls-port: expected --tls opportunistic or --tls strict'],
  ['--tls strict --tls-port 443', '--tls-port: "443": expected 53, 853 or a port above 1023'],
  ['--tls strict --tls-port 70000', '--tls-port: "70000": expected 53'],
  ['--tls strict --to 192.0.2.9:853', '--to: with --tls, the port is that of NOTIFY, usually 53'],
])('refuses the options %s', async (options, message) => {
  const { code, stderr } = await run(`peer add refused --key acme ${options}`);
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
});

it('requires a source of a peer whose TLS is strict', async () => {
  const { code, stderr } = await run('peer add refused --key acme --tls strict');
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('--tls strict: a peer needs an address (--to)'),
  ]);
});
