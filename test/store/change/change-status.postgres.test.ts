// What people may do to a domain's status, and what is served after it.

import { beforeEach, expect, test } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import type { StatusEvent } from '../../../src/zone/domain/domain-status.ts';
import {
  BY,
  expectPublished,
  limitClaims,
  newAccount,
  newDomain,
  saved,
} from '../../support/database/domains.ts';
import { followLoaded, untilEqual } from '../../support/processes/follow.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';

const { db, url } = sharedDatabase();
let domainId: number;

beforeEach(async () => {
  domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
});

const row = () =>
  db
    .selectFrom('domains')
    .select(['status', 'account_id'])
    .where('id', '=', domainId)
    .executeTakeFirstOrThrow();
const move = (event: StatusEvent, rest = {}) =>
  changeStatus(db, { ...BY, domainId, event, exempt: true, ...rest });

test('each move is one change; a domain that is off is taken from the nodes, and comes back as it was', async () => {
  const node = await followLoaded({ databaseUrl: url });
  await saved(db, domainId, ['@ TXT x', 'www A 192.0.2.1', 'p A 192.0.2.1 ; proxied']);
  const steps: [StatusEvent, string, boolean][] = [
    ['disable', 'disabled', false],
    ['ban', 'banned', false],
    ['unban', 'pending', true],
    ['ban', 'banned', false],
    ['disable', 'disabled', false],
    ['enable', 'pending', true],
    ['use_external', 'unverified', false], // nothing was proved: nobody was sent here
    ['use_managed', 'pending', true],
  ];
  for (const [event, status, isServed] of steps) {
    expect(await move(event)).toMatchObject({ kind: 'updated', domain: { status } });
    await expectPublished(db, domainId);
    await untilEqual(node, db);
    expect([event, node.zones.has(APEX)]).toEqual([event, isServed]);
  }
  expect(node.zones.get(APEX)?.records).toBe(7);
  const log = await listDomainChanges(db, domainId, { limit: steps.length });
  expect(log.map(({ status }) => `${status?.from} ${status?.to}`).reverse()).toEqual(
    steps.map(([, to], i) => `${i === 0 ? 'pending' : steps[i - 1]?.[1]} ${to}`),
  );
  expect(log.every(({ source, operation }) => source === 'status' && operation === 'status')).toBe(true);
  await node.stop();
});

test('enable makes no more domains wait than a create may; operators have no limit', async () => {
  await newDomain(db, (await row()).account_id, 'waits.test.');
  await move('disable');
  const enable = (rest = {}) => move('enable', { exempt: false, ...rest });
  expect(await enable({ claimsPerAccount: 1 })).toMatchObject({
    kind: 'refused',
    code: 'plan_limit',
    limit: 1,
  });
  const restore = await limitClaims(db, 1);
  expect(await enable()).toMatchObject({ kind: 'refused', code: 'plan_limit', limit: 1 });
  await restore();
  expect((await row()).status).toBe('disabled');
  expect(await enable({ claimsPerAccount: 2 })).toMatchObject({ kind: 'updated' });
  expect(await enable({ claimsPerAccount: 0 })).toMatchObject({ code: 'wrong_state' });
  await move('disable');
  expect(await move('enable')).toMatchObject({ kind: 'updated' });
});

test('a move that is not allowed, or comes too late, changes nothing', async () => {
  expect(await move('enable')).toMatchObject({ kind: 'refused', code: 'wrong_state' });
  expect(await move('use_managed')).toMatchObject({ kind: 'updated', changeId: undefined });
  expect(await move('disable', { expected: 'active' })).toMatchObject({
    kind: 'refused',
    code: 'wrong_state',
  });
  expect(await move('enable', { domainId: 4711 })).toEqual({ kind: 'absent' });
  await move('ban');
  expect(await move('enable')).toMatchObject({ code: 'domain_banned' });
  const refused = await saveEdit(db, { ...BY, domainId, edit: edit({ create: ['a A 192.0.2.1'] }) });
  expect(refused).toMatchObject({ kind: 'refused', code: 'domain_banned' });
  expect(await listDomainChanges(db, domainId, { limit: 9 })).toHaveLength(2);
});

test('a name that comes back from another account goes on with the serial that it had there', async () => {
  await move('disable');
  await db.updateTable('domains').set({ disabled_by: 'checker' }).where('id', '=', domainId).execute();
  const other = await newDomain(db, await newAccount(db, 'b@example.org'));
  for (const host of ['a', 'b', 'c']) await saved(db, other.id, [`${host} A 192.0.2.1`]);
  const deleted = await deleteDomain(db, { ...BY, domainId: other.id });
  if (deleted.kind !== 'deleted') throw new Error(deleted.kind);
  expect(await move('enable')).toMatchObject({ kind: 'updated', domain: { serial: deleted.serial + 1 } });
  await expectPublished(db, domainId);
});

test('of moves at once each is judged by what the one before left', async () => {
  const kinds = await Promise.all(Array.from({ length: 8 }, async () => (await move('disable')).kind));
  expect(kinds.sort()).toEqual([...Array<string>(7).fill('refused'), 'updated']);
});

test('a domain that never was managed is not served, and has a fresh challenge each time', async () => {
  const external = await newDomain(db, (await row()).account_id, 'ext.example.com.', { dnsMode: 'external' });
  await move('disable', { domainId: external.id });
  const enabled = await move('enable', { domainId: external.id });
  expect(enabled).toMatchObject({ kind: 'updated', domain: { status: 'unverified', served: 'none' } });
  if (enabled.kind !== 'updated') return;
  expect(enabled.domain.verification?.value).not.toBe(external.verification?.value);
  await expectPublished(db, external.id);
});
