// Transfers of domains: the old account keeps nothing of the name, and what nodes serve does not change.

import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Name, printName } from '../../../src/dns/name.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { updateAccount } from '../../../src/store/accounts/accounts.ts';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { type HandOverOrder, handOver } from '../../../src/store/change/hand-over.ts';
import { createDomain, deleteDomain } from '../../../src/store/change/save-domain.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { listAccountChanges, listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { createInvite } from '../../../src/store/sharing/invites.ts';
import {
  expectPublished,
  newAccount,
  newDomain,
  published,
  saved,
  wantedDomain,
} from '../../support/database/domains.ts';
import { saveMembership } from '../../support/database/memberships.ts';
import { newPoolAccount, POOL } from '../../support/database/pool-accounts.ts';
import { checkOnce, judgedCheck, saveOne } from '../../support/database/saved-checks.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { edit } from '../../support/zone/customer-records.ts';

const CLI = { by: { kind: 'cli', name: 'root' }, source: 'cli' } as const;
const ANNS = 'referral ns1.a.example ns1.b.example';
const BOBS = 'referral ns2.a.example ns2.b.example';
const CARLS = 'referral ns3.a.example ns3.b.example';

const shown = (set: readonly Name[]) => set.map(printName).join(' ');

const { db, query, value, column } = sharedDatabase();
let ann: number;
let bob: number;
let id: number;

beforeAll(() => migrate(db, POOL));
beforeEach(async () => {
  ann = await newPoolAccount(db, 'ann@example.org', 1);
  bob = await newPoolAccount(db, 'bob@example.org', 2);
  ({ id } = await newDomain(db, ann, 'example.com.', { exempt: false }));
  await saved(db, id, ['www A 192.0.2.1']);
});

const pass = (more: Partial<HandOverOrder> = {}) =>
  handOver(db, { ...CLI, domainId: id, accountId: bob, ...more });
const activate = async (domainId = id, said = ANNS) => {
  expect(await checkOnce(db, domainId, said)).toMatchObject({ transition: { to: 'active' } });
};
const read = (domainId = id) => loadDomainById(db, domainId);
const feed = () => value<number>`select count(*)::integer as count from changes`;
const rightsOf = (accountId: number) =>
  column<string>`select array_to_string(names, ' ') from ns_rights where account_id = ${accountId} order by 1`;

