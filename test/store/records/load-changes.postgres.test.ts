// The log: of a domain newest first, of an account in an order in which nothing comes in behind what was read.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { parseName, printName } from '../../../src/dns/name.ts';
import { setProvider, setReseller } from '../../../src/store/accounts/accounts.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import type { LogPage } from '../../../src/store/postgres/list-page.ts';
import {
  type ChangeFilter,
  countAccountChanges,
  countDomainChanges,
  listAccountChanges,
  listDomainChanges,
  loadDomainChange,
} from '../../../src/store/records/load-changes.ts';
import { type Edit, NO_EDIT } from '../../../src/zone/edit/edit.ts';
import { BY, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { saveMembership } from '../../support/database/memberships.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { edit } from '../../support/zone/customer-records.ts';

const database = sharedDatabase();
let db: Database;
beforeAll(() => {
  ({ db } = database);
});
let mine: number;

beforeEach(async () => {
  mine = await newAccount(db, 'me@example.org');
});

test('a domain’s changes are paged from the newest on; another domain’s are not there', async () => {
  const { id } = await newDomain(db, mine);
  const other = await newDomain(db, mine, 'other.test.');
  const ids: number[] = [];
  for (let i = 0; i < 5; i++) ids.push((await saved(db, id, edit({ create: [`h${i} TXT x`] }))).changeId);
  const page = async (rest: Partial<LogPage>, filter: ChangeFilter = {}) =>
    (await listDomainChanges(db, id, { limit: 2, ...rest }, filter)).map((change) => change.id);
  expect(await page({})).toEqual([ids[4], ids[3]]);
  expect(await page({ behind: ids[3] as number })).toEqual([ids[2], ids[1]]);
  expect(await page({}, { after: ids[3] as number })).toEqual([ids[4]]);
  expect(await page({ offset: 1 })).toEqual([ids[3], ids[2]]);
  const [created] = await page({ descending: false });
  expect(await page({ descending: false, behind: created })).toEqual([ids[0], ids[1]]);
  expect(await page({}, { actors: ['session'] })).toEqual([]);
  expect(await countDomainChanges(db, id, { after: created })).toBe(5);
  expect(await loadDomainChange(db, id, ids[0] as number)).toMatchObject({ id: ids[0], serial: 2 });
  expect(await loadDomainChange(db, other.id, ids[0] as number)).toBeUndefined();
});

test('an account sees what happens to its own and shared domains, a global admin everything', async () => {
  const theirs = await newAccount(db, 'they@example.org');
  const [a, b, c] = [
    await newDomain(db, mine, 'a.test.'),
    await newDomain(db, theirs, 'b.test.'),
    await newDomain(db, theirs, 'c.test.'),
  ];
  await saveMembership(db, b.id, mine, 'viewer');
  await saved(db, c.id, textRecord('c.test.'));
  await saved(db, a.id, textRecord('a.test.'));
  const seen = async (accountId: number, isAdmin = false, after = 0) =>
    (await listAccountChanges(db, { accountId, isAdmin }, { after }, { limit: 9 })).map(
      (change) => change.domainId,
    );
  expect(await seen(mine)).toEqual([a.id, b.id, a.id]);
  expect(await seen(theirs)).toEqual([b.id, c.id, c.id]);
  expect(await seen(4711, true)).toEqual([a.id, b.id, c.id, c.id, a.id]);
  const [first] = await listAccountChanges(db, { accountId: mine, isAdmin: false }, {}, { limit: 1 });
  expect(await seen(mine, false, first?.id)).toEqual([b.id, a.id]);
  const me = { accountId: mine, isAdmin: false };
  const newest = await listAccountChanges(db, me, {}, { limit: 2, offset: 1, descending: true });
  expect(newest.map((change) => change.domainId)).toEqual([b.id, a.id]);
  expect(await countAccountChanges(db, me, {})).toBe(3);
  expect(await countAccountChanges(db, me, { sources: ['scan'] })).toBe(0);
});

test('a reseller sees what happens to the domains of its clients, once, and not to deleted ones', async () => {
  const client = await newAccount(db, 'client@example.org');
  const accountId = await newAccount(db, 'reseller@example.org');
  await setReseller(db, accountId, true);
  await setProvider(db, client, accountId);
  const one = await newDomain(db, client, 'one.test.');
  const two = await newDomain(db, client, 'two.test.');
  await deleteDomain(db, { ...BY, domainId: two.id });
  await saveMembership(db, one.id, accountId, 'viewer');
  const reseller = { accountId, isAdmin: false, isReseller: true };
  const changes = await listAccountChanges(db, reseller, {}, { limit: 9 });
  expect(changes.map(({ domainId, role }) => [domainId, role])).toEqual([[one.id, 'admin']]);
  expect(await countAccountChanges(db, reseller, {})).toBe(1);
  await setProvider(db, client, null);
  const [shared] = await listAccountChanges(db, reseller, {}, { limit: 9 });
  expect(shared).toMatchObject({ domainId: one.id, role: 'viewer' });
});

test('a change that was numbered earlier and is committed later is not passed over', async () => {
  const slow = await newDomain(db, mine, 'slow.test.');
  const quick = await newDomain(db, mine, 'quick.test.');
  const caller = { accountId: mine, isAdmin: false };
  const read: number[] = [];
  const readOn = async () => {
    const page = await listAccountChanges(db, caller, { after: read.at(-1) ?? 0 }, { limit: 100 });
    read.push(...page.map(({ id }) => id));
  };
  await readOn();
  expect(read).toHaveLength(2);
  let slowId = 0;
  let quickId = 0;
  await db.transaction().execute(async (trx) => {
    const result = await saveEdit(trx, { ...BY, domainId: slow.id, edit: textRecord('slow.test.') });
    if (result.kind === 'saved') slowId = result.changeId;
    quickId = (await saved(db, quick.id, textRecord('quick.test.'))).changeId;
    await readOn();
    expect(read).toHaveLength(2);
  });
  expect(slowId).toBeLessThan(quickId);
  await readOn();
  expect(read.slice(2)).toEqual([slowId, quickId]);
});

test('a reader that pages while many write misses no change and sees none twice', async () => {
  const domains = await Promise.all(Array.from({ length: 4 }, (_, i) => newDomain(db, mine, `d${i}.test.`)));
  const read: number[] = [];
  let writing = true;
  const reading = (async () => {
    for (let last = false; !last; ) {
      last = !writing;
      const page = await listAccountChanges(
        db,
        { accountId: mine, isAdmin: false },
        { after: read.at(-1) ?? 0 },
        { limit: 100 },
      );
      read.push(...page.map(({ id }) => id));
    }
  })();
  await Promise.all(
    domains.map(async ({ id, name }) => {
      const apex = printName(name);
      for (let i = 0; i < 12; i++) await saved(db, id, textRecord(apex, `x${i}`));
    }),
  );
  writing = false;
  await reading;
  const all = await db.selectFrom('domain_changes').select('id').orderBy('id').execute();
  expect(read).toEqual(all.map(({ id }) => id));
  expect(read).toHaveLength(52);
});

function textRecord(apex: string, label = 'x'): Edit {
  const name = parseName(`${label}.${apex}`);
  return { ...NO_EDIT, creates: [{ name, type: 'TXT', rdata: Buffer.from('\x01x') }] };
}
