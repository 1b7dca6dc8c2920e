// docs/operating/runbooks/failover.md, with a primary and a standby of Debian's Postgres.

import { existsSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
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

const needs = existsSync(DEBIAN_POSTGRES) ? '' : ' (skipped: needs postgresql-15)';

let primary: OwnPostgres;
let standby: OwnPostgres;
let machine: Machine;

beforeAll(async () => {
  if (needs !== '') return;
  primary = await startOwnPostgres();
  standby = await startOwnPostgres({ isEmpty: true });
  machine = await prepareMachine(
    {
      '-h db1.example.net': `-h 127.0.0.1 -p ${primary.port}`,
      '-h db2.example.net': `-h 127.0.0.1 -p ${standby.port}`,
      '@db1.example.net': `@127.0.0.1:${primary.port}`,
      '@db2.example.net': `@127.0.0.1:${standby.port}`,
      '/var/lib/postgresql/15/main': standby.cluster,
      'start postgresql@15-main': 'start postgresql@db2',
      'mask --now postgresql@15-main': 'stop postgresql@db1',
    },
    { 'postgresql@db1': primary, 'postgresql@db2': standby },
  );
  await prepareFleet(machine, primary.urlOf);
  await machine.start('nameserver', 'api', 'workers');
});
afterAll(async () => {
  await machine?.end();
  await Promise.all([primary?.end(), standby?.end()]);
});

it.skipIf(needs !== '')(`fails over to a standby without a lost answer or edit${needs}`, async () => {
  const page = runbook('failover');
  await machine.run(page, 'Prepare');
  await machine.run(page, 'Prepare');
  await machine.shell(
    'zonefleet tsig create peer; zonefleet domain import shop.example - <<< "www 60 IN A 192.0.2.80"',
  );
  await untilAnswered(machine.ports.dns, 'www.shop.example', '192.0.2.80');

  expect(await machine.run(page, 'Check')).toMatch(/pg_is_in_recovery \| t\n/);
  await machine.run(page, 'Act'); // stops the API and the workers
  await machine.run(page, 'Act'); // stops the primary
  expect(await machine.run(page, 'Act', 2)).toContain('Connection refused');
  expect(await answered(machine.ports.dns, 'www.shop.example')).toBe('192.0.2.80');
  expect(await machine.run(page, 'Act')).toBe('t\n\n'); // promotes the standby
  await machine.run(page, 'Act'); // changes the settings
  await machine.run(page, 'Act'); // starts the API and the workers
  expect(await machine.run(page, 'Act')).toMatch(/ready\n$/); // restarts the node

  expect(await machine.run(page, 'Verify')).toMatch(
    /ns1 +live .*\nkeys 0 unreadable 0\nTSIG keys 1 unreadable 0\n$/s,
  );
  expect(await answered(machine.ports.dns, 'www.shop.example')).toBe('192.0.2.80');
  await machine.shell('zonefleet domain import shop.example - <<< "mail 60 IN A 192.0.2.81"');
  await untilAnswered(machine.ports.dns, 'mail.shop.example', '192.0.2.81');
  await machine.run(page, 'Verify'); // raises the serials
  expect(page.rest()).toEqual([]);
});