describe('an active domain', () => {
  beforeEach(() => activate());

  test('keeps its status, serial, times and zone, and stays active after the scheduled check', async () => {
    const [before, zone, changes] = [await read(), await published(db), await feed()];
    const came = await pass();
    expect(came).toMatchObject({ kind: 'passed', domains: [{ domain: { accountId: bob }, members: 0 }] });
    const { accountId: _, updatedAt: __, nameserverSets: sets, ...after } = (await read()) ?? {};
    const { accountId: ___, updatedAt: ____, nameserverSets: setsBefore, ...was } = before ?? {};
    expect(after).toEqual(was);
    expect(await published(db)).toEqual(zone);
    // Nodes receive no change.
    expect(await feed()).toBe(changes);
    expect(sets?.[0]).toEqual(setsBefore?.[0]);
    await expectPublished(db, id);
    expect(await checkOnce(db, id, ANNS)).toMatchObject({ kind: 'saved' });
    expect(await read()).toMatchObject({ status: 'active', served: 'full', serial: before?.serial });
    expect(await published(db)).toEqual(zone);
    // The new account's set proves it too, but no other sets.
    const both = ['ns1.a.example. ns1.b.example.', 'ns2.a.example. ns2.b.example.'];
    expect((await read())?.nameserverSets.map(shown)).toEqual(both);
    expect(await checkOnce(db, id, BOBS)).toMatchObject({ kind: 'saved' });
    expect(await value`select miss_count from domain_checks where domain_id = ${id}`).toBe(0);
  });

  test('leaves the old account without rights, whose own set no longer proves the name', async () => {
    await pass();
    expect(await rightsOf(ann)).toEqual([]);
    expect(await rightsOf(bob)).toEqual(['ns1.a.example. ns1.b.example.', 'ns2.a.example. ns2.b.example.']);
    const again = await createDomain(db, wantedDomain(ann, 'example.com.', { transfer: true }));
    if (again.kind !== 'created') throw new Error(again.message);
    expect(again.domain.nameserverSets.map(shown)).toEqual([expect.not.stringContaining('ns1.')]);
    const at = Date.now();
    for (const minutes of [0, 2, 4])
      await checkOnce(db, again.domain.id, ANNS, { at: at + minutes * 60_000 });
    expect(await read(again.domain.id)).toMatchObject({ status: 'pending' });
    expect(await read()).toMatchObject({ status: 'active', accountId: bob });
    expect(await value`select account_id from name_holders where name = 'example.com.'`).toBe(bob);
  });

  test('takes its subscription and overrides along', async () => {
    const termId = (await addTerm(db, 'pro', { days: 30, priceRials: 5000 }))?.terms.at(-1)?.id as number;
    await setPlan(db, { domainId: id, planSlug: 'pro', termId, overrides: { max_records: 7 } });
    const rows = () => query<object>`select * from subscriptions where domain_id = ${id} order by id`;
    const before = await rows();
    await pass();
    expect(await rows()).toEqual(before.map((row) => ({ ...row, account_id: bob })));
    expect((await read())?.plan?.maxRecords).toBe(7);
  });

  test('is not shared with its new owner, and keeps other members unless they are removed on request', async () => {
    const eve = await newAccount(db, 'eve@example.org');
    await saveMembership(db, id, bob, 'editor');
    await saveMembership(db, id, eve, 'viewer');
    expect(await pass()).toMatchObject({ domains: [{ members: 1 }] });
    const members = () => db.selectFrom('memberships').select(['account_id', 'role']).execute();
    expect(await members()).toEqual([{ account_id: eve, role: 'viewer' }]);
    expect(await pass({ accountId: ann, withoutMembers: true })).toMatchObject({
      domains: [{ members: 0 }],
    });
    expect(await members()).toEqual([]);
  });

  test('loses open invites of accounts that may no longer share it', async () => {
    const eve = await newAccount(db, 'eve@example.org');
    await saveMembership(db, id, eve, 'admin');
    const invite = (accountId: number | undefined, email: string) => {
      const sharer = accountId === undefined ? 'operator' : { accountId, isAdmin: false };
      return createInvite(db, { domainId: id, email, role: 'viewer', inviter: { sharer, mails: false } });
    };
    await invite(ann, 'of-ann@example.net');
    await invite(eve, 'of-eve@example.net');
    await invite(undefined, 'of-operator@example.net');
    await pass();
    expect(await column`select email || ' ' || status from invites order by id`).toEqual([
      'of-ann@example.net revoked',
      'of-eve@example.net open',
      'of-operator@example.net open',
    ]);
  });

  test('ignores a check that started earlier, and accepts the next one', async () => {
    const began = await judgedCheck(db, id, 'nxdomain');
    await pass();
    expect(await saveOne(db, began)).toEqual({ kind: 'conflict' });
    expect(await checkOnce(db, id, ANNS)).toMatchObject({ kind: 'saved' });
    expect(await read()).toMatchObject({ status: 'active' });
  });

  test('can no longer be changed by calls authorized for its old owner', async () => {
    await pass();
    const mine = { ...CLI, domainId: id, ownerId: ann };
    expect(await saveEdit(db, { ...mine, edit: edit({ create: ['x A 192.0.2.2'] }) })).toMatchObject({
      kind: 'refused',
      code: 'not_found',
    });
    expect(await updateDomain(db, { ...mine, set: { dnsMode: 'external' } })).toEqual({ kind: 'absent' });
    expect(await changeStatus(db, { ...mine, event: 'disable' })).toEqual({ kind: 'absent' });
    expect(await deleteDomain(db, mine)).toEqual({ kind: 'absent' });
    expect(await deleteDomain(db, { ...mine, ownerId: bob })).toMatchObject({ kind: 'deleted' });
  });

  test('accepts a concurrent edit before the transfer, or rejects it', async () => {
    const edits = Array.from({ length: 12 }, (_, i) => {
      const create = [`n${i} A 192.0.2.${i + 1}`];
      return saveEdit(db, { ...CLI, domainId: id, ownerId: ann, edit: edit({ create }) });
    });
    const moved = pass();
    const kinds = (await Promise.all(edits)).map(({ kind }) => kind);
    expect(await moved).toMatchObject({ kind: 'passed' });
    const counts = await query`
        select count(*) filter (where c.id < m.id)::integer as before, count(*) filter (where c.id > m.id)::integer as after
        from domain_changes c, (select max(id) as id from domain_changes where operation = 'move') m
        where c.operation = 'edit' and c.account_id = ${ann}`;
    expect(counts).toEqual([{ before: kinds.filter((kind) => kind === 'saved').length + 1, after: 0 }]);
    await expectPublished(db, id);
  });

  test('never gives the new account two domains of the name, even if it claims the name concurrently', async () => {
    const claim = createDomain(db, wantedDomain(bob, 'example.com.', { transfer: true }));
    const [created, moved] = await Promise.all([claim, pass()]);
    expect(await query`select id from domains where account_id = ${bob} and deleted_at is null`).toHaveLength(
      1,
    );
    expect([created.kind, moved.kind].sort()).toEqual(
      created.kind === 'created' ? ['created', 'refused'] : ['passed', 'taken'],
    );
  });

  test('continues a takeover that had started', async () => {
    const carl = await newPoolAccount(db, 'carl@example.org', 3);
    const claim = await newDomain(db, carl, 'example.com.', { exempt: false, transfer: true });
    const at = Date.now();
    await checkOnce(db, claim.id, CARLS, { at });
    await pass();
    await checkOnce(db, claim.id, CARLS, { at: at + 61_000 });
    expect(await read(claim.id)).toMatchObject({ status: 'active' });
    expect(await read()).toMatchObject({ status: 'disabled', accountId: bob });
    expect(await query`select from_account_id as "from" from name_takeovers`).toEqual([{ from: bob }]);
  });
});

