// docs/operating/runbooks/rotate-secrets.md. Postgres requires the passwords of the roles.

import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEBIAN_POSTGRES } from '../../support/database/database.ts';
import { type Machine, prepareMachine, runbook, untilAnswered } from '../../support/runbooks/machine.ts';
import { type OwnPostgres, startOwnPostgres } from '../../support/runbooks/own-postgres.ts';
import { prepareFleet } from '../../support/runbooks/prepare-fleet.ts';

const needs = existsSync(DEBIAN_POSTGRES) ? '' : ' (skipped: needs postgresql-15)';
const OLD = 'old-password';
/** Only the roles of processes need a password. */
const HBA = [
  'local all all trust',
  ...['zonefleet', 'postgres', 'zonefleet_owner'].map((role) => `host all ${role} 127.0.0.1/32 trust`),
];

let folder: string;
let postgres: OwnPostgres;
let machine: Machine;

beforeAll(async () => {
  if (needs !== '') return;
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-hba-'));
  chmodSync(folder, 0o755);
  const hba = join(folder, 'hba.conf');
  writeFileSync(hba, [...HBA, 'host all all 127.0.0.1/32 scram-sha-256', ''].join('\n'), { mode: 0o644 });
  postgres = await startOwnPostgres({ parameters: { hba_file: hba } });
  machine = await prepareMachine();
  const isProcess = /_(node|api|worker)$/;
  await prepareFleet(machine, (role) => postgres.urlOf(isProcess.test(role) ? `${role}:${OLD}` : role));
  const passwords = `ROLE_PASSWORDS=node:${OLD},api:${OLD},worker:${OLD}`;
  await machine.shell(`echo ${passwords} >> ${machine.folder}/etc/cli.env; zonefleet migrate`);
  for (const unit of ['nameserver', 'api', 'workers'] as const) await machine.start(unit);
  await machine.shell('zonefleet tsig create peer; zonefleet dnssec enable shop.example');
});
afterAll(async () => {
  await machine?.end();
  await postgres?.end();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

describe.skipIf(needs !== '')(`the runbook for secrets${needs}`, () => {
  const page = runbook('rotate-secrets');

  it.each([
    ['KEY_SECRETS', ['api', 'workers', 'cli'], 3],
    ['TSIG_SECRETS', ['nameserver', 'api', 'workers', 'cli'], 2],
    ['COOKIE_SECRETS', ['nameserver'], 3],
  ] as const)('replaces %s everywhere', async (name, files, steps) => {
    const before = machine.setting(files[0], name);
    const printed: string[] = [];
    for (let i = 0; i < steps; i++) printed.push(await machine.run(page, name));
    for (const file of files) {
      const now = machine.setting(file, name);
      expect(now).toBe(machine.setting(files[0], name));
      expect(now).toMatch(/^[^,]{32,}$/);
      expect(now).not.toBe(before);
    }
    if (name !== 'COOKIE_SECRETS') expect(printed.join('')).toMatch(/sealed again [1-9]/);
  });

  it('replaces the passwords of the database roles', async () => {
    expect(await machine.run(page, 'Database passwords')).toMatch(/ns1 +live/);
    await machine.shell('zonefleet migrate'); // must not set the old passwords again
    for (const [unit, role] of [
      ['nameserver', 'node'],
      ['api', 'api'],
      ['workers', 'worker'],
    ] as const) {
      expect(machine.setting(unit, 'DATABASE_URL')).toMatch(/:[0-9a-f]{48}@/);
      const old = postgres.urlOf(`zonefleet_${role}:${OLD}`);
      await expect(machine.shell(`psql '${old}' -c 'select 1'`)).rejects.toThrow(/password/);
    }
    await machine.shell('zonefleet domain import shop.example - <<< "www 60 IN A 192.0.2.80"');
    await untilAnswered(machine.ports.dns, 'www.shop.example', '192.0.2.80');
  });

  it('creates API keys and TSIG keys, and all its commands were run', async () => {
    expect(await machine.run(page, 'API keys')).toMatch(/svc_\w{40}\n.*deploy-2/s);
    expect(await machine.run(page, 'TSIG keys')).toContain('backup-2');
    expect(page.rest()).toEqual([]);
  });
});
