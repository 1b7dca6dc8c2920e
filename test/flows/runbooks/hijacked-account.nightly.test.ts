// docs/operating/runbooks/hijacked-account.md: an attacker changes the records of a domain with a leaked key.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, urlsOf } from '../../support/database/database.ts';
import { askApi } from '../../support/processes/api-process.ts';
import { type Machine, prepareMachine, runbook, untilAnswered } from '../../support/runbooks/machine.ts';
import { OWNER, prepareFleet } from '../../support/runbooks/prepare-fleet.ts';

const WWW = 'www.shop.example';

let database: TestDatabase;
let machine: Machine;

beforeAll(async () => {
  database = await createDatabase();
  machine = await prepareMachine({ '198.51.100.7': '127.0.0.1' });
  await prepareFleet(machine, urlsOf(database));
  await machine.start('nameserver', 'api');
  await machine.shell(
    'zonefleet account create admin@example.net --admin; ' +
      'zonefleet domain import shop.example - <<< "www 60 IN A 192.0.2.80"',
  );
});
afterAll(async () => {
  await machine?.end();
  await database?.drop();
});

it('locks a hijacked account, reverts what it changed, and lets its owner in again', async () => {
  const page = runbook('hijacked-account');
  const key = (await machine.shell(`zonefleet key create ${OWNER} 2>/dev/null`)).trim();
  const ask = (method: string, path: string, body?: unknown) =>
    askApi(`http://127.0.0.1:${machine.ports.http}`, key, method, path, body);
  await untilAnswered(machine.ports.dns, WWW, '192.0.2.80');
  const [record] = (await ask('GET', '/domains/shop.example/records/?type=A')).body;
  for (const value of ['203.0.113.66', '203.0.113.67']) {
    const { status } = await ask('PUT', `/domains/shop.example/records/${record.id}`, {
      destination: value,
    });
    expect(status).toBe(200);
  }
  await untilAnswered(machine.ports.dns, WWW, '203.0.113.67');

  expect(await machine.run(page, 'Act')).toMatch(/^locked ann@shop\.example account \d+ sessions 0 keys 1/);
  expect((await ask('GET', '/domains')).status).toBe(401);
  expect(await machine.run(page, 'Act')).toContain('revoked');
  await machine.run(page, 'Act'); // bans the domain
  await untilAnswered(machine.ports.dns, WWW, 'REFUSED');

  expect(await machine.run(page, 'Check')).toMatch(/key account \d+ key \d+ +127\.0\.0\.1 +shop\.example/);
  await machine.run(page, 'Check'); // members and grants
  expect(await machine.run(page, 'Check')).toContain('updated ann@shop.example');
  expect(await machine.run(page, 'Check')).toMatch(/Z\trecords\.edit\t\d+\tshop\.example\n/);

  await machine.run(page, 'Restore'); // reverts the changes
  await untilAnswered(machine.ports.dns, WWW, '192.0.2.80');
  expect(await machine.run(page, 'Restore')).toContain('lnk_');
  expect(await machine.run(page, 'Verify')).toMatch(/revoked.*\n192\.0\.2\.80\n$/s);
  expect(page.rest()).toEqual([]);
});