test('shows the transfer to both accounts, with the operator as actor', async () => {
  await activate();
  await pass();
  await saved(db, id, ['later A 192.0.2.9']);
  const seen = async (accountId: number) =>
    (await listAccountChanges(db, { accountId, isAdmin: false }, {}, { limit: 50 })).map(
      ({ operation, role, status }) => ({ operation, role, from: status?.from, to: status?.to }),
    );
  const asViewer = { role: 'viewer' };
  expect(await seen(ann)).toMatchObject([
    { operation: 'create', ...asViewer },
    { operation: 'edit', ...asViewer },
    { operation: 'status', ...asViewer },
    { operation: 'move', ...asViewer, from: 'active', to: null },
  ]);
  expect(await seen(bob)).toMatchObject([
    { operation: 'move', role: 'owner', from: null, to: 'active' },
    { operation: 'edit', role: 'owner' },
  ]);
  // If the old account becomes a member, it sees no change twice.
  await saveMembership(db, id, ann, 'viewer');
  const operations = (await seen(ann)).map(({ operation }) => operation);
  expect(operations.join(' ')).toBe('create edit status move move edit');
  const log = await listDomainChanges(db, id, { limit: 50, descending: false });
  expect(log.map(({ isFormer }) => isFormer)).toEqual([true, true, true, true, false, false]);
  expect(log[3]).toMatchObject({ actor: CLI.by, source: 'cli', serial: log[2]?.serial });
});

test('keeps the clocks, TXT record and turn of a waiting domain', async () => {
  const carl = await newPoolAccount(db, 'carl@example.org', 3);
  await newDomain(db, carl, 'example.com.', { exempt: false });
  await checkOnce(db, id, 'nxdomain');
  const row = async () =>
    (
      await query<{ value: string }>`
        select d.status, d.served, d.serial, d.pending_since, d.claimed_at, d.turn_from, d.turn_until, d.zone_id,
          v.value, v.expires_at, v.account_id as verified_for, c.due_at, c.next_at, c.account_id as checked_for
        from domains d join domain_checks c on c.domain_id = d.id left join domain_verifications v on v.domain_id = d.id
        where d.id = ${id}`
    )[0] as { value: string };
  const before = await row();
  expect(before.value).toMatch(/^svc-verify=/);
  await pass();
  expect(await row()).toEqual({ ...before, verified_for: bob, checked_for: bob });
  await activate();
  expect(await read()).toMatchObject({ accountId: bob, status: 'active' });
});

