// Creating, deleting and restoring domains.

import { beforeEach, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { listSubscriptions } from '../../../src/store/accounts/subscriptions.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { restoreDomain } from '../../../src/store/change/restore-domain.ts';
import { createDomain, deleteDomain } from '../../../src/store/change/save-domain.ts';
import { findDomain, loadDomain, loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { purgeDomains, purgeFeed } from '../../../src/store/housekeeping/purges.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { CustomerZoneError, saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import {
  BY,
  expectPublished,
  expectSerials,
  limitClaims,
  listed,
  newAccount,
  newDomain,
  published,
  saved,
  wantedDomain,
} from '../../support/database/domains.ts';
import { followLoaded, smallZone, untilEqual } from '../../support/processes/follow.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX } from '../../support/zone/customer-records.ts';

const { db, url, query, value } = sharedDatabase();
let mine: number;
let theirs: number;

beforeEach(async () => {
  mine = await newAccount(db, 'me@example.org');
  theirs = await newAccount(db, 'they@example.org');
});

const create = async (accountId: number, name: string, rest = {}) =>
  (await createDomain(db, wantedDomain(accountId, name, rest))).kind;
const setStatus = (name: string, status: string) =>
  query`update domains set status = ${status} where name = ${name} and deleted_at is null`;

test('a managed domain is pending and served with the nameservers of the canonical set', async () => {
  const domain = await newDomain(db, mine);
  expect(domain).toMatchObject({
    name: APEX,
    status: 'pending',
    served: 'full',
    recordCount: 0,
    accountId: mine,
    plan: { slug: 'pro' },
    nameserverSets: [[parseName('ns1.example.net.'), parseName('ns2.example.net.')]],
    verification: null,
    pendingSince: domain.createdAt,
  });
  expect(await published(db)).toEqual([
    '@ 86400 NS ns1.example.net.',
    '@ 86400 NS ns2.example.net.',
    `@ 3600 SOA serial ${domain.serial}`,
  ]);
  await expectPublished(db, domain.id);
  expect(await listSubscriptions(db, domain.id)).toMatchObject([{ status: 'active', plan: { slug: 'pro' } }]);
  expect(await listDomainChanges(db, domain.id, { limit: 9 })).toMatchObject([
    { operation: 'create', ops: [], status: { from: null, to: 'pending' }, actor: BY.by },
  ]);
  await expectSerials(db, domain.id);
});

test('concurrent creates of one name succeed exactly once per account', async () => {
  const kinds = await Promise.all(
    Array.from({ length: 12 }, (_, i) => create(i % 2 === 0 ? mine : theirs, 'example.com.')),
  );
  expect(kinds.filter((kind) => kind === 'created')).toHaveLength(2);
  expect(kinds.filter((kind) => kind === 'taken')).toHaveLength(10);
  const domains = await db.selectFrom('domains').select('zone_id').execute();
  expect(domains).toHaveLength(2);
  expect(domains.filter(({ zone_id }) => zone_id !== null)).toHaveLength(1);
});

test('operators create domains of one account concurrently', async () => {
  await db.transaction().execute(async (trx) => {
    await newDomain(trx, mine, 'one.test.');
    expect(await create(mine, 'two.test.', { exempt: true })).toBe('created');
  });
});

test('the number of waiting domains is limited by the plan or the setting, and proved ones do not count', async () => {
  const account = await newAccount(db, 'waits@example.org');
  const claim = async (name: string, claimsPerAccount?: number) =>
    await createDomain(db, wantedDomain(account, name, { claimsPerAccount }));
  expect(await claim('one.test.', 0)).toMatchObject({ kind: 'plan_limit', limit: 0 });
  expect((await claim('one.test.', 1)).kind).toBe('created');
  expect(await claim('two.test.', 1)).toMatchObject({ kind: 'plan_limit', limit: 1 });
  await query`update domains set status = 'active' where account_id = ${account}`;
  expect((await claim('two.test.', 1)).kind).toBe('created');
  const restore = await limitClaims(db, 1);
  expect(await claim('three.test.')).toMatchObject({ kind: 'plan_limit', limit: 1 });
  await restore();
});

test('an active or moved name of another account is taken, but names inside and above it are not', async () => {
  await newDomain(db, theirs, 'b.example.com.');
  await setStatus('b.example.com.', 'active');
  expect(await create(mine, 'b.example.com.')).toBe('taken');
  for (const name of ['a.b.example.com.', 'x.y.b.example.com.', 'example.com.', 'ab.example.com.'])
    expect([name, await create(mine, name)]).toEqual([name, 'created']);
  // Not answered while the zone around it is answered completely, and above it only the apex is answered.
  const served = async (name: string) =>
    (await db.selectFrom('domains').select('served').where('name', '=', name).executeTakeFirst())?.served;
  expect(await served('a.b.example.com.')).toBe('none');
  expect(await served('example.com.')).toBe('apex');
  await setStatus('b.example.com.', 'moved');
  expect(await create(mine, 'b.example.com.')).toBe('taken');
  expect(await create(theirs, 'b.example.com.')).toBe('taken');
  await setStatus('b.example.com.', 'unverified');
  expect(await create(mine, 'b.example.com.')).toBe('created');
});

test('only an operator may create names around operator zones and nameservers, and equal names are always taken', async () => {
  await saveZones(db, [smallZone('op.test.', 1)], { source: 'test' });
  const names = ['sub.op.test.', 'a.sub.op.test.', 'ns1.example.net.', 'x.ns1.example.net.', 'example.net.'];
  for (const name of names) expect([name, await create(mine, name)]).toEqual([name, 'taken']);
  expect(await create(mine, 'op.test.')).toBe('taken');
  expect(await create(mine, 'op.test.', { exempt: true })).toBe('taken');
  for (const name of names)
    expect([name, await create(mine, name, { exempt: true })]).toEqual([name, 'created']);
  expect(await create(mine, 'xop.test.')).toBe('created');
  await unloadZones(db, [parseName('op.test.')], { source: 'test' });
  expect(await create(mine, 'op.test.')).toBe('created');
});

test('a customer domain cannot be loaded or unloaded as an operator zone, served or not', async () => {
  const { id } = await newDomain(db, mine);
  for (const status of ['pending', 'disabled']) {
    if (status === 'disabled') await changeStatus(db, { ...BY, domainId: id, event: 'disable' });
    const refused = saveZones(db, [smallZone('example.com.', 1), smallZone('a.test.', 1)], {
      source: 'test',
    });
    await expect(refused).rejects.toThrow(CustomerZoneError);
    await expect(refused).rejects.toMatchObject({ apexes: [APEX] });
    await expect(unloadZones(db, [APEX], { source: 'test' })).rejects.toThrow("customer's domain");
  }
  await deleteDomain(db, { ...BY, domainId: id });
  await saveZones(db, [smallZone('example.com.', 1)], { source: 'test' });
  expect(await restoreDomain(db, { ...BY, domainId: id })).toMatchObject({ kind: 'taken' });
});

test('a deleted domain releases its name immediately, and is restored completely with an increasing serial', async () => {
  const node = await followLoaded({ databaseUrl: url });
  const { id } = await newDomain(db, mine);
  const { serial } = await saved(db, id, ['www A 198.51.100.1 ; proxied', 'x TXT x']);
  await setStatus('example.com.', 'active');
  await untilEqual(node, db);
  expect(node.zones.get(APEX)?.serial).toBe(serial);
  expect(await deleteDomain(db, { ...BY, domainId: id })).toMatchObject({ kind: 'deleted' });
  expect(await deleteDomain(db, { ...BY, domainId: id })).toEqual({ kind: 'absent' });
  await untilEqual(node, db);
  expect(node.zones.has(APEX)).toBe(false);
  expect(await loadDomain(db, { accountId: mine, isAdmin: false }, APEX)).toBeUndefined();
  expect(await findDomain(db, APEX)).toBeUndefined();
  expect(await findDomain(db, APEX, { deleted: true })).toMatchObject({ id });
  const bought = await listSubscriptions(db, id);
  expect(bought).toMatchObject([{ status: 'active', endedAt: null }]);
  expect(await restoreDomain(db, { ...BY, domainId: id })).toMatchObject({
    kind: 'restored',
    domain: { status: 'pending', served: 'apex', recordCount: 2, deletedAt: null },
  });
  expect(await listSubscriptions(db, id)).toEqual(bought);
  expect(await listed(db, id)).toHaveLength(2);
  await expectPublished(db, id);
  await untilEqual(node, db);
  expect(node.zones.get(APEX)?.serial).toBe((await loadDomainById(db, id))?.serial);
  await expectSerials(db, id);
  expect(
    (await listDomainChanges(db, id, { limit: 2 })).map(({ operation, status }) => [operation, status]),
  ).toEqual([
    ['restore', { from: null, to: 'pending', checkId: null }],
    ['delete', { from: 'active', to: null, checkId: null }],
  ]);

  const last = await deleteDomain(db, { ...BY, domainId: id });
  const next = await newDomain(db, theirs);
  expect(next.serial).toBeGreaterThan(last.kind === 'deleted' ? last.serial : Infinity);
  await setStatus('example.com.', 'active');
  expect(await restoreDomain(db, { ...BY, domainId: id })).toMatchObject({ kind: 'taken' });
  expect(await restoreDomain(db, { ...BY, domainId: next.id })).toMatchObject({ kind: 'not_deleted' });
  await untilEqual(node, db);
  await node.stop();
});

test('a deleted domain can be restored for 30 days, even after its zone was purged, and is then deleted', async () => {
  const [a, b] = [await newDomain(db, mine, 'a.test.'), await newDomain(db, mine, 'b.test.')];
  const off = await newDomain(db, mine, 'off.test.');
  await changeStatus(db, { ...BY, domainId: off.id, event: 'disable' });
  for (const { id } of [a, b]) await deleteDomain(db, { ...BY, domainId: id });
  const age = async (days: number) => {
    await query`update changes set at = at - make_interval(days => ${days})`;
    await query`update zones set deleted_at = deleted_at - make_interval(days => ${days})`;
    await query`update domains set deleted_at = deleted_at - make_interval(days => ${days})`;
  };
  await age(29);
  await purgeFeed(db, 7);
  expect(await purgeDomains(db)).toBe(0);
  expect((await db.selectFrom('zones').select('name').execute()).map(({ name }) => name)).toEqual([
    'off.test.',
  ]);
  expect(await restoreDomain(db, { ...BY, domainId: a.id })).toMatchObject({ kind: 'restored' });
  await expectPublished(db, a.id, off.id);
  await age(2);
  expect(await restoreDomain(db, { ...BY, domainId: b.id })).toMatchObject({ kind: 'absent' });
  expect(await purgeDomains(db)).toBe(1);
  expect(await loadDomainById(db, b.id)).toBeUndefined();
  expect(await db.selectFrom('records').select('id').where('domain_id', '=', b.id).execute()).toEqual([]);
});

test('a domain that was off is restored as off without rights, and gets sets when it is enabled', async () => {
  const { id } = await newDomain(db, mine, 'off.test.');
  await newDomain(db, theirs, 'off.test.');
  await changeStatus(db, { ...BY, domainId: id, event: 'disable' });
  await deleteDomain(db, { ...BY, domainId: id });
  const rights = async () =>
    (await query`select from ns_rights where name = 'off.test.' and account_id = ${mine}`).length;
  const due = () => value<Date | null>`select due_at as at from domain_checks where domain_id = ${id}`;
  expect(await restoreDomain(db, { ...BY, domainId: id })).toMatchObject({
    domain: { status: 'disabled' },
  });
  expect([await rights(), await due()]).toEqual([0, null]);
  await changeStatus(db, { ...BY, domainId: id, event: 'enable', exempt: true });
  expect((await loadDomainById(db, id))?.nameserverSets).toHaveLength(1);
  // A domain that the checker disabled is checked again, because it may recover automatically.
  await query`update domains set status = 'disabled', disabled_by = 'checker', ended_at = now() where id = ${id}`;
  await deleteDomain(db, { ...BY, domainId: id });
  expect(await due()).toBeNull();
  await restoreDomain(db, { ...BY, domainId: id });
  expect(await due()).not.toBeNull();
});

test('a domain that is off does not hold its name, and waits with the other claims when it is enabled', async () => {
  const old = await newDomain(db, theirs);
  await changeStatus(db, { ...BY, domainId: old.id, event: 'disable' });
  expect(await create(theirs, 'example.com.')).toBe('taken');
  const { id } = await newDomain(db, mine);
  expect(await loadDomainById(db, id)).toMatchObject({ served: 'full' });
  expect(await loadDomainById(db, old.id)).toMatchObject({ status: 'disabled', findings: [] });
  expect(await loadDomain(db, { accountId: theirs, isAdmin: false }, APEX)).toMatchObject({ id: old.id });
  expect(await loadDomain(db, { accountId: mine, isAdmin: false }, APEX)).toMatchObject({ id });
  await setStatus('example.com.', 'active');
  await query`update domains set status = 'disabled' where id = ${old.id}`;
  expect(await loadDomain(db, { accountId: 99, isAdmin: true }, APEX)).toMatchObject({
    id,
    myRole: 'owner',
  });
  const enable = () => changeStatus(db, { ...BY, domainId: old.id, event: 'enable', exempt: true });
  expect(await enable()).toMatchObject({ kind: 'refused', code: 'taken' });
  await deleteDomain(db, { ...BY, domainId: id });
  expect(await enable()).toMatchObject({ kind: 'updated', domain: { status: 'pending', served: 'full' } });
  await expectPublished(db, old.id, id);
});

test('only the apexes are answered of nested pending domains of several accounts', async () => {
  const inner = await newDomain(db, mine, 'inner.example.com.');
  const own = await newDomain(db, theirs, 'own.example.com.');
  const served = async () =>
    (await Promise.all([inner, own].map(({ id }) => loadDomainById(db, id)))).map((domain) => domain?.served);
  expect(await served()).toEqual(['full', 'full']);
  const outer = await newDomain(db, theirs);
  expect(outer.served).toBe('apex');
  expect(await served()).toEqual(['apex', 'full']);
  expect(await newDomain(db, mine, 'other.example.com.')).toMatchObject({ served: 'apex' });
  await changeStatus(db, { ...BY, domainId: outer.id, event: 'disable' });
  expect(await served()).toEqual(['full', 'full']);
  await changeStatus(db, { ...BY, domainId: outer.id, event: 'enable', exempt: true });
  expect(await served()).toEqual(['apex', 'full']);
  await deleteDomain(db, { ...BY, domainId: outer.id });
  expect(await served()).toEqual(['full', 'full']);
  await expectPublished(db, inner.id, own.id, outer.id);
});
