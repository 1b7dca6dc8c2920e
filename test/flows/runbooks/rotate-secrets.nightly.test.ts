// docs/operating/runbooks/rotate-secrets.md. Postgres requires the passwords of the roles. Containers are not started: programs
// with the names of docker, helm and kubectl apply the new secrets to this machine.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEBIAN_POSTGRES } from '../../support/database/database.ts';
import { type Machine, prepareMachine, runbook, untilAnswered } from '../../support/runbooks/machine.ts';
import { type OwnPostgres, startOwnPostgres } from '../../support/runbooks/own-postgres.ts';
import { prepareFleet } from '../../support/runbooks/prepare-fleet.ts';
import { ROOT } from '../../support/tests/sources.ts';

const needs = existsSync(DEBIAN_POSTGRES) ? '' : ' (skipped: needs postgresql-15)';
const OLD = 'old-password';
const ROLES = ['node', 'api', 'worker'] as const;

let postgres: OwnPostgres;
let machine: Machine;

beforeAll(async () => {
  if (needs !== '') return;
  postgres = await startOwnPostgres({ needPassword: ROLES.map((role) => `zonefleet_${role}`) });
  const address = `127.0.0.1:${postgres.port}`;
  machine = await prepareMachine({ '@postgres.example.net': `@${address}`, '/root/': '/var/backups/' });
  const isProcess = /_(node|api|worker)$/;
  await prepareFleet(machine, (role) => postgres.urlOf(isProcess.test(role) ? `${role}:${OLD}` : role));
  const passwords = `ROLE_PASSWORDS=${ROLES.map((role) => `${role}:${OLD}`)}`;
  await machine.shell(`echo ${passwords} >> ${machine.folder}/etc/cli.env; zonefleet migrate`);
  await machine.start('nameserver', 'api', 'workers');
  await machine.shell('zonefleet tsig create peer; zonefleet dnssec enable shop.example');
});
afterAll(async () => {
  await machine?.end();
  await postgres?.end();
});

const signIn = (url: string) => machine.shell(`psql '${url.trim()}' -Atc 'select session_user'`);

describe.skipIf(needs !== '')(`the runbook for secrets${needs}`, () => {
  const page = runbook('rotate-secrets');

  it.each([
    ['KEY_SECRETS', ['api', 'workers', 'cli'], true],
    ['TSIG_SECRETS', ['nameserver', 'api', 'workers', 'cli'], true],
    ['COOKIE_SECRETS', ['nameserver'], false],
  ] as const)('replaces %s everywhere', async (name, files, isSealing) => {
    const old = machine.setting(files[0], name);
    const inFiles = () => [...new Set(files.map((file) => machine.setting(file, name)))];
    await machine.run(page, name);
    const fresh = (await machine.shell('cat tmp/new-*')).trim();
    await machine.run(page, name);
    expect(inFiles()).toEqual([`${old},${fresh}`]); // every process can open it before one seals with it
    await machine.run(page, name);
    expect(inFiles()).toEqual([`${fresh},${old}`]);
    if (isSealing) expect(await machine.run(page, name)).toMatch(/sealed again [1-9].*unreadable 0/s);
    await machine.run(page, name);
    expect(inFiles()).toEqual([fresh]);
    expect(await machine.shell('ls tmp')).not.toContain('new-');
  });

  it('replaces the passwords of the database roles', async () => {
    for (let step = 1; step < 4; step++) await machine.run(page, 'Database passwords');
    expect(await machine.run(page, 'Database passwords')).toMatch(/ns1 +live/);
    await machine.shell('zonefleet migrate'); // must not set the old passwords again
    for (const [unit, role] of [
      ['nameserver', 'node'],
      ['api', 'api'],
      ['workers', 'worker'],
    ] as const) {
      expect(machine.setting(unit, 'DATABASE_URL')).toMatch(/:[0-9a-f]{48}@/);
      await expect(signIn(postgres.urlOf(`zonefleet_${role}:${OLD}`))).rejects.toThrow(/password/);
    }
    await machine.shell('zonefleet domain import shop.example - <<< "www 60 IN A 192.0.2.80"');
    await untilAnswered(machine.ports.dns, 'www.shop.example', '192.0.2.80');
  });

  it('replaces the passwords in the files of Docker Compose', async () => {
    await machine.shell(`cp '${ROOT}/deploy/compose/make-secrets' . && ./make-secrets`);
    const migrate = 'ROLE_PASSWORDS=$(cat secrets/role-passwords) zonefleet migrate';
    machine.addProgram('docker', `echo "$*" >> calls; [[ "$*" != *migrate ]] || ${migrate}`);
    const urlOf = (role: string) =>
      readFileSync(join(machine.folder, `secrets/database-url-${role}`), 'utf8').replace(
        '@postgres:5432/',
        `@127.0.0.1:${postgres.port}/`,
      );
    const before = ROLES.map(urlOf);
    await machine.run(page, 'Database passwords in containers');
    for (const [i, role] of ROLES.entries()) {
      expect(urlOf(role)).not.toBe(before[i]);
      expect(await signIn(urlOf(role))).toBe(`zonefleet_${role}\n`);
    }
    const services = readFileSync(join(ROOT, 'deploy/compose/compose.yaml'), 'utf8');
    const calls = readFileSync(join(machine.folder, 'calls'), 'utf8').trim().split('\n');
    const named = calls.flatMap((call) => call.split(' ').slice(2)).filter((word) => !word.startsWith('-'));
    expect(named).toEqual(['migrate', 'api', 'workers', 'nameserver-1', 'nameserver-2']);
    for (const service of named) expect(services).toContain(`\n  ${service}:\n`);
  });

  it('replaces the passwords in the Secret of the Helm chart', async () => {
    machine.addProgram('kubectl', '[[ "$*" != *--patch-file* ]] || jq -e .stringData > secret.json');
    machine.addProgram('helm', `ROLE_PASSWORDS=$(jq -r '."role-passwords"' secret.json) zonefleet migrate`);
    await machine.run(page, 'Database passwords in containers');
    const data: Record<string, string> = JSON.parse(
      readFileSync(join(machine.folder, 'secret.json'), 'utf8'),
    );
    const values = readFileSync(join(ROOT, 'deploy/helm/zonefleet/values.yaml'), 'utf8');
    for (const key of Object.keys(data)) expect(values).toContain(`: ${key}\n`);
    for (const role of ROLES)
      expect(await signIn(data[`database-url-${role}`] ?? '')).toBe(`zonefleet_${role}\n`);
  });

  it('creates API keys and TSIG keys, and all its commands were run', async () => {
    expect(await machine.run(page, 'API keys')).toMatch(/svc_\w{40}\n.*deploy-2/s);
    expect(await machine.run(page, 'TSIG keys')).toContain('backup-2');
    expect(page.rest()).toEqual([]);
  });
});
