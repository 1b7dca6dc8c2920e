// Signatures are made anew before they end: nothing else changes but the serial, and no log of customers tells of it.

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { claimDueRefreshes, endLease } from '../../../src/store/signing/claim-due-zones.ts';
import { refreshSignatures } from '../../../src/store/signing/refresh-signatures.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { atLater } from '../../support/database/database-clock.ts';
import { expectPublished, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const NEVER = new AbortController().signal;

const database = sharedDatabase();
let domainId: number;
const later: Database[] = [];

beforeEach(async () => {
  useSecrets(database.db);
  const accountId = await newAccount(database.db, 'a@example.org');
  domainId = (await newDomain(database.db, accountId)).id;
});
afterEach(async () => {
  await Promise.all(later.splice(0).map((db) => db.destroy()));
});

/** The same database so many days later. */
async function daysLater(days: number): Promise<Database> {
  const db = await atLater(database, days);
  useSecrets(db);
  later.push(db);
  return db;
}

const rowsBut = async (types: readonly number[]) =>
  (await loadZone(database.db, APEX))?.records
    .filter(({ type }) => !types.includes(type))
    .map(({ owner, type, rdata }) => `${owner} ${type} ${Buffer.from(rdata).toString('hex')}`);

describe.each(['nsec', 'nsec3'] as const)('with %s', (denial) => {
  test('a zone is due after five to seven days, and is whole until its new signatures end', async () => {
    await saved(database.db, domainId, edit({ create: ['www A 198.51.100.1', 'sub NS ns.example.net'] }));
    const { signed } = await enabled(database.db, { domainId }, { denial });
    const before = await rowsBut([6, 46]);
    const changes = (await listDomainChanges(database.db, domainId, { limit: 99 })).length;
    expect(await claimDueRefreshes(await daysLater(4.9), 9)).toEqual([]);
    for (const days of [7.1, 14.2, 21.3]) {
      const db = await daysLater(days);
      expect(await signatureFaults(db, APEX)).toEqual([]);
      expect(await claimDueRefreshes(db, 9)).toMatchObject([{ id: signed.id, name: 'example.com.' }]);
      expect(await claimDueRefreshes(db, 9)).toEqual([]); // leased
      const { made } = await refreshSignatures(db, signed.id, NEVER);
      await endLease(db, signed.id);
      expect(made).toBeGreaterThan(5);
      expect(await claimDueRefreshes(db, 9)).toEqual([]);
    }
    const db = await daysLater(21.3 + 13.9);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    expect(await rowsBut([6, 46])).toEqual(before);
    await expectPublished(database.db, domainId);
    expect(await listDomainChanges(database.db, domainId, { limit: 99 })).toHaveLength(changes);
    expect(await signatureFaults(await daysLater(40), APEX)).not.toEqual([]);
  });
});

test('eight days without workers, and every signature still stands', async () => {
  await enabled(database.db, { domainId });
  expect(await signatureFaults(await daysLater(14), APEX)).toEqual([]);
});

test('the zones whose signatures end first are taken first', async () => {
  const { db } = database;
  const records = recordsOf('@ SOA ns. host. 1 2 3 4 5\n@ NS ns.else.example.', 'op.test.');
  await saveZones(db, [{ apex: parseName('op.test.'), records }], { source: 'test' });
  await enabled(await daysLater(3), { zoneName: 'op.test.' });
  await enabled(db, { domainId });
  const due = await daysLater(11);
  expect(await claimDueRefreshes(due, 1)).toMatchObject([{ name: 'example.com.' }]);
  expect(await claimDueRefreshes(due, 1)).toMatchObject([{ name: 'op.test.' }]);
});

test('the zones that are taken together are in the order in which their signatures end', async () => {
  const { db } = database;
  const account = await newAccount(db, 'b@example.org');
  for (let i = 0; i < 7; i++) {
    const { id } = await newDomain(db, account, `d${i}.example.org.`);
    const { signed } = await enabled(db, { domainId: id });
    const days = (i * 3) % 7;
    await sql`
      update signed_zones set resign_at = now(), expires_at = now() + make_interval(days => ${days})
      where id = ${signed.id}`.execute(db);
  }
  const names = (await claimDueRefreshes(db, 6)).map(({ name }) => name);
  expect(names).toEqual([0, 5, 3, 1, 6, 4].map((i) => `d${i}.example.org.`));
});

test('a clock that is two hours wrong makes no signature that does not hold', async () => {
  for (const [name, hours] of [
    ['fast.test.', 2],
    ['slow.test.', -2],
  ] as const) {
    const db = await daysLater(hours / 24);
    const account = await newAccount(db, `${name}@example.org`);
    const { id } = await newDomain(db, account, name);
    await enabled(db, { domainId: id });
    expect(await signatureFaults(database.db, parseName(name))).toEqual([]);
  }
});

test('what an edit changes while signatures are made stays as the edit wrote it', async () => {
  const { signed } = await enabled(database.db, { domainId });
  const db = await daysLater(8);
  const refreshing = refreshSignatures(db, signed.id, NEVER);
  await Promise.all(
    ['a', 'b', 'c'].map((name) => saved(db, domainId, edit({ create: [`${name} A 192.0.2.1`] }))),
  );
  await refreshing;
  expect(await signatureFaults(db, APEX)).toEqual([]);
  await expectPublished(db, domainId);
  const { rows } = await sql<{ serial: number }>`select serial from domains where id = ${domainId}`.execute(
    db,
  );
  // created, signed, three edits; refreshed once, unless the edits made anew all that was due
  expect([5, 6]).toContain(rows[0]?.serial);
});
