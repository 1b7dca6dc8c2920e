// Whatever writes a signed domain leaves it whole: each set has its signatures, and the ring of denials closes.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { restoreDomain } from '../../../src/store/change/restore-domain.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { saveRevert } from '../../../src/store/change/save-revert.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { parseEdit } from '../../../src/zone/edit/parse-edit.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase } from '../../support/database/database.ts';
import { BY, expectPublished, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { anything, delegations } from '../../support/random/random-edits.ts';
import { scale } from '../../support/tests/scale.ts';
import { madeTargets } from '../../support/world/made-targets.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 15);
const EDITS = scale(1000, 60);

let database: TestDatabase;
let accountId: number;
let domainId: number;

beforeEach(async () => {
  database = await createDatabase();
  useSecrets(database.db);
  accountId = await newAccount(database.db, 'a@example.org');
  domainId = (await newDomain(database.db, accountId)).id;
});
afterEach(() => database.drop());

async function expectWhole(): Promise<void> {
  expect(await signatureFaults(database.db, APEX)).toEqual([]);
  await expectPublished(database.db, domainId);
}

const keysAt = async () =>
  (await loadZone(database.db, APEX))?.records
    .filter(({ type }) => type === 48)
    .map(({ rdata }) => Buffer.from(rdata).toString('base64'));

describe.each(['nsec', 'nsec3'] as const)('with %s', (denial) => {
  beforeEach(async () => {
    await saved(database.db, domainId, edit({ create: ['www A 198.51.100.1', 'x.y TXT x'] }));
    await enabled(database.db, { domainId }, { denial });
  });

  test.each([
    ['of every kind', anything],
    ['of delegations', delegations],
  ] as const)('random edits %s', async (_, { edit: made }) => {
    const { db } = database;
    let written = 0;
    for (const text of fc.sample(made, { numRuns: EDITS, seed: SEED })) {
      const parsed = parseEdit(text, APEX);
      if (parsed.kind !== 'edit') continue;
      const without = () => undefined;
      const result = await saveEdit(db, { ...BY, domainId, edit: parsed.edit, without });
      if (result.kind !== 'saved') continue;
      written++;
      expect(await signatureFaults(db, APEX), JSON.stringify(text)).toEqual([]);
    }
    expect(written).toBeGreaterThan(5);
    await expectWhole();
  });

  test('edits at the same time', async () => {
    const { db } = database;
    const names = Array.from({ length: 12 }, (_, i) => `n${(i * 7) % 12}`);
    await Promise.all(names.map((name) => saved(db, domainId, edit({ create: [`${name} A 192.0.2.1`] }))));
    await expectWhole();
  });

  test('a change that is taken back', async () => {
    const { db } = database;
    const change = edit({ create: ['sub NS ns.example.net', 'ns.other TXT x'] });
    const { changeId } = await saved(db, domainId, change);
    expect((await saveRevert(db, { domainId, changeId, by: BY.by })).kind).toBe('saved');
    await expectWhole();
  });

  test('many names at once that empty others, begin cuts and end them', async () => {
    const { db } = database;
    const twenty = (lines: (i: number) => string[]) =>
      edit({ create: Array.from({ length: 20 }, (_, i) => lines(i)).flat() });
    const takeBack = async (changeId: number) => {
      expect((await saveRevert(db, { domainId, changeId, by: BY.by })).kind).toBe('saved');
      await expectWhole();
    };
    await saved(
      db,
      domainId,
      twenty((i) => [`stays.e${i} A 192.0.2.1`, `x.c${i} A 192.0.2.2`]),
    );
    const names = await saved(
      db,
      domainId,
      twenty((i) => [`goes.e${i} A 192.0.2.3`, `e${i} TXT x`, `a.f${i} A 192.0.2.4`]),
    );
    const cuts = await saved(
      db,
      domainId,
      twenty((i) => [`c${i} NS x.c${i}.example.com`]),
    );
    await expectWhole();
    await takeBack(cuts.changeId);
    await takeBack(names.changeId);
  });

  test('addresses of a target that come, and change', async () => {
    const { db } = database;
    await saved(db, domainId, edit({ create: ['@ ANAME web.example.net', 'a ANAME web.example.net'] }));
    await expectWhole(); // the name is marked, and exists
    for (const said of ['192.0.2.7 for 60', '192.0.2.8 2001:db8::8 for 60']) {
      const made = madeTargets(db);
      made.said.set('example.net.', said);
      await made.round();
      await expectWhole();
    }
  });

  test('other nameservers and edge addresses of the service', async () => {
    const { db } = database;
    await saved(db, domainId, edit({ create: ['p A 198.51.100.1 ; proxied'] }));
    const serial = async () => (await loadZone(db, APEX))?.version;
    const before = await serial();
    const settings = { ...TEST_SETTINGS, nameserverSets: [['ns1.example.org', 'ns2.example.org']] };
    await migrate(db, { ...settings, edgeIpv4: ['192.0.2.99'] }, { force: true });
    expect(await serial()).not.toBe(before);
    await expectWhole();
    await saved(db, domainId, edit({ create: ['q A 198.51.100.1'] }));
    await expectWhole();
  });

  test('a domain that is disabled, deleted and restored has its keys again', async () => {
    const { db } = database;
    const before = await keysAt();
    await changeStatus(db, { ...BY, domainId, event: 'disable' });
    expect(await loadZone(db, APEX)).toBeUndefined();
    await changeStatus(db, { ...BY, domainId, event: 'enable' });
    await expectWhole();
    await deleteDomain(db, { ...BY, domainId });
    await restoreDomain(db, { ...BY, domainId });
    await expectWhole();
    expect(await keysAt()).toEqual(before);
  });
});

test('another account that gets the name does not get the keys', async () => {
  const { db } = database;
  await enabled(db, { domainId });
  const before = await keysAt();
  await deleteDomain(db, { ...BY, domainId });
  const other = await newAccount(db, 'b@example.org');
  const domain = await newDomain(db, other);
  expect(await keysAt()).toEqual([]);
  await enabled(db, { domainId: domain.id });
  expect(await keysAt()).not.toEqual(before);
  expect(await signatureFaults(db, APEX)).toEqual([]);
});

test('a domain of which only the apex is served is signed there', async () => {
  const { db } = database;
  const claim = await newDomain(db, accountId, 'held.test.', { exempt: false });
  expect(claim.served).toBe('apex');
  await enabled(db, { domainId: claim.id });
  expect(await signatureFaults(db, claim.name)).toEqual([]);
  await saved(db, claim.id, edit({ create: ['www A 198.51.100.1'] }, claim.name));
  expect(await signatureFaults(db, claim.name)).toEqual([]);
  await expectPublished(db, claim.id);
});
