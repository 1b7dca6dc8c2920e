// The effects of a check on its domain, the log and what nodes serve: all of them, or none.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { approveDomain } from '../../../src/store/change/approve-domain.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { listChecks } from '../../../src/store/checks/check-runs.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import {
  BY,
  expectPublished,
  newAccount,
  newDomain,
  published,
  saved,
} from '../../support/database/domains.ts';
import { checkOnce, DAY_MS, HOUR_MS, judgedCheck, saveOne } from '../../support/database/saved-checks.ts';
import { followLoaded, untilEqual } from '../../support/processes/follow.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX } from '../../support/zone/customer-records.ts';

const FIRST = 'referral ns1.example.net ns2.example.net';
const SECOND = 'referral ns1.example.org ns2.example.org';
const FOREIGN = 'referral ns1.elsewhere.test ns2.elsewhere.test';
const SETS = [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']];

const { db, url, query } = sharedDatabase();
let me: number;
let they: number;
let domainId: number;

beforeAll(() => migrate(db, { ...TEST_SETTINGS, nameserverSets: SETS }));
beforeEach(async () => {
  me = await newAccount(db, 'me@example.org');
  they = await newAccount(db, 'they@example.org');
  domainId = (await newDomain(db, me)).id;
});

/** Loads the domain's row together with that of its checks. */
const row = async (id = domainId) => ({
  ...(await db.selectFrom('domains').selectAll().where('id', '=', id).executeTakeFirstOrThrow()),
  check: await db
    .selectFrom('domain_checks')
    .selectAll()
    .where('domain_id', '=', id)
    .executeTakeFirstOrThrow(),
});
const runs = async (id = domainId) => await listChecks(db, id, { limit: 200 });
const changes = async (id = domainId) => await listDomainChanges(db, id, { limit: 50 });
const nsOf = async () =>
  (await published(db))?.filter((line) => / NS /.test(line)).map((l) => l.split(' ')[3]);
const codes = async (id = domainId) => (await loadDomainById(db, id))?.findings.map(({ code }) => code);

test('a match activates the domain: status, delegated set, and one change that refers to its check', async () => {
  await saved(db, domainId, ['www A 192.0.2.1']);
  const before = await row();
  const at = Date.now();
  const done = await checkOnce(db, domainId, SECOND, { at });
  expect(done).toMatchObject({ kind: 'saved', transition: { from: 'pending', to: 'active' } });
  if (done.kind !== 'saved') return;
  expect(await row()).toMatchObject({
    status: 'active',
    served: 'full',
    pending_since: null,
    delegated_ns: ['ns1.example.org.', 'ns2.example.org.'],
    findings: [],
    check: {
      current_ns: ['ns1.example.org.', 'ns2.example.org.'],
      parent: 'com.',
      ours_at: new Date(at),
      conclusive_at: new Date(at),
      conclusive_ours: true,
      next_at: new Date(at + 12 * HOUR_MS),
      due_at: new Date(at + 12 * HOUR_MS),
      interval_seconds: 43_200,
      last_run_id: done.checkId,
    },
  });
  expect((await row()).check.seq).toBeGreaterThan(before.check.seq);
  expect(await nsOf()).toEqual(['ns1.example.org.', 'ns2.example.org.']);
  expect((await changes())[0]).toMatchObject({
    id: done.changeId,
    source: 'status',
    actor: { kind: 'system' },
    status: { from: 'pending', to: 'active', checkId: done.checkId },
  });
  const [run] = await runs();
  expect(run).toMatchObject({
    id: done.checkId,
    kind: 'background',
    verdict: 'match',
    statusBefore: 'pending',
    statusAfter: 'active',
    repeated: 0,
    queries: 2,
  });
  expect(run?.matchedNs?.map(printName)).toEqual(['ns1.example.org.', 'ns2.example.org.']);
  const holders = await db.selectFrom('name_holders').selectAll().execute();
  expect(holders).toMatchObject([{ name: 'example.com.', account_id: me }]);
  // Another set at the parent is published without a change of status.
  const again = await checkOnce(db, domainId, FIRST);
  expect(again).toMatchObject({ kind: 'saved', changeId: expect.any(Number) });
  expect(again).not.toHaveProperty('transition');
  expect(await nsOf()).toEqual(['ns1.example.net.', 'ns2.example.net.']);
  expect((await changes())[0]).toMatchObject({ operation: 'nameservers', source: 'status' });
  await expectPublished(db, domainId);
});

test('an equal outcome increments the last run’s counter, and changes neither serial nor change log', async () => {
  const first = (await checkOnce(db, domainId, FIRST)) as { checkId: number };
  const { serial } = await row();
  const at = Date.now() + HOUR_MS;
  for (let i = 1; i <= 3; i++)
    expect(await checkOnce(db, domainId, FIRST, { at: at + i })).toEqual({
      kind: 'saved',
      checkId: first.checkId,
    });
  const [run, ...older] = await runs();
  expect(older).toEqual([]);
  expect(run).toMatchObject({
    repeated: 3,
    statusBefore: 'pending',
    statusAfter: 'active',
    lastSeenAt: new Date(at + 3),
    nextCheckAt: new Date(at + 3 + 12 * HOUR_MS),
  });
  expect(await row()).toMatchObject({ serial, check: { due_at: new Date(at + 3 + 12 * HOUR_MS) } });
  expect(await changes()).toHaveLength(2);
  // A requested check is a separate run,
  const request = '5f0c7d0a-1111-4222-8333-444455556666';
  const asked = await checkOnce(db, domainId, FIRST, { kind: 'manual', request });
  expect(await runs()).toHaveLength(2);
  // and is saved once, even if its job runs twice.
  expect(await checkOnce(db, domainId, FIRST, { kind: 'manual', request })).toEqual(asked);
  expect(await runs()).toHaveLength(2);
  // The next check increments its counter, because it is the newest.
  expect(await checkOnce(db, domainId, FIRST)).toEqual(asked);
});

test('goes from active through misses to moved and disabled, and back', async () => {
  const node = await followLoaded({ databaseUrl: url });
  const start = Date.now();
  await checkOnce(db, domainId, SECOND, { at: start });
  for (const hours of [1, 2]) {
    const saved = await checkOnce(db, domainId, FOREIGN, { at: start + hours * HOUR_MS });
    expect(saved).not.toHaveProperty('transition');
  }
  expect(await row()).toMatchObject({
    check: {
      miss_count: 2,
      first_miss_at: new Date(start + HOUR_MS),
      last_miss_at: new Date(start + 2 * HOUR_MS),
    },
    delegated_ns: ['ns1.example.org.', 'ns2.example.org.'], // clients that still come were sent by these
  });
  expect(await codes()).toEqual(['NS_FOREIGN']);
  expect(await runs()).toHaveLength(2); // the second miss repeats the first outcome
  const moved = await checkOnce(db, domainId, FOREIGN, { at: start + 26 * HOUR_MS });
  expect(moved).toMatchObject({ transition: { from: 'active', to: 'moved' } });
  expect(await row()).toMatchObject({
    status: 'moved',
    moved_since: new Date(start + 26 * HOUR_MS),
    served: 'full',
    delegated_ns: null,
    check: { miss_count: 0 },
  });
  expect(await nsOf()).toEqual(['ns1.example.net.', 'ns2.example.net.']);
  expect(await checkOnce(db, domainId, FIRST, { at: start + 27 * HOUR_MS })).toMatchObject({
    transition: { from: 'moved', to: 'active' },
  });
  expect(await row()).toMatchObject({ moved_since: null });
  expect(await codes()).toEqual([]);
  for (const hours of [40, 50, 70]) await checkOnce(db, domainId, FOREIGN, { at: start + hours * HOUR_MS });
  expect(await row()).toMatchObject({ status: 'moved' });
  await untilEqual(node, db);
  expect(node.zones.has(APEX)).toBe(true);
  const off = await checkOnce(db, domainId, FOREIGN, { at: start + 30 * DAY_MS });
  expect(off).toMatchObject({ transition: { from: 'moved', to: 'disabled' } });
  expect(await row()).toMatchObject({
    status: 'disabled',
    disabled_by: 'checker',
    served: 'none',
    moved_since: null,
    check: {
      due_at: expect.any(Date), // it may recover automatically
      next_at: null,
      interval_seconds: null,
      current_ns: ['ns1.elsewhere.test.', 'ns2.elsewhere.test.'],
    },
  });
  expect(await codes()).toEqual(['NS_FOREIGN']);
  await untilEqual(node, db);
  expect(node.zones.has(APEX)).toBe(false);
  await node.stop();
  await expectPublished(db, domainId);
  const log = (await changes()).flatMap(({ status }) => (status ? [`${status.from} ${status.to}`] : []));
  expect(log.reverse()).toEqual([
    'null pending',
    'pending active',
    'active moved',
    'moved active',
    'active moved',
    'moved disabled',
  ]);
  expect(new Set((await changes()).slice(0, 5).map(({ status }) => status?.checkId))).toEqual(
    new Set((await runs()).filter((r) => r.statusBefore !== r.statusAfter).map((r) => r.id)),
  );
});

test('replaces the findings of checks, and keeps those of other writers', async () => {
  await checkOnce(db, domainId, 'referral ns1.example.net');
  expect(await codes()).toEqual(['NS_MISSING']);
  await query`update domains set findings = '[{"code": "ANAME_FAILS", "message": "x"}]'::jsonb || findings`;
  for (const [said, expected] of [
    ['nxdomain', ['ANAME_FAILS', 'NOT_REGISTERED']],
    ['nxdomain', ['ANAME_FAILS', 'NOT_REGISTERED']],
    ['nodata', ['ANAME_FAILS', 'NOT_DELEGATED']],
    [FIRST, ['ANAME_FAILS']],
    [FIRST, ['ANAME_FAILS']],
  ] as const) {
    await checkOnce(db, domainId, said);
    expect(await codes()).toEqual(expected);
  }
});

test('a static set that the first check sees no longer proves the claim, and another one does', async () => {
  const { id } = await newDomain(db, me, 'preset.test.', { exempt: false });
  expect(await row(id)).toMatchObject({ open: false, ns_sets: null, served: 'apex' });
  const stands = await checkOnce(db, id, FIRST);
  expect(stands).toMatchObject({ kind: 'saved', changeId: expect.any(Number) });
  expect(stands).not.toHaveProperty('transition');
  expect(await row(id)).toMatchObject({
    status: 'pending',
    ns_sets: [{ names: ['ns1.example.org.', 'ns2.example.org.'], exclusive: false }],
    served: 'apex',
  });
  expect(await codes(id)).toEqual(['PRESET_DELEGATION']);
  expect((await loadDomainById(db, id))?.nameserverSets.map((set) => set.map(printName))).toEqual([
    ['ns1.example.org.', 'ns2.example.org.'],
  ]);
  await expectPublished(db, id);
  expect(await checkOnce(db, id, FIRST)).not.toHaveProperty('transition');
  // An absent delegation does not restore the set.
  await checkOnce(db, id, 'nodata');
  expect(await checkOnce(db, id, FIRST)).not.toHaveProperty('transition');
  expect(await checkOnce(db, id, SECOND)).toMatchObject({ transition: { from: 'pending', to: 'active' } });
  expect(await row(id)).toMatchObject({ served: 'full' });
  expect(await codes(id)).toEqual(['NS_UNSTEADY']);
  await expectPublished(db, id);
});

test('the whole zone is answered after a conclusive check that shows none of the fleet’s names', async () => {
  const { id } = await newDomain(db, me, 'fresh.test.', { exempt: false });
  expect(await checkOnce(db, id, 'timeout')).not.toHaveProperty('changeId');
  expect(await row(id)).toMatchObject({ served: 'apex' });
  expect(await checkOnce(db, id, FOREIGN)).toHaveProperty('changeId');
  expect(await row(id)).toMatchObject({ status: 'pending', served: 'full', open: true });
  const { serial } = await row(id);
  expect(await checkOnce(db, id, FOREIGN)).not.toHaveProperty('changeId');
  expect(await checkOnce(db, id, 'timeout')).not.toHaveProperty('changeId');
  expect(await row(id)).toMatchObject({ served: 'full', serial });
  await expectPublished(db, id);
});

test('a leaving domain is served until the parent no longer delegates to the fleet', async () => {
  await checkOnce(db, domainId, FIRST);
  await updateDomain(db, { ...BY, domainId, set: { dnsMode: 'external' } });
  expect(await row()).toMatchObject({ status: 'unverified', leaving: true, served: 'full' });
  expect(await checkOnce(db, domainId, FIRST)).not.toHaveProperty('transition');
  expect(await row()).toMatchObject({ leaving: true, check: { next_at: null } });
  expect((await row()).check.due_at).not.toBeNull();
  expect(await checkOnce(db, domainId, FOREIGN)).toMatchObject({
    changeId: expect.any(Number),
    transition: { from: 'leaving', to: 'left' },
  });
  expect(await row()).toMatchObject({
    status: 'unverified',
    leaving: false,
    served: 'none',
    check: { due_at: null },
  });
  expect((await row()).findings).toEqual([]); // nothing to change at the registrar in external mode
  expect((await runs())[0]).toMatchObject({
    statusBefore: 'leaving',
    statusAfter: 'left',
    nextCheckAt: null,
  });
  await expectPublished(db, domainId);
});

test('any change of the domain during the check takes precedence, and the check saves nothing', async () => {
  const cases: [string, () => Promise<unknown>, 'conflict' | 'absent'][] = [
    ['ban', () => changeStatus(db, { ...BY, domainId, event: 'ban' }), 'conflict'],
    ['unban', () => changeStatus(db, { ...BY, domainId, event: 'unban', exempt: true }), 'conflict'],
    [
      'off and on',
      async () => {
        await changeStatus(db, { ...BY, domainId, event: 'disable' });
        await changeStatus(db, { ...BY, domainId, event: 'enable', exempt: true });
      },
      'conflict',
    ],
    ['switch', () => updateDomain(db, { ...BY, domainId, set: { dnsMode: 'external' } }), 'conflict'],
    ['switch back', () => updateDomain(db, { ...BY, domainId, set: { dnsMode: 'managed' } }), 'conflict'],
    ['approve', () => approveDomain(db, { ...BY, domainId }), 'conflict'],
    ['delete', () => deleteDomain(db, { ...BY, domainId }), 'absent'],
  ];
  let order = await judgedCheck(db, domainId, FIRST);
  for (const [what, happen, kind] of cases) {
    if (what === 'approve') {
      await query`update domains set open = false where id = ${domainId}`;
      order = await judgedCheck(db, domainId, FIRST);
    }
    await happen();
    const before = await row();
    expect([what, await saveOne(db, order)]).toEqual([what, { kind }]);
    expect(await row()).toEqual(before);
    expect(await runs()).toEqual([]);
    if (before.check.due_at !== null) order = await judgedCheck(db, domainId, FIRST);
  }
  expect(await saveOne(db, { ...order, orders: [{ ...order.orders[0], domainId: 4711 }] })).toEqual({
    kind: 'absent',
  });
});

describe('with another account’s claim of the name', () => {
  let theirs: number;
  const mine = async () =>
    `referral ${((await loadDomainById(db, domainId))?.nameserverSets[0] ?? []).map(printName).join(' ')}`;
  beforeEach(async () => {
    theirs = (await newDomain(db, they)).id;
  });

  test.each<[string, () => Promise<unknown>]>([
    ['is deleted', () => deleteDomain(db, { ...BY, domainId: theirs })],
    [
      'is deleted and created again',
      async () => {
        await deleteDomain(db, { ...BY, domainId: theirs });
        await newDomain(db, they);
      },
    ],
    ['is disabled', () => changeStatus(db, { ...BY, domainId: theirs, event: 'disable' })],
    [
      'goes to external mode',
      () => updateDomain(db, { ...BY, domainId: theirs, set: { dnsMode: 'external' } }),
    ],
    [
      'has an incremented seq',
      () => query`update domain_checks set seq = seq + 1 where domain_id = ${theirs}`,
    ],
  ])('a domain becomes active although that claim %s during the check', async (_, happen) => {
    const order = await judgedCheck(db, domainId, await mine());
    expect(order.orders).toHaveLength(2);
    await happen();
    const before = await row(theirs);
    const after = await saveOne(db, order);
    expect(after).toMatchObject({ kind: 'saved', transition: { from: 'pending', to: 'active' } });
    expect(after).not.toHaveProperty('others');
    expect((await row()).status).toBe('active');
    expect((await row(theirs)).check).toEqual(before.check);
    expect(await runs(theirs)).toEqual([]);
  });

  test('the sets of a claim that has changed in the meantime are not given up', async () => {
    const order = await judgedCheck(db, domainId, await mine());
    await query`update domain_checks set seq = seq + 1 where domain_id = ${theirs}`;
    const rights = () => db.selectFrom('ns_rights').selectAll().where('account_id', '=', they).execute();
    const before = await rights();
    expect(before).not.toEqual([]);
    const givenUp = before.map(({ names }) => ({ accountId: they, sets: [names] }));
    expect(await saveOne(db, { ...order, givenUp })).toMatchObject({ kind: 'saved' });
    expect(await rights()).toEqual(before);
  });

  test('a name that is held in the meantime is not given to another domain', async () => {
    const order = await judgedCheck(db, domainId, await mine());
    await query`update domains set status = 'active', dns_mode = 'external' where id = ${theirs}`;
    expect(await saveOne(db, order)).toEqual({ kind: 'conflict' });
    await query`update domains set status = 'pending', dns_mode = 'managed' where id = ${theirs}`;
    const third = await newDomain(db, await newAccount(db, 'third@example.org'));
    await query`update domains set status = 'active', dns_mode = 'external' where id = ${third.id}`;
    expect(await saveOne(db, order)).toEqual({ kind: 'conflict' });
    expect((await row()).status).toBe('pending');
  });

  test('a deleted or changed holder invalidates the check', async () => {
    await checkOnce(db, domainId, await mine());
    const changed = await judgedCheck(db, theirs, await mine());
    expect(changed.holders).toEqual([domainId]);
    await query`update domain_checks set seq = seq + 1 where domain_id = ${domainId}`;
    expect(await saveOne(db, changed)).toEqual({ kind: 'conflict' });
    const gone = await judgedCheck(db, theirs, await mine());
    await deleteDomain(db, { ...BY, domainId });
    expect(await saveOne(db, gone)).toEqual({ kind: 'conflict' });
    expect(await runs(theirs)).toHaveLength(1);
  });

  test('the claim that would get the name must be unchanged', async () => {
    const order = await judgedCheck(db, theirs, await mine());
    await updateDomain(db, { ...BY, domainId, set: { dnsMode: 'external' } });
    expect(await saveOne(db, order)).toEqual({ kind: 'conflict' });
  });
});

test('exactly one of several saves of one state succeeds', async () => {
  for (const said of [FIRST, FIRST, FOREIGN]) {
    const orders = await Promise.all(Array.from({ length: 6 }, () => judgedCheck(db, domainId, said)));
    const kinds = (await Promise.all(orders.map((order) => saveOne(db, order)))).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual([...Array<string>(5).fill('conflict'), 'saved']);
  }
  expect((await runs()).map(({ repeated }) => repeated)).toEqual([0, 1]);
});

test('a save that fails midway changes nothing', async () => {
  const order = await judgedCheck(db, domainId, FIRST);
  const before = await row();
  const log = await changes();
  await query`alter table domain_changes add constraint broken check (status_to <> 'active') not valid`;
  await expect(saveOne(db, order)).rejects.toThrow('broken');
  expect(await row()).toEqual(before);
  expect(await runs()).toEqual([]);
  expect(await changes()).toEqual(log);
  await query`alter table domain_changes drop constraint broken`;
  expect(await saveOne(db, order)).toMatchObject({ kind: 'saved', transition: { to: 'active' } });
});

test('an active domain takes other accounts’ claims inside it, and keeps those of its own account', async () => {
  const theirsInside = await newDomain(db, they, 'a.b.example.com.');
  const mineInside = await newDomain(db, me, 'mine.example.com.');
  const beside = await newDomain(db, they, 'notexample.com.');
  const late = await judgedCheck(db, theirsInside.id, FIRST);
  await checkOnce(db, domainId, FIRST);
  expect(await row(theirsInside.id)).toMatchObject({
    status: 'disabled',
    disabled_by: 'checker',
    served: 'none',
    check: { next_at: null },
  });
  expect(await codes(theirsInside.id)).toEqual(['CLAIM_LOST']);
  expect((await changes(theirsInside.id))[0]).toMatchObject({
    status: { from: 'pending', to: 'disabled' },
  });
  expect(await row(mineInside.id)).toMatchObject({ status: 'pending', served: 'full' });
  expect(await row(beside.id)).toMatchObject({ status: 'pending', served: 'full' });
  expect(await saveOne(db, late)).toEqual({ kind: 'conflict' });
  await expectPublished(db, domainId, theirsInside.id, mineInside.id, beside.id);
});

test('only one of two nested claims that are activated concurrently becomes active', async () => {
  const inside = await newDomain(db, they, 'inside.example.com.');
  const orders = [await judgedCheck(db, domainId, FIRST), await judgedCheck(db, inside.id, FIRST)];
  await Promise.all(orders.map((order) => saveOne(db, order)));
  const statuses = [(await row()).status, (await row(inside.id)).status];
  expect([
    ['active', 'disabled'],
    ['pending', 'active'],
  ]).toContainEqual(statuses);
  await expectPublished(db, domainId, inside.id);
});

test('a claim around active domains of another account ends those that its records do not delegate', async () => {
  const inside = await newDomain(db, they, 'inside.example.com.');
  const delegated = await newDomain(db, they, 'delegated.example.com.');
  for (const { id } of [inside, delegated]) await checkOnce(db, id, FIRST);
  await saved(db, domainId, ['delegated NS ns1.example.net', 'delegated NS ns2.example.net']);
  await query`delete from name_holders`;
  expect(await checkOnce(db, domainId, FIRST)).toMatchObject({ transition: { to: 'active' } });
  expect(await row()).toMatchObject({ status: 'active', served: 'full' });
  expect(await row(inside.id)).toMatchObject({
    status: 'disabled',
    disabled_by: 'checker',
    served: 'none',
  });
  expect(await codes(inside.id)).toEqual(['CLAIM_LOST']);
  expect(await row(delegated.id)).toMatchObject({ status: 'active', served: 'full' });
  // It held its name until now.
  const held = await db.selectFrom('name_holders').select(['name', 'account_id']).orderBy('name').execute();
  expect(held).toEqual([
    { name: 'example.com.', account_id: me },
    { name: 'inside.example.com.', account_id: they },
  ]);
  await expectPublished(db, domainId, inside.id, delegated.id);
});

test('a set that is no longer accepted activates nothing', async () => {
  const order = await judgedCheck(db, domainId, SECOND);
  await migrate(db, TEST_SETTINGS);
  expect(await saveOne(db, order)).toEqual({ kind: 'conflict' });
});

test('disabling a domain lets a pending domain inside it be answered', async () => {
  await checkOnce(db, domainId, FIRST, { at: Date.now() - 60 * DAY_MS });
  for (const days of [50, 48, 46]) await checkOnce(db, domainId, FOREIGN, { at: Date.now() - days * DAY_MS });
  expect(await row()).toMatchObject({ status: 'moved' });
  const inside = await newDomain(db, me, 'inside.example.com.');
  await query`update domains set account_id = ${they}, served = 'none' where id = ${inside.id}`;
  await checkOnce(db, domainId, FOREIGN);
  expect(await row()).toMatchObject({ status: 'disabled' });
  expect(await row(inside.id)).toMatchObject({ status: 'pending', served: 'full' });
  await expectPublished(db, domainId, inside.id);
});
