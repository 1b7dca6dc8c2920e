// The operator says which set proves a domain: the one that the parent shows, or any other of ours.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Name } from '../../../src/dns/name.ts';
import { approveDomain } from '../../../src/store/change/approve-domain.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import { expectPublished, newAccount, newDomain, published, saved } from '../../support/database/domains.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const SETS = [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']];
const CLI = { by: { kind: 'cli', name: 'root' }, source: 'cli' } as const;

const { db, query } = sharedDatabase();
let accountId: number;
let id: number;

beforeAll(async () => {
  await migrate(db, { ...TEST_SETTINGS, nameserverSets: SETS });
});
beforeEach(async () => {
  accountId = await newAccount(db, 'a@example.org');
  ({ id } = await newDomain(db, accountId));
  await saved(db, id, ['www A 192.0.2.1']);
});

const approve = (domainId = id) => approveDomain(db, { ...CLI, domainId });

const spentFirst = async () => {
  const left = JSON.stringify([{ names: SETS[1]?.map((name) => `${name}.`), exclusive: false }]);
  await query`update domains set ns_sets = ${left}::jsonb, open = false, by_operator = false,
      findings = '[{"code": "PRESET_DELEGATION", "message": "x"}, {"code": "STALE_DS", "message": "x"}]'`;
  await query`update domain_checks set current_ns = '{ns1.example.net.,ns2.example.net.}',
      due_at = now() + interval '1 hour', next_at = now() + interval '1 hour'`;
};

test('a set is taken from the account that had it, which is told at once that none is left', async () => {
  const they = await newAccount(db, 'they@example.org');
  const theirs = await newDomain(db, they, 'example.com.', { exempt: false });
  const [first, second] = [theirs.nameserverSets[0], (await loadDomainById(db, id))?.nameserverSets[0]];
  if (first === undefined || second === undefined) throw new Error('no sets');
  expect(await approveDomain(db, { ...CLI, domainId: id, set: first })).toMatchObject({
    kind: 'refused',
    code: 'right_taken',
  });
  expect(await approveDomain(db, { ...CLI, domainId: id, set: first, take: true })).toMatchObject({
    kind: 'updated',
  });
  expect((await loadDomainById(db, theirs.id))?.findings.map(({ code }) => code)).toEqual(['SETS_SPENT']);
  expect((await loadDomainById(db, id))?.nameserverSets.map((set) => set.join())).toContain(first.join());
  for (const set of [first.slice(1), [first[0], second[1]]] as Name[][])
    expect(await approveDomain(db, { ...CLI, domainId: id, set })).toMatchObject({
      kind: 'refused',
      code: 'not_ours',
    });
});

test('the set that the parent shows proves the domain, its zone is served whole, and a check is due', async () => {
  await spentFirst();
  const approved = await approve();
  expect(approved).toMatchObject({
    kind: 'updated',
    domain: { status: 'pending', served: 'full', serial: 3, findings: [{ code: 'STALE_DS' }] },
  });
  if (approved.kind !== 'updated') return;
  expect(approved.domain.nameserverSets).toHaveLength(2);
  expect(approved.domain.findings).toHaveLength(1);
  expect(await published(db)).toEqual([
    '@ 86400 NS ns1.example.net.',
    '@ 86400 NS ns2.example.net.',
    '@ 3600 SOA serial 3',
    'www 300 A 192.0.2.1',
  ]);
  expect(await query`select name, names, account_id, exclusive from ns_rights`).toEqual([
    {
      name: 'example.com.',
      names: ['ns1.example.net.', 'ns2.example.net.'],
      account_id: accountId,
      exclusive: true,
    },
  ]);
  expect(
    await query`
      select due_at <= clock_timestamp() and next_at = due_at as due, seq > 0 as bumped from domain_checks`,
  ).toEqual([{ due: true, bumped: true }]);
  const [change] = await listDomainChanges(db, id, { limit: 1 });
  expect(change).toMatchObject({
    id: approved.changeId,
    actor: CLI.by,
    source: 'cli',
    operation: 'status',
    status: { from: 'pending', to: 'pending' },
  });
  await expectPublished(db, id);
  expect(await checkOnce(db, id, 'referral ns1.example.net ns2.example.net')).toMatchObject({
    transition: { from: 'pending', to: 'active' },
  });
});

test('one that no check has seen yet, once: then there is nothing to approve', async () => {
  await query`update domains set open = false`;
  expect(await approve()).toMatchObject({ domain: { served: 'full' }, changeId: expect.any(Number) });
  expect(await approve()).toMatchObject({ kind: 'updated', changeId: undefined, domain: { serial: 3 } });
  await expectPublished(db, id);
});

test('a domain inside another account’s is served no more than its apex', async () => {
  const inner = await newDomain(db, await newAccount(db, 'b@example.org'), 'in.example.com.', {
    exempt: false,
  });
  expect(await approve(inner.id)).toMatchObject({ domain: { served: 'apex' } });
  await query`update domains set status = 'active' where id = ${id}`;
  await changeStatus(db, { ...CLI, domainId: inner.id, event: 'disable' });
  await changeStatus(db, { ...CLI, domainId: inner.id, event: 'enable', exempt: true });
  await expectPublished(db, inner.id);
});

test('a domain that is gone is not there', async () => {
  await deleteDomain(db, { ...CLI, domainId: id });
  expect(await approve()).toEqual({ kind: 'absent' });
  expect(await approve(4711)).toEqual({ kind: 'absent' });
});
