// Only what is missing is filled, set by set, by what is there when it is written.

import { beforeEach, expect, test } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { importScanned, type ScannedImport } from '../../../src/store/scans/import-scanned.ts';
import { BY, expectPublished, listed, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { scanOf } from '../../support/world/made-scans.ts';
import { edit } from '../../support/zone/customer-records.ts';

const MAIL = ['@ MX 10 mail.example.com', '@ MX 20 mail2.example.com', '@ 600 TXT v=spf1 mx -all'];

const database = sharedDatabase();
let db: Database;
let id: number;
beforeEach(async () => {
  ({ db } = database);
  ({ id } = await newDomain(db, await newAccount(db, 'a@example.org'), undefined, { exempt: true }));
});

const bring = (lines: readonly string[], more: Partial<ScannedImport> = {}) =>
  importScanned(db, { domainId: id, records: scanOf(lines).records, by: BY.by, narrowing: null, ...more });
const here = async () => (await listed(db, id)).map((line) => line.replace(/^\d+: /, ''));

test('an empty domain gets all of it in one change, which names the scan', async () => {
  const imported = await bring(['www A 192.0.2.1', 'www A 192.0.2.2', ...MAIL]);
  expect(imported).toMatchObject({ kind: 'imported', created: 5, failed: [], present: 0 });
  const [change] = await listDomainChanges(db, id, { limit: 1 });
  expect(change).toMatchObject({ source: 'scan', actor: { kind: 'key', keyId: 7 } });
  expect(change?.ops).toHaveLength(5);
  expect(await here()).toContain('@ 600 TXT v=spf1 mx -all');
  await expectPublished(db, id);
});

test('an address gets the country that it is in', async () => {
  await bring(['www A 192.0.2.1', '@ TXT hello'], { countryOf: () => 'NL' });
  const [change] = await listDomainChanges(db, id, { limit: 1 });
  expect(change?.ops.map(({ after }) => after?.destCountry)).toEqual(['NL', null]);
});

test('a repeat adds nothing, and a name and type that has a record is left alone', async () => {
  await saved(db, id, edit({ create: ['@ MX 5 elsewhere.example.net'] }));
  expect(await bring(MAIL)).toMatchObject({ created: 1, present: 2 });
  expect(await bring(MAIL)).toMatchObject({ created: 0, present: 3, changeId: undefined });
  expect((await here()).filter((line) => line.includes('MX'))).toEqual(['@ 300 MX 5 elsewhere.example.net']);
});

test('a set that conflicts fails as a whole, and the others come', async () => {
  await saved(db, id, edit({ create: ['www A 192.0.2.9 ; proxied', 'blog CNAME other.example.net'] }));
  const imported = await bring([
    'www AAAA 2001:db8::1',
    'www AAAA 2001:db8::2',
    'blog TXT hello',
    'shop A 192.0.2.3',
  ]);
  expect(imported).toMatchObject({ kind: 'imported', created: 1, present: 0 });
  const failed = imported.kind === 'imported' ? imported.failed : [];
  expect(failed.map(({ type }) => type)).toEqual(['AAAA', 'AAAA', 'TXT']);
  expect(failed[0]?.error).toMatch(/must all be proxied or none/);
  expect(failed[2]?.error).toMatch(/has a CNAME/);
  expect(await here()).toContain('shop 300 A 192.0.2.3');
  await expectPublished(db, id);
});

test('a delegation comes with its glue', async () => {
  const lines = ['dev NS ns1.dev.example.com', 'ns1.dev A 192.0.2.53', 'dev NS ns.example.net'];
  expect(await bring(lines)).toMatchObject({ created: 3, failed: [] });
});

test('a domain whose plan has no room for all of it gets nothing', async () => {
  const account = await newAccount(db, 'b@example.org');
  const free = await newDomain(db, account, 'free.org.', { planSlug: 'free' });
  const none = await newDomain(db, account, 'none.org.', { planSlug: null });
  const lines = Array.from({ length: 201 }, (_, i) => `n${i} A 192.0.2.1`);
  const records = (domain: typeof free) => scanOf(lines, { domain: domain.name }).records;
  expect(await bring([], { domainId: free.id, records: records(free) })).toEqual({
    kind: 'refused',
    code: 'plan_limit',
    message: 'the plan allows 200 records, this would make 201',
    limit: 200,
  });
  expect(await bring([], { domainId: none.id, records: records(none) })).toMatchObject({
    code: 'no_active_plan',
  });
  expect(await listed(db, free.id, free.name)).toEqual([]);
});

test('a narrowed key that may not write one of the missing records writes none', async () => {
  const narrowing = { names: ['www.example.com'], types: ['A'] };
  const lines = ['www A 192.0.2.1', ...MAIL];
  expect(await bring(lines, { narrowing })).toMatchObject({ kind: 'refused', code: 'forbidden' });
  expect(await here()).toEqual([]);
  await bring(MAIL);
  expect(await bring(lines, { narrowing })).toMatchObject({ kind: 'imported', created: 1 });
});

test('a dry run says what would come, and writes nothing', async () => {
  expect(await bring(MAIL, { dryRun: true })).toMatchObject({ created: 3, changeId: undefined });
  expect(await here()).toEqual([]);
});

test('a domain that is switched off or gone takes nothing', async () => {
  await changeStatus(db, { ...BY, domainId: id, event: 'disable' });
  expect(await bring(MAIL)).toMatchObject({ kind: 'refused', code: 'domain_disabled' });
  await deleteDomain(db, { ...BY, domainId: id });
  expect(await bring(MAIL)).toMatchObject({ kind: 'refused', code: 'not_found' });
});
