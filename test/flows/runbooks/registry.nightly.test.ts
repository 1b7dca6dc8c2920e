// docs/operating/runbooks/registry-down.md and dnssec-emergency.md, below a registry on NSD and Knot.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printListenAddress } from '../../../src/process/listen-address.ts';
import { createDatabase, type TestDatabase, urlsOf } from '../../support/database/database.ts';
import {
  FLEET_SETS,
  NEEDS_PARENT,
  type RealParent,
  startRealParent,
} from '../../support/peers/real-parent.ts';
import { type Machine, prepareMachine, runbook } from '../../support/runbooks/machine.ts';
import { prepareFleet } from '../../support/runbooks/prepare-fleet.ts';
import { until } from '../../support/tests/until.ts';

const DOMAIN = 'shop.zz';

let database: TestDatabase;
let parent: RealParent;
let machine: Machine;

beforeAll(async () => {
  if (NEEDS_PARENT !== '') return;
  database = await createDatabase();
  parent = await startRealParent({ shop: FLEET_SETS[0] });
  const [node] = parent.ours;
  machine = await prepareMachine({
    '@192.0.2.1 ': `@${node?.address} -p ${node?.port} `,
    'shop.example': DOMAIN,
    '--parent example': '--parent zz',
    '"example: ': '"zz: ',
    'search .example': 'search .zz',
  });
  const urlOf = urlsOf(database);
  const sets = FLEET_SETS.map((set) => set.join()).join(';');
  const lab = { ...parent.settings, NAMESERVER_SETS: sets, MOVED_AFTER: '1s' };
  await prepareFleet(machine, urlOf, lab, DOMAIN);
  machine.configure('nameserver', {
    DATABASE_URL: urlOf('zonefleet_node'),
    DNS_LISTEN: parent.ours.map(printListenAddress).join(),
  });
  const zone = join(machine.folder, 'corp.zone');
  writeFileSync(
    zone,
    '$ORIGIN corp.example.\n$TTL 60\n@ SOA ns1.fleet.zz. hostmaster 1 7200 900 1209600 300\n@ NS ns1.fleet.zz.\n',
  );
  await machine.start('nameserver', 'api', 'workers');
  await machine.shell(`zonefleet zone load ${zone}`);
  await until(() => machine.shell(`zonefleet domain check ${DOMAIN}`).catch(() => undefined), 'it is active');
});
afterAll(async () => {
  await machine?.end();
  await parent?.stop();
  await database?.drop();
});

const status = async (): Promise<string> =>
  JSON.parse(await machine.shell(`zonefleet domain show ${DOMAIN} --json`)).domains[0].status;

describe.skipIf(NEEDS_PARENT !== '')(`the runbooks of registries and keys${NEEDS_PARENT}`, () => {
  it('a freeze keeps the status of domains while the registry has lost their delegations', async () => {
    const page = runbook('registry-down');
    expect(await machine.run(page, 'Check')).toContain('no status changes are held');
    await parent.delegate({ shop: ['ns1.other.zz', 'ns2.other.zz'] });
    expect(await machine.run(page, 'Check', 1)).toContain('ns1.other.zz');
    await machine.run(page, 'Act'); // freezes
    for (let check = 0; check < 5; check++)
      await machine.shell(`zonefleet domain check ${DOMAIN} || true; sleep 0.5`);
    expect(await status()).toBe('active');
    expect(await machine.run(page, 'Act')).toContain(DOMAIN);
    await parent.delegate({ shop: FLEET_SETS[0] });
    expect(await machine.run(page, 'Verify')).toMatch(/no status changes are held.*match status active/s);
    expect(page.rest()).toEqual([]);
  });

  it('zones become insecure, and the node answers them without signatures', async () => {
    const page = runbook('dnssec-emergency');
    await machine.shell(`zonefleet dnssec enable ${DOMAIN} corp.example`);
    const isSigned = () =>
      machine.shell(`zonefleet dnssec verify ${DOMAIN} corp.example`).then(
        () => true,
        () => undefined,
      );
    await until(isSigned, 'both are signed');
    expect(await machine.run(page, 'Check', 1)).toContain(DOMAIN); // not secure: the parent has no DS
    expect(await machine.run(page, 'Check')).toContain('corp.example');
    expect(await machine.run(page, 'Check')).toMatch(/ns1 +live/);
    await machine.run(page, 'A stolen key');
    await machine.run(page, 'Go insecure'); // the domain
    await machine.run(page, 'Go insecure'); // the parent of the operator zone
    await machine.run(page, 'Go insecure'); // the operator zone
    expect(await machine.run(page, 'Go insecure')).toContain(DOMAIN);
    const [ours] = parent.ours;
    const countSignatures = () =>
      machine.shell(
        `dig @${ours?.address} -p ${ours?.port} corp.example SOA +dnssec | grep -c RRSIG || true`,
      );
    await until(async () => (await countSignatures()) === '0\n', 'the operator zone has no signatures');
    expect(await machine.run(page, 'Verify')).toMatch(/^0\nns1\.fleet\.zz\./);
    expect(page.rest()).toEqual([]);
  });
});
