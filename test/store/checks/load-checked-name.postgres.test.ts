// The input of a check of a name.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { checkOnce, HOUR_MS, loadCheckedName } from '../../support/database/saved-checks.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const FIRST = 'referral ns1.example.net ns2.example.net';
const SECOND = 'referral ns1.example.org ns2.example.org';
const SETS = [
  ['NS1.example.net', 'ns2.example.net'],
  ['ns1.example.org', 'ns2.example.org'],
];

const { db, query } = sharedDatabase();
let domainId: number;

beforeAll(() => migrate(db, { ...TEST_SETTINGS, nameserverSets: SETS }));
beforeEach(async () => {
  domainId = (await newDomain(db, await newAccount(db, 'me@example.org'), 'example.com.', { exempt: false }))
    .id;
});

const load = async () => await loadCheckedName(db, domainId);
const claim = async () => (await load())?.claims.claims.find(({ id }) => id === domainId);
const sets = async () => (await claim())?.sets.map(({ names }) => printName(names[0] as never));

test('has the DS records of the domain’s own keys, but not of another operator’s keys in its zone', async () => {
  expect((await claim())?.ownDs).toBeUndefined();
  const machine = {
    keys: [
      { id: '1', ds: ['7 13 1 AB', '7 13 2 0A'] },
      { id: '2', ds: ['9 13 2 0C'], isForeign: true },
    ],
  };
  await query`
      insert into signed_zones (domain_id, account_id, goal, denial, algorithm, phase, machine)
      select id, account_id, 'signed', 'nsec', 13, 'waiting', ${JSON.stringify(machine)} from domains`;
  expect((await claim())?.ownDs).toEqual(new Set(['00070d01ab', '00070d020a']));
});

test('has a new domain as due, with every accepted set, by folded names', async () => {
  const name = await load();
  expect(await claim()).toMatchObject({
    id: domainId,
    state: { status: 'pending', misses: undefined, conclusive: undefined },
    lastVerdict: undefined,
    byOperator: false,
    wasHolder: false,
    takeoverSeenAt: undefined,
  });
  const { pending_since } = await db.selectFrom('domains').select('pending_since').executeTakeFirstOrThrow();
  expect((await claim())?.state.since).toBe(pending_since?.getTime());
  expect(name?.saved.get(domainId)).toMatchObject({
    nextCheckAt: pending_since?.getTime(),
    parentText: 'com.',
  });
  expect(await sets()).toEqual(['ns1.example.net.', 'ns1.example.org.']);
  expect([...(name?.claims.ours ?? [])].map(printName).sort()).toEqual([
    'ns1.example.net.',
    'ns1.example.org.',
    'ns2.example.net.',
    'ns2.example.org.',
  ]);
});

test('starts with what the previous check remembered', async () => {
  const at = Date.now();
  await checkOnce(db, domainId, FIRST, { at });
  expect(await claim()).toMatchObject({
    state: { status: 'pending', conclusive: { at, oursShown: false, othersShown: true } },
    lastVerdict: 'foreign',
  });
  expect((await load())?.saved.get(domainId)?.nextCheckAt).toBe(at + 60_000);
  expect((await load())?.sightings).toEqual([
    { names: ['ns1.example.net.', 'ns2.example.net.'], lastSeenAt: at },
  ]);
  expect(await sets()).toEqual(['ns1.example.org.']);
  await checkOnce(db, domainId, SECOND, { at: at + 1 });
  expect(await sets()).toEqual(['ns1.example.org.']);
  await checkOnce(db, domainId, 'nxdomain', { at: at + 2 });
  await checkOnce(db, domainId, 'nxdomain', { at: at + HOUR_MS });
  expect(await claim()).toMatchObject({
    state: {
      status: 'active',
      misses: { count: 2, firstAt: at + 2, lastAt: at + HOUR_MS },
      conclusive: { at: at + HOUR_MS, oursShown: false, othersShown: false },
    },
    wasHolder: true,
    lastVerdict: 'unregistered',
  });
  expect((await load())?.saved.get(domainId)?.nextCheckAt).toBe(at + 2 * HOUR_MS);
});

test('has every claim of the name, its past holders, and an external holder', async () => {
  const other = await newAccount(db, 'they@example.org');
  const theirs = (await newDomain(db, other, 'example.com.', { exempt: false })).id;
  expect((await load())?.claims.claims.map(({ id }) => id)).toEqual([domainId, theirs]);
  await updateDomain(db, { ...BY, domainId: theirs, set: { dnsMode: 'external' } });
  expect((await load())?.claims).toMatchObject({ alsoWaiting: [other], externalHolder: undefined });
  await db.updateTable('domains').set({ status: 'active' }).where('id', '=', theirs).execute();
  expect((await load())?.claims).toMatchObject({
    alsoWaiting: [],
    externalHolder: { id: theirs, accountId: other },
  });
});

test('includes leaving domains and those that the checker disabled, but not other disabled or deleted ones', async () => {
  await checkOnce(db, domainId, SECOND);
  await db.updateTable('domains').set({ status: 'active' }).execute();
  await updateDomain(db, { ...BY, domainId, set: { dnsMode: 'external' } });
  await query`update domains set leaving = true, leaving_since = ${new Date(4711)}`;
  expect((await claim())?.state).toMatchObject({ status: 'leaving', since: 4711 });
  await checkOnce(db, domainId, 'nodata');
  expect(await load()).toBeUndefined();
  await updateDomain(db, { ...BY, domainId, set: { dnsMode: 'managed' } });
  expect((await claim())?.state).toMatchObject({
    status: 'pending',
    misses: undefined,
    conclusive: undefined,
  });
  const endedAt = new Date();
  await query`
    update domains set status = 'disabled', disabled_by = 'checker', ended_at = ${endedAt}, served = 'none'`;
  expect((await claim())?.state).toMatchObject({ status: 'ended', since: endedAt.getTime() });
  await changeStatus(db, { ...BY, domainId, event: 'ban' });
  expect(await load()).toBeUndefined();
  await changeStatus(db, { ...BY, domainId, event: 'unban' });
  expect(await load()).toBeDefined();
  await deleteDomain(db, { ...BY, domainId });
  expect(await load()).toBeUndefined();
  expect(await loadCheckedName(db, 4711)).toBeUndefined();
});
