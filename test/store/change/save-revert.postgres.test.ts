import { beforeEach, expect, test } from 'vitest';
import { saveRevert } from '../../../src/store/change/save-revert.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import {
  BY,
  expectPublished,
  expectSerials,
  listed,
  newAccount,
  newDomain,
  saved,
} from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const { db, query } = sharedDatabase();
let accountId: number;
let domainId: number;

beforeEach(async () => {
  accountId = await newAccount(db, 'a@example.org');
  domainId = (await newDomain(db, accountId)).id;
});

const revert = (changeId: number, rest = {}) => saveRevert(db, { domainId, changeId, by: BY.by, ...rest });

test('a revert restores created, changed and deleted records with their ids, and can itself be reverted', async () => {
  const first = await saved(db, domainId, ['a A 192.0.2.1', 'b A 192.0.2.2', 'b A 192.0.2.3']);
  const ids = first.ops.map(({ after }) => after?.id as number);
  const before = await listed(db, domainId);
  const second = await saved(db, domainId, {
    delete: [ids[0] as number],
    update: [[ids[1] as number, { ttl: 900, comment: 'x' }]],
    create: ['a CNAME b.example.com'],
  });
  const after = await listed(db, domainId);
  expect(await revert(second.changeId, { dryRun: true })).toMatchObject({ kind: 'dry_run' });
  const reverted = await revert(second.changeId);
  expect(reverted).toMatchObject({ kind: 'saved', recordCount: 3 });
  expect(await listed(db, domainId)).toEqual(before);
  const kept = await query`select id from records where not managed order by id`;
  expect(kept).toEqual(ids.map((id) => ({ id })));
  expect((await listDomainChanges(db, domainId, { limit: 1 }))[0]).toMatchObject({
    source: 'revert',
    reverts: second.changeId,
  });
  await expectPublished(db, domainId);
  if (reverted.kind !== 'saved') return;
  expect(await revert(reverted.changeId)).toMatchObject({ kind: 'saved' });
  expect(await listed(db, domainId)).toEqual(after);
  await expectPublished(db, domainId);
  await expectSerials(db, domainId);
});

test('rejects changes of records that were changed since, without records, or of another domain', async () => {
  const first = await saved(db, domainId, ['a A 192.0.2.1']);
  const id = first.ops[0]?.after?.id as number;
  await saved(db, domainId, { update: [[id, { destination: '192.0.2.9' }]] });
  expect(await revert(first.changeId)).toMatchObject({ kind: 'conflict', ids: [id] });
  const [created] = (await listDomainChanges(db, domainId, { limit: 9 })).slice(-1);
  expect(await revert(created?.id as number)).toMatchObject({ kind: 'nothing_to_revert' });
  const other = await newDomain(db, accountId, 'other.test.');
  expect(await revert(first.changeId, { domainId: other.id })).toMatchObject({ kind: 'no_change' });
  expect(await listed(db, domainId)).toEqual(['a 300 A 192.0.2.9']);
});
