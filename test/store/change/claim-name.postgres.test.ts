// Claims of names (docs/rules.md "Claims"): waiting claims exclude no other claim, and a held name requires a transfer.

import { beforeEach, expect, test } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { createDomain, deleteDomain } from '../../../src/store/change/save-domain.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import {
  BY,
  expectPublished,
  newAccount,
  newDomain,
  published,
  saved,
  wantedDomain,
} from '../../support/database/domains.ts';
import { followLoaded, untilEqual } from '../../support/processes/follow.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX } from '../../support/zone/customer-records.ts';

const { db, url, query } = sharedDatabase();
let mine: number;
let theirs: number;
let others: number;

beforeEach(async () => {
  mine = await newAccount(db, 'me@example.org');
  theirs = await newAccount(db, 'they@example.org');
  others = await newAccount(db, 'others@example.org');
});

const create = async (accountId: number, rest = {}) =>
  (await createDomain(db, wantedDomain(accountId, 'example.com.', rest))).kind;
const move = (domainId: number, event: 'enable' | 'disable' | 'ban' | 'unban', rest = {}) =>
  changeStatus(db, { ...BY, domainId, event, ...rest });
const pass = (hours: number) =>
  query`update domains set claimed_at = claimed_at - make_interval(hours => ${hours})`;
const zones = async () =>
  (await db.selectFrom('domains').select('id').where('zone_id', 'is not', null).execute()).map(
    ({ id }) => id,
  );
const live = async (id: number) =>
  (await loadDomainById(db, id)) as NonNullable<Awaited<ReturnType<typeof loadDomainById>>>;

test.each([
  'managed',
  'external',
] as const)('a waiting claim in %s mode does not exclude other accounts, and nodes hold one zone', async (dnsMode) => {
  const node = await followLoaded({ databaseUrl: url });
  const old = await newDomain(db, theirs, 'example.com.', { dnsMode });
  await saved(db, old.id, ['old A 192.0.2.1']);
  expect(await create(theirs)).toBe('taken');
  const next = await newDomain(db, mine);
  expect(next).toMatchObject({ status: 'pending', recordCount: 0 });
  const { status, findings } = await live(old.id);
  expect(status).toBe(dnsMode === 'managed' ? 'pending' : 'unverified');
  expect(findings.map(({ code }) => code)).toEqual(dnsMode === 'managed' ? ['NS_TURN', 'APEX_ONLY'] : []);
  // If several claims wait, only the apex is answered.
  expect((await live(old.id)).served).toBe(dnsMode === 'managed' ? 'apex' : 'none');
  expect(next.served).toBe(dnsMode === 'managed' ? 'none' : 'apex');
  const holder = dnsMode === 'managed' ? old.id : next.id;
  expect(await zones()).toEqual([holder]);
  const { serial } = await live(holder);
  expect((await published(db))?.filter((line) => !line.includes('TYPE0'))).toEqual([
    '@ 86400 NS ns1.example.net.',
    '@ 86400 NS ns2.example.net.',
    `@ 3600 SOA serial ${serial}`,
  ]);
  await expectPublished(db, old.id, next.id);
  await untilEqual(node, db);
  expect(node.zones.get(APEX)?.serial).toBe(serial);
  // The remaining claim is answered as before, with a higher serial.
  await deleteDomain(db, { ...BY, domainId: next.id });
  await deleteDomain(db, { ...BY, domainId: old.id });
  const last = await newDomain(db, others);
  expect(last).toMatchObject({ served: 'full' });
  expect(last.serial).toBeGreaterThan(serial);
  await untilEqual(node, db);
  expect(node.zones.get(APEX)?.serial).toBe(last.serial);
  await node.stop();
});

