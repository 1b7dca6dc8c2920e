// docs/operating/runbooks/lose-a-node.md, abuse.md, clock-wrong.md and capacity.md, with one node and the API.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { asRole, createDatabase, type TestDatabase, urlsOf } from '../../support/database/database.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { type Machine, prepareMachine, runbook, untilAnswered } from '../../support/runbooks/machine.ts';
import { prepareFleet } from '../../support/runbooks/prepare-fleet.ts';
import { until } from '../../support/tests/until.ts';

const LIBFAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1';
const missing = ['nft', 'faketime', 'jq', 'ip', 'python3'].filter((program) => !isInstalled(program));
const needs = missing.length === 0 ? '' : ` (skipped: needs ${missing.join(', ')})`;

let database: TestDatabase;
let machine: Machine;

beforeAll(async () => {
  if (needs !== '') return;
  database = await createDatabase();
  machine = await prepareMachine({
    '-h db1.example.net -U postgres -d zonefleet': `-d '${database.url}'`,
    '/root/': '/var/backups/',
  });
  await prepareFleet(machine, urlsOf(database));
  await machine.start('nameserver', 'api');
  await machine.shell('zonefleet domain import shop.example - <<< "www 60 IN A 192.0.2.80"');
  await untilAnswered(machine.ports.dns, 'www.shop.example', '192.0.2.80');
});
afterAll(async () => {
  await machine?.end();
  await database?.drop();
});

const isSigned = () =>
  machine.shell('zonefleet dnssec verify shop.example').then(
    () => true,
    () => undefined,
  );

const untilListed = (state: string) =>
  until(async () => (await machine.shell('zonefleet node list')).includes(state), `ns1 is ${state}`);