describe('is rejected without effect', () => {
  const unchanged = async (work: () => Promise<unknown>, outcome: object) => {
    const all = () =>
      query`select (select json_agg(d order by id) from domains d) as domains, (select json_agg(r) from ns_rights r) as rights,
          (select count(*) from domain_changes) as log`;
    const before = await all();
    expect(await work()).toMatchObject(outcome);
    expect(await all()).toEqual(before);
  };

  test.each(['pending', 'banned'])('if the account has a %s domain of the name', async (status) => {
    await activate();
    const theirs = await newDomain(db, bob, 'example.com.', { exempt: false, transfer: true });
    if (status === 'banned') await changeStatus(db, { ...CLI, domainId: theirs.id, event: 'ban' });
    await unchanged(pass, {
      kind: 'refused',
      code: 'taken',
      message: expect.stringContaining(`(id ${theirs.id}, ${status})`),
    });
    await deleteDomain(db, { ...CLI, domainId: theirs.id });
    expect(await pass()).toMatchObject({ kind: 'passed' });
  });

  test('for an unknown or deactivated account', async () => {
    await unchanged(() => pass({ accountId: 999_999 }), { code: 'no_account' });
    await updateAccount(db, bob, { active: false });
    await unchanged(pass, { code: 'no_account', message: expect.stringContaining('deactivated') });
  });

  test('for a deleted or unknown domain', async () => {
    await unchanged(() => pass({ domainId: 999_999 }), { kind: 'absent' });
    await deleteDomain(db, { ...CLI, domainId: id });
    await unchanged(pass, { kind: 'absent' });
  });

  test('as a dry run, which reports what would happen', async () => {
    await activate();
    await unchanged(() => pass({ dryRun: true }), {
      kind: 'passed',
      domains: [{ domain: { id, accountId: bob } }],
      room: { domains: 1 },
    });
  });
});

test('has no effect if the account already owns the domain', async () => {
  const before = await read();
  expect(await pass({ accountId: ann })).toMatchObject({
    kind: 'passed',
    domains: [{ changeId: undefined }],
  });
  expect(await read()).toEqual(before);
});

describe('nested domains of one account', () => {
  let inner: number;
  beforeEach(async () => {
    await activate();
    ({ id: inner } = await newDomain(db, ann, 'shop.example.com.', { exempt: false }));
    await activate(inner);
  });

  test('are transferred together, because otherwise the inner one would end at the next check of the outer one', async () => {
    expect(await pass()).toMatchObject({ kind: 'refused', code: 'bound', names: ['shop.example.com.'] });
    expect(await pass({ domainId: inner })).toMatchObject({ code: 'bound', names: ['example.com.'] });
    const zones = async () => [await published(db), (await read(inner))?.serial];
    const before = await zones();
    expect(await pass({ domainId: inner, withFamily: true })).toMatchObject({
      kind: 'passed',
      domains: [{ domain: { id: inner } }, { domain: { id } }],
      room: { domains: 2 },
    });
    expect(await zones()).toEqual(before);
    for (const domainId of [id, inner])
      expect(await read(domainId)).toMatchObject({ accountId: bob, status: 'active', served: 'full' });
  });

  test('are all rejected if one is, and can be separated if the outer one delegates the inner one', async () => {
    await newDomain(db, bob, 'shop.example.com.', { exempt: false, transfer: true });
    expect(await pass({ withFamily: true })).toMatchObject({ code: 'taken' });
    expect(await read()).toMatchObject({ accountId: ann });
    await saved(db, id, ['shop NS ns1.a.example.', 'shop NS ns1.b.example.']);
    expect(await pass()).toMatchObject({ kind: 'passed', domains: [{ domain: { id } }] });
    // The outer domain is proved again.
    await query`update domains set status = 'moved', moved_since = now() where id = ${id}`;
    await activate();
    expect(await read(inner)).toMatchObject({ accountId: ann, status: 'active', served: 'full' });
  });
});

test('are locked in the order of their ids, regardless of the requested one', async () => {
  const outer = await newDomain(db, ann, 'outer.test.');
  const inner = await newDomain(db, ann, 'in.outer.test.');
  await query`update domains set status = 'active' where id = any(${[outer.id, inner.id]}::bigint[])`;
  const holder = await db.startTransaction().execute();
  await sql`select from domains where id = ${outer.id} for update`.execute(holder);
  const passing = pass({ domainId: inner.id, withFamily: true });
  try {
    const waits = async () =>
      (await value<number>`
            select count(*)::integer as count from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`) === 1;
    await until(waits, 'it waits for the first of its locks');
    // A transaction that waits for the first domain must not hold the second one.
    const free = await sql`select from domains where id = ${inner.id} for update nowait`.execute(holder);
    expect(free.rows).toHaveLength(1);
  } finally {
    await holder.rollback().execute();
    await passing;
  }
  expect(await passing).toMatchObject({ kind: 'passed' });
  expect([(await read(outer.id))?.accountId, (await read(inner.id))?.accountId]).toEqual([bob, bob]);
});
