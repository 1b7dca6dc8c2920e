import { sql } from 'kysely';
import { beforeAll, expect, test } from 'vitest';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { setProvider, setReseller } from '../../../src/store/accounts/accounts.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import {
  countDomains,
  DOMAIN_SORTS,
  type DomainFilter,
  type DomainOrder,
  listDomains,
  streamDomains,
} from '../../../src/store/domains/list-domains.ts';
import { loadDomain } from '../../../src/store/domains/load-domains.ts';
import { CursorError } from '../../../src/store/postgres/list-page.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { deleteMembership, saveMembership } from '../../support/database/memberships.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const BY_NAME: DomainOrder = { sort: 'name', descending: false };

const { db, query } = keptDatabase();
let me: { accountId: number; isAdmin: boolean };
let they: { accountId: number; isAdmin: boolean };
const admin = { accountId: 4711, isAdmin: true };

beforeAll(async () => {
  me = { accountId: await newAccount(db, 'me@example.org'), isAdmin: false };
  they = { accountId: await newAccount(db, 'they@example.org'), isAdmin: false };
  for (let i = 0; i < 8; i++) {
    await newDomain(db, me.accountId, `d${i}.test.`, { dnsMode: i % 4 === 3 ? 'external' : 'managed' });
    const { id } = await newDomain(db, they.accountId, `t${i}.test.`);
    if (i < 3)
      await saveMembership(db, id, me.accountId, (['viewer', 'editor', 'admin'] as const)[i] ?? 'viewer');
  }
  await newDomain(db, me.accountId, 'xn--mnchen-3ya.test.', { unicode: 'münchen.test' });
  const { id } = await newDomain(db, me.accountId, 'gone.test.');
  await deleteDomain(db, { ...BY, domainId: id });
  await query`update domain_checks set next_at = null`; // domains without a next check come last
  await query`
      with checked as (
        update domains set status = 'active' where name in ('d1.test.', 'd2.test.', 't1.test.') returning id)
      update domain_checks set next_at = now() + make_interval(secs => id) from checked where domain_id = id`;
  await query`update domains set created_at = '2026-01-01' where name like 'd%'`;
});

const texts = (domains: readonly { readonly name: Name }[]) => domains.map(({ name }) => printName(name));
const list = async (caller: typeof me, filter: DomainFilter, order = BY_NAME) =>
  texts((await listDomains(db, caller, filter, order, { limit: 100 })).items);

test('lists the domains of a reseller’s clients once, with the role admin, in every order and on every page', async () => {
  const accountId = await newAccount(db, 'reseller@example.org');
  await setReseller(db, accountId, true);
  const reseller = { accountId, isAdmin: false, isReseller: true };
  expect(await list(reseller, {})).toEqual([]);
  await setProvider(db, they.accountId, accountId);
  expect(await list(they, {})).toHaveLength(8);
  const { items } = await listDomains(db, they, {}, BY_NAME, { limit: 1 });
  await saveMembership(db, (items[0] as { id: number }).id, accountId, 'viewer');
  expect(await list(reseller, { role: 'viewer' })).toEqual([]);
  expect(await list(reseller, { role: 'owner' })).toEqual([]);
  expect(await countDomains(db, reseller, {})).toBe(8);
  for (const sort of DOMAIN_SORTS)
    for (const descending of [false, true]) {
      const order = { sort, descending };
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await listDomains(db, reseller, {}, order, {
          limit: 3,
          ...(cursor !== undefined && { cursor }),
        });
        expect(page.items.every(({ myRole }) => myRole === 'admin')).toBe(true);
        seen.push(...texts(page.items));
        ({ cursor } = page);
      } while (cursor !== undefined);
      expect(seen).toEqual(await list(they, {}, order));
    }
  expect(await loadDomain(db, { accountId, isAdmin: false }, parseName('t5.test.'))).toBeUndefined();
  expect(await loadDomain(db, reseller, parseName('t5.test.'))).toMatchObject({ myRole: 'admin' });
  expect(await loadDomain(db, reseller, parseName('d5.test.'))).toBeUndefined();
  await setProvider(db, they.accountId, null);
  expect(await list(reseller, {})).toEqual(texts(items));
  await deleteMembership(db, (items[0] as { id: number }).id, accountId);
});

test('lists an account’s own and shared domains with its role, and all domains for a global admin', async () => {
  const { items } = await listDomains(db, me, {}, BY_NAME, { limit: 100 });
  expect(items).toHaveLength(12);
  expect(items.map(({ myRole }) => myRole)).toEqual([
    ...Array(8).fill('owner'),
    'viewer',
    'editor',
    'admin',
    'owner',
  ]);
  expect(await list(me, { role: 'editor' })).toEqual(['t1.test.']);
  expect(await list(me, { role: 'owner' })).toHaveLength(9);
  expect(await list(they, {})).toHaveLength(8);
  expect(await list(admin, {})).toHaveLength(17);
  expect(await list(admin, { role: 'viewer' })).toEqual([]);
  expect(await list(admin, { deleted: true })).toEqual(['gone.test.']);
  expect(await loadDomain(db, me, parseName('t0.test.'))).toMatchObject({ myRole: 'viewer' });
  expect(await loadDomain(db, me, parseName('t7.test.'))).toBeUndefined();
  expect(await loadDomain(db, me, parseName('gone.test.'))).toBeUndefined();
  expect(await loadDomain(db, admin, parseName('t7.test.'))).toMatchObject({ myRole: 'owner' });
});

