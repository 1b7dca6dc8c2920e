// Lists of domains: who sees which, in which order, page by page.

import { type KyselyPlugin, type OperationNode, sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { makeManyDomains } from '../../support/database/many-domains.ts';
import { deleteMembership, saveMembership } from '../../support/database/memberships.ts';
import { scale } from '../../support/tests/scale.ts';

/** Notes the last statement, for an EXPLAIN of it. */
class Asked implements KyselyPlugin {
  #statement: OperationNode | undefined;

  transformQuery: KyselyPlugin['transformQuery'] = ({ node }) => {
    this.#statement = node;
    return node;
  };

  transformResult: KyselyPlugin['transformResult'] = async ({ result }) => result;

  get last() {
    const statement = this.#statement;
    if (statement === undefined) throw new Error('nothing was asked');
    return { toOperationNode: () => statement };
  }
}

const BY_NAME: DomainOrder = { sort: 'name', descending: false };

let database: TestDatabase;
let me: { accountId: number; isAdmin: boolean };
let they: { accountId: number; isAdmin: boolean };
const admin = { accountId: 4711, isAdmin: true };

beforeAll(async () => {
  database = await createDatabase();
  const { db } = database;
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
  await sql`update domain_checks set next_at = null`.execute(db); // those that are not checked come last
  await sql`
      with checked as (
        update domains set status = 'active' where name in ('d1.test.', 'd2.test.', 't1.test.') returning id)
      update domain_checks set next_at = now() + make_interval(secs => id) from checked where domain_id = id`.execute(
    db,
  );
  await sql`update domains set created_at = '2026-01-01' where name like 'd%'`.execute(db);
});
afterAll(() => database.drop());

const texts = (domains: readonly { readonly name: Name }[]) => domains.map(({ name }) => printName(name));
const list = async (caller: typeof me, filter: DomainFilter, order = BY_NAME) =>
  texts((await listDomains(database.db, caller, filter, order, { limit: 100 })).items);

test('a reseller sees those of its clients as admin, once, in every order and page by page', async () => {
  const { db } = database;
  const accountId = await newAccount(db, 'reseller@example.org');
  await setReseller(db, accountId, true);
  const reseller = { accountId, isAdmin: false, isReseller: true };
  expect(await list(reseller, {})).toEqual([]);
  await setProvider(db, they.accountId, accountId);
  const theirs = await list(they, {});
  expect(theirs).toHaveLength(8);
  const { items } = await listDomains(db, they, {}, BY_NAME, { limit: 1 });
  await saveMembership(db, (items[0] as { id: number }).id, accountId, 'viewer');
  expect(await list(reseller, { role: 'viewer' })).toEqual([]);
  expect(await list(reseller, { role: 'owner' })).toEqual([]);
  expect(await countDomains(db, reseller, {})).toBe(8);
  for (const sort of DOMAIN_SORTS) {
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
  }
  expect(await loadDomain(db, { accountId, isAdmin: false }, parseName('t5.test.'))).toBeUndefined();
  expect(await loadDomain(db, reseller, parseName('t5.test.'))).toMatchObject({ myRole: 'admin' });
  expect(await loadDomain(db, reseller, parseName('d5.test.'))).toBeUndefined();
  await setProvider(db, they.accountId, null);
  expect(await list(reseller, {})).toEqual(texts(items));
  await deleteMembership(db, (items[0] as { id: number }).id, accountId);
});

test('everyone sees the own and the shared ones with the role, a global admin all as owner', async () => {
  const { db } = database;
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

test('filters narrow a list and its count alike', async () => {
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
    expect(await countDomains(database.db, me, filter)).toBe(names.length);
  }
});

test('every order pages through all of them once, forward by cursor and by offset alike', async () => {
  const { db } = database;
  for (const sort of DOMAIN_SORTS) {
    for (const descending of [false, true]) {
      const order = { sort, descending };
      const all = await list(me, {}, order);
      expect(new Set(all).size).toBe(12);
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await listDomains(db, me, {}, order, {
          limit: 5,
          ...(cursor !== undefined && { cursor }),
        });
        const by = await listDomains(db, me, {}, order, { limit: 5, offset: paged.length });
        expect(texts(by.items)).toEqual(texts(page.items));
        paged.push(...texts(page.items));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(paged).toEqual(all);
      expect(all).toEqual([...(await list(me, {}, { sort, descending: !descending }))].reverse());
    }
  }
  expect((await list(me, {}, { sort: 'next_check_at', descending: false })).slice(0, 3)).toEqual([
    'd1.test.',
    't1.test.',
    'd2.test.',
  ]);
  const streamed = [];
  for await (const domain of streamDomains(db, admin, {}, BY_NAME)) streamed.push(domain);
  expect(streamed).toHaveLength(17);
});

test('every order pages backward as it does forward, and only the first page has none before it', async () => {
  const { db } = database;
  for (const sort of DOMAIN_SORTS) {
    for (const descending of [false, true]) {
      const order = { sort, descending };
      const forward: string[][] = [];
      let page = await listDomains(db, me, {}, order, { limit: 5 });
      for (;;) {
        forward.push(texts(page.items));
        expect(page.previous === undefined).toBe(forward.length === 1);
        if (page.cursor === undefined) break;
        page = await listDomains(db, me, {}, order, { limit: 5, cursor: page.cursor });
      }
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
    }
  }
});

test('a cursor of another list, or none at all, is refused', async () => {
  const { db } = database;
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
  for (const [text, order] of wrong) {
    await expect(listDomains(db, me, {}, order, { limit: 1, cursor: text })).rejects.toThrow(CursorError);
  }
});

test('each order has an index, for an account and for a global admin', async () => {
  const keys = ['d.name', 'd.created_at', 'd.status'];
  await database.db.transaction().execute(async (trx) => {
    await sql`set local enable_seqscan = off; set local enable_sort = off`.execute(trx);
    for (const key of keys) {
      for (const whose of ['true', 'd.account_id = 1']) {
        const { rows } = await sql<{ 'QUERY PLAN': string }>`
            explain select d.id from domains d where ${sql.raw(whose)} and d.deleted_at is null
            order by ${sql.raw(key)} desc, d.id desc limit 9`.execute(trx);
        const plan = rows.map((row) => row['QUERY PLAN']).join(' ');
        expect(plan).toMatch(/Index (Only )?Scan Backward/);
        expect(plan).not.toMatch(/Sort/);
      }
    }
  });
});

test('the order by the next check goes along an index too, however many domains an account has', async () => {
  const { db } = database;
  const accountId = await newAccount(db, 'many@example.org');
  // half of them are not checked, as many are deleted
  await sql`
      with made as (
        insert into domains (account_id, name, unicode, dns_mode, status, served, serial, answers_generation, created_at,
          updated_at, deleted_at)
        select ${accountId}, 'n' || i || '.many.', 'n' || i || '.many', 'managed', 'disabled', 'none', 1, 1, now(), now(),
          case when i % 2 = 0 then now() end
        from generate_series(1, 8000) i returning *)
      insert into domain_checks (domain_id, account_id, deleted, parent, next_at)
      select id, account_id, deleted_at is not null, 'many.',
        case when id % 4 = 1 then now() + make_interval(secs => id) end
      from made`.execute(db);
  await sql`analyze domains, domain_checks`.execute(db);
  for (const [caller, index] of [
    [{ accountId, isAdmin: false }, 'domain_checks_list_account'],
    [admin, 'domain_checks_list_all'],
  ] as const) {
    for (const descending of [false, true]) {
      const order = { sort: 'next_check_at', descending } as const;
      const filter = { role: 'owner' } as const;
      let cursor: string | undefined;
      for (let page = 0; page < 3; page++) {
        const wanted = { limit: 20, ...(cursor !== undefined && { cursor }) };
        const asked = new Asked();
        ({ cursor } = await listDomains(db.withPlugin(asked), caller, filter, order, wanted));
        const { rows } = await sql<{ 'QUERY PLAN': string }>`
            explain (analyze, timing off, summary off) ${asked.last}`.execute(db);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).toMatch(new RegExp(`Index (Only )?Scan (Backward )?using ${index} `));
        expect(plan).not.toMatch(/Seq Scan on domains?(_checks)? |Bitmap/);
        const read = [...plan.matchAll(/actual rows=([\d.]+) loops=(\d+)/g)].map(
          ([, rows, loops]) => +rows! * +loops!,
        );
        expect(Math.max(...read)).toBeLessThanOrEqual(21);
      }
    }
  }
  await sql`delete from domains where account_id = ${accountId}`.execute(db);
});

test('each order is read along an index, however many domains an account has, at its beginning, middle and end', async () => {
  const { db } = database;
  const count = scale(300_000, 12_000);
  const accountId = await newAccount(db, 'very-many@example.org');
  await makeManyDomains(db, accountId, count);
  const caller = { accountId, isAdmin: false };
  for (const sort of DOMAIN_SORTS) {
    for (const descending of [false, true]) {
      const order = { sort, descending };
      const { cursor: middle } = await listDomains(db, caller, {}, order, { limit: 1, offset: count / 2 });
      const { cursor: end } = await listDomains(db, caller, {}, order, { limit: 1, offset: count - 51 });
      for (const cursor of [undefined, middle, end]) {
        const asked = new Asked();
        const page = await listDomains(db.withPlugin(asked), caller, {}, order, {
          limit: 100,
          ...(cursor !== undefined && { cursor }),
        });
        expect(page.items).toHaveLength(cursor === end ? 50 : 100);
        const { rows } = await sql<{ 'QUERY PLAN': string }>`
            explain (analyze, timing off, summary off) ${asked.last}`.execute(db);
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).not.toMatch(/Seq Scan on domains?(_checks)? /);
        const read = [...plan.matchAll(/actual rows=([\d.]+) loops=(\d+)/g)].map(
          ([, rows, loops]) => +rows! * +loops!,
        );
        const left = [...plan.matchAll(/Rows Removed by \w+(?: \w+)?: (\d+)/g)].map(([, rows]) => +rows!);
        expect(Math.max(...read, ...left)).toBeLessThanOrEqual(101);
      }
    }
  }
  expect(await countDomains(db, caller, {})).toBe(count);
  await sql`truncate domains, domain_checks cascade`.execute(db);
});