test('a held name is taken, unless the claim waits for a transfer', async () => {
  const { id } = await newDomain(db, theirs);
  for (const status of ['active', 'moved']) {
    await query`update domains set status = ${status} where id = ${id}`;
    const refused = await createDomain(db, wantedDomain(mine, 'example.com.'));
    expect(refused).toMatchObject({ kind: 'taken', message: expect.stringContaining('"transfer": true') });
    expect(refused).not.toMatchObject({ message: expect.stringMatching(/they@|example\.org/) });
  }
  const before = await live(id);
  expect(await create(mine, { transfer: true })).toBe('created');
  expect(await create(mine, { transfer: true })).toBe('taken');
  const after = await live(id);
  expect([after.served, after.serial, after.findings]).toEqual([before.served, before.serial, []]);
  expect(await zones()).toEqual([id]);
  // A domain that leaves for external mode is held as well.
  await updateDomain(db, { ...BY, domainId: id, set: { dnsMode: 'external' } });
  expect(await create(others)).toBe('taken');
  await deleteDomain(db, { ...BY, domainId: id });
  expect(await create(others)).toBe('created');
});

test('a ban of the name’s holder applies to all accounts, and a ban of a claim only to its account', async () => {
  const held = await newDomain(db, theirs);
  await query`update domains set status = 'active' where id = ${held.id}`;
  await move(held.id, 'ban');
  expect(await createDomain(db, wantedDomain(mine, 'example.com.', { transfer: true }))).toMatchObject({
    kind: 'taken',
    message: expect.stringContaining('banned'),
  });
  await deleteDomain(db, { ...BY, domainId: held.id });
  await move((await newDomain(db, others)).id, 'ban');
  expect(await create(others)).toBe('taken');
  expect(await create(mine)).toBe('created');
});

test('a name has 32 slots for claims, and after a day the oldest one without delegation gives up its slot', async () => {
  const ids: number[] = [];
  for (let i = 0; i < 32; i++) {
    const accountId = await newAccount(db, `many${i}@example.org`);
    ids.push((await newDomain(db, accountId, 'example.com.', { exempt: false })).id);
  }
  const refused = await createDomain(db, wantedDomain(mine, 'example.com.'));
  expect(refused).toMatchObject({ kind: 'full', message: expect.not.stringMatching(/many\d/) });
  const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
  expect(retryAfterSeconds).toBeGreaterThan(86_000);
  expect(retryAfterSeconds).toBeLessThanOrEqual(86_400);
  // An operator needs no slot, but enabling the domain later does.
  const off = await newDomain(db, others);
  await move(off.id, 'disable');
  expect(await move(off.id, 'enable')).toMatchObject({ kind: 'refused' });

  await pass(25);
  const [shown, oldest, second] = ids as [number, number, number];
  await query`update domain_checks set conclusive_ours = true, conclusive_at = now() where domain_id = ${shown}`;
  const rightsBefore = await db.selectFrom('ns_rights').selectAll().orderBy('account_id').execute();
  const next = await newDomain(db, mine, 'example.com.', { exempt: false });
  expect(next).toMatchObject({ status: 'pending' });
  expect(await live(shown)).toMatchObject({ status: 'pending' });
  const lost = await live(oldest);
  expect(lost).toMatchObject({ status: 'disabled', served: 'none', pendingSince: null });
  expect(lost.findings.map(({ code }) => code)).toEqual(['SETS_SPENT', 'CLAIM_DISPLACED']);
  const [change] = await listDomainChanges(db, oldest, { limit: 1 });
  expect(change).toMatchObject({ actor: { kind: 'system' }, status: { from: 'pending', to: 'disabled' } });
  const rights = await db.selectFrom('ns_rights').selectAll().orderBy('account_id').execute();
  expect(rights).toEqual(expect.arrayContaining(rightsBefore));
  expect(await zones()).toHaveLength(1);

  expect(await move(off.id, 'enable')).toMatchObject({ kind: 'updated', domain: { status: 'pending' } });
  expect(await live(second)).toMatchObject({ status: 'disabled' });
  const waiting = await db.selectFrom('domains').select('id').where('status', '=', 'pending').execute();
  expect(waiting).toHaveLength(32);
  await expectPublished(db, ...ids, next.id, off.id);
});