describe.skipIf(needs !== '')(`the runbooks of nodes${needs}`, () => {
  it('a lost node is listed, started from Postgres, forgotten, and listed again when it returns', async () => {
    const page = runbook('lose-a-node');
    await machine.stop('nameserver', 'SIGKILL');
    await untilListed('silent');
    expect(await machine.run(page, 'Check', 9)).toMatch(/ns1 +silent.*(timed out|refused)/s);
    await machine.run(page, 'Act'); // starts it
    await machine.run(page, 'Act'); // starts it without a snapshot
    await untilAnswered(machine.ports.dns, 'www.shop.example', '192.0.2.80');
    await machine.stop('nameserver', 'SIGKILL');
    await untilListed('silent');
    expect(await machine.run(page, 'Act')).toBe('forgotten ns1\n');
    await machine.start('nameserver');
    expect(await machine.run(page, 'Verify')).toMatch(
      /ready.*ns1 +live.*\nns1\.example\.net\..*\nns1\.example\.net\./s,
    );
    expect(page.rest()).toEqual([]);
  });

  it('a node with a wrong clock is found by TSIG, and accepts TSIG when its clock is right', async () => {
    const page = runbook('clock-wrong');
    const clock = join(machine.folder, 'clock');
    writeFileSync(clock, '+1h\n');
    machine.addProgram('chronyc', `[ "$1" = tracking ] || echo +0 > ${clock}`);
    machine.configure('nameserver', {
      DATABASE_URL: asRole(database.url, 'zonefleet_node'),
      TSIG_SECRETS: machine.setting('cli', 'TSIG_SECRETS') ?? '',
      LD_PRELOAD: LIBFAKETIME,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });
    await machine.shell('systemctl restart zonefleet-nameserver');
    await untilAnswered(machine.ports.dns, 'www.shop.example', '192.0.2.80');
    expect(Math.abs(Number.parseInt(await machine.run(page, 'Check'), 10))).toBeLessThan(60);
    expect(await machine.run(page, 'Check')).toContain('BADTIME');
    await machine.run(page, 'Act'); // sets the clock
    await machine.start('workers');
    await machine.shell('zonefleet dnssec enable shop.example');
    await until(isSigned, 'the domain is signed');
    await machine.run(page, 'Act'); // verifies the signatures
    const verified = await machine.run(page, 'Verify');
    expect(verified).toContain('status: NOERROR');
    expect(verified).not.toContain('BADTIME');
    expect(await machine.run(page, 'Verify')).toMatch(/^revoked clock-/);
    expect(page.rest()).toEqual([]);
  });

  it('the query log shows who sends queries, and a network, an account and a domain are stopped', async () => {
    const page = runbook('abuse');
    const queries = join(machine.folder, 'queries');
    writeFileSync(queries, 'www.shop.example A\n'.repeat(400));
    const flood = () =>
      machine.shell(`dig @127.0.0.1 -p ${machine.ports.dns} -f ${queries} +tries=1 > /dev/null`);
    expect(await machine.run(page, 'Find the senders')).toContain('zonefleet_queries_total');
    await machine.run(page, 'Find the senders'); // starts the query log
    await flood();
    const log = join(machine.folder, 'log/queries.json');
    await until(() => existsSync(log) && readFileSync(log, 'utf8') !== '', 'the log has lines');
    expect(await machine.run(page, 'Find the senders')).toMatch(
      /\d+ 127\.0\.0\.0\/24\n.*shop\.example\..*\tA\tNOERROR/s,
    );
    await machine.run(page, 'Limit queries');
    expect(machine.log('nameserver')).not.toContain('"level":50');

    const block = page.next('Block a network');
    const end = page.next('Block a network');
    const inside = join(machine.folder, 'block.sh');
    writeFileSync(
      inside,
      `set -eu\nip link set lo up\nip addr add 203.0.113.7/32 dev lo\nip addr add 2001:db8:113::7/128 dev lo nodad\n${block}\n${ASK}\n${end}\n${ASK}`,
    );
    const counted = await machine.shell(`unshare --net bash ${inside}`);
    const answers = (word: string) => `127.0.0.1 answered\n203.0.113.7 ${word}\n2001:db8:113::7 ${word}\n`;
    expect(counted).toMatch(
      new RegExp(`^${answers('blocked')}([^]*packets 1 ){2}[^]*\n${answers('answered')}$`),
    );

    const refused = await fetch(`http://127.0.0.1:${machine.ports.http}/domains`);
    expect(refused.status).toBe(401);
    expect(await machine.run(page, 'Find callers of the API')).toMatch(
      /status="401"\} 1\n.*\d+ \S*\t\d*\t\S+\.\S+\n/s,
    );
    expect(await machine.run(page, 'Find callers of the API')).toMatch(/^deactivated ann/);
    expect(await machine.run(page, 'Find callers of the API')).toMatch(/^activated ann/);
    await machine.run(page, 'A domain used for fraud');
    await untilAnswered(machine.ports.dns, 'www.shop.example', 'REFUSED');
    expect(await machine.run(page, 'Verify')).toContain('REFUSED');
    expect(readFileSync(join(machine.folder, 'tmp/shop.example.zone'), 'utf8')).toContain('192.0.2.80');
    expect(page.rest()).toEqual([]);
  });

  it('the commands of the page about capacity print what the fleet uses', async () => {
    const page = runbook('capacity');
    expect(await machine.run(page, 'What the fleet uses now')).toMatch(/ns1.*records/s);
    expect(page.rest()).toEqual([]);
  });
});

/** Prints for three addresses of a namespace whether a packet from it to port 53 arrives. */
const ASK = `python3 - <<'END'
import socket
for address in ('127.0.0.1', '203.0.113.7', '2001:db8:113::7'):
    family, local = (socket.AF_INET6, '::1') if ':' in address else (socket.AF_INET, '127.0.0.1')
    server, client = (socket.socket(family, socket.SOCK_DGRAM) for _ in range(2))
    server.bind((local, 53))
    server.settimeout(1)
    client.bind((address, 0))
    client.sendto(b'x', (local, 53))
    try:
        server.recvfrom(9)
        print(address, 'answered', flush=True)
    except socket.timeout:
        print(address, 'blocked', flush=True)
    server.close()
END`;
