import { beforeEach, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { DEMO_DOMAINS } from '../../../src/start/demo/demo-domains.ts';
import { makeDemoDomains } from '../../../src/start/demo/make-domains.ts';
import { loadDemoOnce } from '../../../src/start/demo.ts';
import { ensureFirstAdmin } from '../../../src/store/accounts/first-admin.ts';
import { createDomain, deleteDomain } from '../../../src/store/change/save-domain.ts';
import { findDomain, findDomains } from '../../../src/store/domains/load-domains.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import { emptyDatabase } from '../../support/database/database.ts';
import { newAccount, wantedDomain } from '../../support/database/domains.ts';
import { useSecrets } from '../../support/database/signed-zones.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const NAMES = DEMO_DOMAINS.map(({ name }) => name);
const database = keptDatabase();
beforeEach(async () => {
  await emptyDatabase(database); // includes settings
  useSecrets(database.db);
  await loadDemoOnce(database.db, false);
});

const find = (name: string) => findDomain(database.db, parseName(`${name}.`));

it('they are domains of the first admin, each with a valid zone, and one has 3,000 records', async () => {
  expect(await makeDemoDomains(database.db)).toEqual(NAMES);
  const accountId = await ensureFirstAdmin(database.db);
  for (const { name, isExternal } of DEMO_DOMAINS) {
    expect(await find(name)).toMatchObject({ accountId, status: isExternal ? 'unverified' : 'pending' });
    if (isExternal) continue;
    const zone = await loadZone(database.db, parseName(`${name}.`));
    expect(buildZone(parseName(`${name}.`), zone?.records ?? [])).toMatchObject({ kind: 'built' });
  }
  expect((await find('atlas.test'))?.recordCount).toBe(3000);
  expect((await find('orchid.test'))?.recordCount).toBe(8); // the last edit is reverted
  expect((await find('granite.test'))?.dnssecStatus).not.toBe('off');
});

it('a second start creates neither existing nor deleted domains again', async () => {
  await makeDemoDomains(database.db);
  const domainId = (await find('harbor.test'))?.id ?? 0;
  await deleteDomain(database.db, { domainId, by: { kind: 'cli' }, source: 'test' });
  const before = await Promise.all(NAMES.map((name) => find(name)));
  expect(await makeDemoDomains(database.db)).toEqual([]);
  expect(await Promise.all(NAMES.map((name) => find(name)))).toEqual(before);
});

it("another account's domain with such a name is not changed", async () => {
  const other = await newAccount(database.db, 'a@example.org');
  await createDomain(database.db, wantedDomain(other, 'orchid.test.'));
  const before = await find('orchid.test');
  expect(await makeDemoDomains(database.db)).toEqual(NAMES.filter((name) => name !== 'orchid.test'));
  expect(await findDomains(database.db, parseName('orchid.test.'))).toEqual([before]);
});