test('applies filters to a list and to its count', async () => {
  const cases: [DomainFilter, string[]][] = [
    [{ statuses: ['active'] }, ['d1.test.', 'd2.test.', 't1.test.']],
    [{ statuses: ['active', 'unverified'] }, ['d1.test.', 'd2.test.', 'd3.test.', 'd7.test.', 't1.test.']],
    [{ dnsMode: 'external' }, ['d3.test.', 'd7.test.']],
    [{ search: 'T1.' }, ['t1.test.']],
    [{ search: 'MÜNCH' }, ['xn--mnchen-3ya.test.']],
    [{ search: '%' }, []],
    [{ names: [parseName('d4.test.'), parseName('t7.test.')] }, ['d4.test.']],
    [{ statuses: ['active'], role: 'owner', search: '2' }, ['d2.test.']],
    [{ statuses: [] }, []],
  ];
  for (const [filter, names] of cases) {
    expect(await list(me, filter)).toEqual(names);
    expect(await countDomains(db, me, filter)).toBe(names.length);
  }
});

test.each(
  DOMAIN_SORTS.flatMap((sort) => [false, true].map((descending) => ({ sort, descending }))),
)('pages by $sort (descending: $descending) contain each domain once, forward, backward and by offset', async (order) => {
  const all = await list(me, {}, order);
  expect(new Set(all).size).toBe(12);
  expect(all).toEqual([...(await list(me, {}, { ...order, descending: !order.descending }))].reverse());
  const forward: string[][] = [];
  let page = await listDomains(db, me, {}, order, { limit: 5 });
  for (;;) {
    const by = await listDomains(db, me, {}, order, { limit: 5, offset: forward.flat().length });
    expect(texts(by.items)).toEqual(texts(page.items));
    forward.push(texts(page.items));
    expect(page.previous === undefined).toBe(forward.length === 1);
    if (page.cursor === undefined) break;
    page = await listDomains(db, me, {}, order, { limit: 5, cursor: page.cursor });
  }
  expect(forward.flat()).toEqual(all);
  expect(forward).toHaveLength(3);
  const backward = [texts(page.items)];
  while (page.previous !== undefined) {
    page = await listDomains(db, me, {}, order, { limit: 5, cursor: page.previous });
    expect(page.cursor).toBeDefined();
    backward.push(texts(page.items));
  }
  expect(backward.reverse()).toEqual(forward);
  const { previous } = await listDomains(db, me, {}, order, { limit: 2, offset: 5 });
  const before = await listDomains(db, me, {}, order, { limit: 5, cursor: previous as string });
  expect(texts(before.items)).toEqual(forward[0]);
});

test('domains without a next check come last, and a stream yields every domain', async () => {
  expect((await list(me, {}, { sort: 'next_check_at', descending: false })).slice(0, 3)).toEqual([
    'd1.test.',
    't1.test.',
    'd2.test.',
  ]);
  const streamed = [];
  for await (const domain of streamDomains(db, admin, {}, BY_NAME)) streamed.push(domain);
  expect(streamed).toHaveLength(17);
});

test('rejects forged cursors and those of another order', async () => {
  const { cursor } = await listDomains(db, me, {}, BY_NAME, { limit: 1 });
  const forged = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const wrong = [
    [cursor as string, { sort: 'status', descending: false }],
    [cursor as string, { sort: 'name', descending: true }],
    ['', BY_NAME],
    ['x', BY_NAME],
    [forged(['name', false, 'a\0', 1]), BY_NAME],
    [forged(['name', false, 'a', 1.5]), BY_NAME],
    [forged(['name', false, 'a', 1, 'forth']), BY_NAME],
    [forged(['name', false, 'a', 1, 'back', 1]), BY_NAME],
    [forged(['created_at', false, 'yesterday', 1]), { sort: 'created_at', descending: false }],
    [forged(['created_at', false, '2026-99-01 00:00:00+00', 1]), { sort: 'created_at', descending: false }],
  ] as [string, DomainOrder][];
  for (const [text, order] of wrong)
    await expect(listDomains(db, me, {}, order, { limit: 1, cursor: text })).rejects.toThrow(CursorError);
});

test('has an index for each order, of an account’s domains and of all', async () => {
  const keys = ['d.name', 'd.created_at', 'd.status'];
  await db.transaction().execute(async (trx) => {
    await sql`set local enable_seqscan = off; set local enable_sort = off`.execute(trx);
    for (const key of keys)
      for (const whose of ['true', 'd.account_id = 1']) {
        const { rows } = await sql<{ 'QUERY PLAN': string }>`
            explain select d.id from domains d where ${sql.raw(whose)} and d.deleted_at is null
            order by ${sql.raw(key)} desc, d.id desc limit 9`.execute(trx);
        const plan = rows.map((row) => row['QUERY PLAN']).join(' ');
        expect(plan).toMatch(/Index (Only )?Scan Backward/);
        expect(plan).not.toMatch(/Sort/);
      }
  });
});
