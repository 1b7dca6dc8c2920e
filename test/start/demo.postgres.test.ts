import { beforeEach, expect, it } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { DEMO_APEX, DEMO_NAME, loadDemoOnce } from '../../src/start/demo.ts';
import { createFirstAdminKey, ensureFirstAdmin } from '../../src/store/accounts/first-admin.ts';
import { deleteDomain } from '../../src/store/change/save-domain.ts';
import { findDomain } from '../../src/store/domains/load-domains.ts';
import { loadZone } from '../../src/store/zones/load-zones.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import { emptyDatabase } from '../support/database/database.ts';
import { keptDatabase } from '../support/tests/shared-database.ts';
import { smallZone } from '../support/zone/zone-folder.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const APEX = parseName(DEMO_APEX);
const database = keptDatabase();
beforeEach(() => emptyDatabase(database)); // includes settings

async function addresses(): Promise<string[]> {
  const { records = [] } = (await loadZone(database.db, APEX)) ?? {};
  return records
    .filter(({ owner, type }) => owner === parseName(`${DEMO_NAME}.`) && type === TYPE.A)
    .map(({ type, rdata }) => printRdata(type, rdata));
}

it('the demo is a domain of the first admin with a valid zone, and the edge answers its proxied name', async () => {
  await loadDemoOnce(database.db, true);
  expect(await findDomain(database.db, APEX)).toMatchObject({
    status: 'pending',
    served: 'full',
    nextCheckAt: null,
    accountId: await ensureFirstAdmin(database.db),
  });
  expect(await addresses()).toEqual(['192.0.2.1']);
  const zone = await loadZone(database.db, APEX);
  expect(buildZone(APEX, zone?.records ?? [])).toMatchObject({ kind: 'built' });
  expect(await createFirstAdminKey(database.db)).toMatch(/^svc_/);
  expect(await createFirstAdminKey(database.db)).toBeUndefined();
});

it('without an edge, the origin answers the demo', async () => {
  await loadDemoOnce(database.db, false);
  expect(await addresses()).toEqual(['192.0.2.10']);
});

it('the demo is created once, not again after it was deleted, and not in a database with zones', async () => {
  await loadDemoOnce(database.db, true);
  const before = await findDomain(database.db, APEX);
  await loadDemoOnce(database.db, true);
  expect(await findDomain(database.db, APEX)).toEqual(before);
  await deleteDomain(database.db, { domainId: before?.id ?? 0, by: { kind: 'cli' }, source: 'test' });
  await loadDemoOnce(database.db, true);
  expect(await findDomain(database.db, APEX)).toBeUndefined();
  const records = recordsOf(smallZone('own.example.'), 'own.example.');
  await saveZones(database.db, [{ apex: parseName('own.example.'), records }], { source: 'test' });
  await loadDemoOnce(database.db, true);
  expect(await findDomain(database.db, APEX)).toBeUndefined();
});
