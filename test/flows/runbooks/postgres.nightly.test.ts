// docs/operating/runbooks/lose-postgres.md and backup-restore.md, with a server of Debian's Postgres.

import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEBIAN_POSTGRES } from '../../support/database/database.ts';
import {
  answered,
  type Machine,
  prepareMachine,
  runbook,
  untilAnswered,
} from '../../support/runbooks/machine.ts';
import { type OwnPostgres, startOwnPostgres } from '../../support/runbooks/own-postgres.ts';
import { prepareFleet } from '../../support/runbooks/prepare-fleet.ts';

const PASSWORD = 'an-owner-password';
const needs = existsSync(DEBIAN_POSTGRES) ? '' : ' (skipped: needs postgresql-15)';

let postgres: OwnPostgres;
let machine: Machine;

beforeAll(async () => {
  if (needs !== '') return;
  postgres = await startOwnPostgres({ needPassword: ['zonefleet_owner'] });
  machine = await prepareMachine(
    {
      '-h db1.example.net': `-h 127.0.0.1 -p ${postgres.port}`,
      // The settings of the machine are in a temporary folder.
      '/root/backup-passphrase': '/etc/zonefleet/../tmp/passphrase',
      '/mnt/secrets': '/etc/zonefleet/../tmp',
      'tar -C / -czf - etc/zonefleet': 'tar -C /etc/zonefleet/.. -czf - etc',
    },
    { 'postgresql@15-main': postgres },
  );
  writeFileSync(join(machine.folder, 'tmp/passphrase'), 'a passphrase\n');
  writeFileSync(
    join(machine.folder, '.pgpass'),
    `127.0.0.1:${postgres.port}:*:zonefleet_owner:${PASSWORD}\n`,
    { mode: 0o600 },
  );
  await machine.shell(
    `psql '${postgres.urlOf('postgres')}' -qc "alter role zonefleet_owner password '${PASSWORD}'"`,
  );
  await prepareFleet(machine, (role) =>
    postgres.urlOf(role === 'zonefleet_owner' ? `${role}:${PASSWORD}` : role),
  );
  await machine.start('nameserver', 'api', 'workers');
  await machine.shell('zonefleet domain import shop.example - <<< "www 60 IN A 192.0.2.80"');
  await untilAnswered(machine.ports.dns, 'www.shop.example', '192.0.2.80');
});
afterAll(async () => {
  await machine?.end();
  await postgres?.end();
});

describe.skipIf(needs !== '')(`the runbooks of Postgres${needs}`, () => {
  it('nodes answer while Postgres is down, and everything continues when it is back', async () => {
    const page = runbook('lose-postgres');
    await postgres.kill();
    expect(await machine.run(page, 'Check', 2)).toMatch(/database.*psql: error/s);
    expect(await machine.run(page, 'Check')).toBe('ns1.example.net.\nns2.example.net.\n');
    await machine.run(page, 'Act'); // starts Postgres
    expect(await machine.run(page, 'Act')).toContain('blocked_by');
    expect(await machine.run(page, 'Verify')).toMatch(/ready.*ready.*ns1 +live/s);
    await machine.shell('zonefleet domain import shop.example - <<< "back 60 IN A 192.0.2.81"');
    await untilAnswered(machine.ports.dns, 'back.shop.example', '192.0.2.81');
    expect(page.rest()).toEqual([]);
  });

  it('a backup restores the fleet, with its keys, while the node answers', async () => {
    const page = runbook('backup-restore');
    await machine.shell('zonefleet tsig create peer; zonefleet dnssec enable shop.example');
    expect(await machine.run(page, 'Back up')).toContain('renamed');
    expect(await machine.run(page, 'Back up')).toContain('etc/api.env');
    const backups = join(machine.folder, 'tmp');
    for (const file of readdirSync(backups).filter((name) => /\.(dump|sql)$/.test(name)))
      expect(statSync(join(backups, file)).mode & 0o077, file).toBe(0);
    await machine.shell('zonefleet domain import shop.example - <<< "late 60 IN A 192.0.2.82"');
    await untilAnswered(machine.ports.dns, 'late.shop.example', '192.0.2.82');

    await machine.run(page, 'Restore'); // stops the API and the workers
    expect(await machine.run(page, 'Restore')).toMatch(/^readable\n.*ALTER DATABASE\n$/s); // keeps the damaged database
    await machine.run(page, 'Restore'); // creates an empty database
    expect(await answered(machine.ports.dns, 'www.shop.example')).toBe('192.0.2.80');
    expect(await machine.run(page, 'Restore')).toContain('nothing to do');
    expect(await machine.run(page, 'Restore')).not.toContain('cannot');
    await machine.run(page, 'Restore'); // starts the API and the workers
    expect(await machine.run(page, 'Verify')).toMatch(/ns1 +live/);
    await machine.run(page, 'Verify'); // raises the serials
    await untilAnswered(machine.ports.dns, 'late.shop.example', 'NXDOMAIN');
    expect(await answered(machine.ports.dns, 'www.shop.example')).toBe('192.0.2.80');
    expect(page.rest()).toEqual([]);
  });
});
