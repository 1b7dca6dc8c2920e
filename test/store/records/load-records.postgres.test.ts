// Lists of a domain's records: its own and the service's, filtered, in order, page by page.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { CursorError, type Page } from '../../../src/store/postgres/list-page.ts';
import {
  countRecords,
  loadRecord,
  RECORD_SORTS,
  type RecordFilter,
  streamRecords,
} from '../../../src/store/records/load-records.ts';
import { printRecordName } from '../../../src/zone/records/record-name.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { listRecords } from '../../support/database/list-records.ts';
import { edit, showRecord } from '../../support/zone/customer-records.ts';

const BY_NAME = { sort: 'name', descending: false } as const;

let database: TestDatabase;
let domainId: number;
let otherId: number;

beforeAll(async () => {
  database = await createDatabase();
  const { db } = database;
  const accountId = await newAccount(db, 'me@example.org');
  domainId = (await newDomain(db, accountId)).id;
  otherId = (await newDomain(db, accountId, 'other.test.')).id;
  await saved(db, domainId, edit({ create: ['b A 192.0.2.1', 'b A 192.0.2.2', 'B2 AAAA 2001:db8::1'] }));
  await saved(
    db,
    domainId,
    edit({ create: ['@ MX 10 mail.example.net', '@ TXT Hello_World', 'example TXT x'] }),
  );
  await saved(db, domainId, edit({ create: ['p CNAME b.example.com ; proxied comment=Behind'] }));
});
afterAll(() => database.drop());

const list = async (filter: RecordFilter) => {
  const { items } = await listRecords(database.db, domainId, filter, BY_NAME, { limit: 100 });
  expect(await countRecords(database.db, domainId, filter)).toBe(items.length);
  return items.map((record) => showRecord(record));
};

test('filters: name, types, proxied, and words in name, destination and comment', async () => {
  const ns = ['@ 86400 NS ns1.example.net', '@ 86400 NS ns2.example.net'];
  expect(await list({ name: parseName('b.example.com.') })).toEqual([
    'b 300 A 192.0.2.1',
    'b 300 A 192.0.2.2',
  ]);
  expect(await list({ types: ['MX', 'NS'] })).toEqual([...ns, '@ 300 MX 10 mail.example.net']);
  expect(await list({ proxied: true })).toEqual(['p 300 CNAME b.example.com ; proxied comment=Behind']);
  expect(await list({ proxied: false, types: ['CNAME'] })).toEqual([]);
  expect(await list({ search: 'behind' })).toHaveLength(1);
  expect(await list({ search: 'hello_' })).toEqual(['@ 300 TXT Hello_World']);
  expect(await list({ search: 'b2' })).toEqual(['b2 300 AAAA 2001:db8::1']);
  expect(await list({ search: 'example.com' })).toHaveLength(1);
  expect(await list({ search: '@' })).toHaveLength(4);
  expect(await list({ search: '192.0.2.' })).toHaveLength(2);
  expect(await list({ search: 'EXAMPLE' })).toHaveLength(5);
  expect(await list({ search: '@' })).toHaveLength(4);
  expect(await list({ search: '%' })).toEqual([]);
});

describe('words beyond ASCII', () => {
  let idnId: number;
  const find = async (search: string, page: Partial<Page> = {}) => {
    const found = await listRecords(database.db, idnId, { search }, BY_NAME, { limit: 100, ...page });
    const names = found.items.map(({ name }) => printRecordName(name, parseName('xn--mnchen-3ya.test.')));
    return { names, cursor: found.cursor };
  };

  beforeAll(async () => {
    const { db } = database;
    idnId = (await newDomain(db, await newAccount(db, 'idn@example.org'), 'xn--mnchen-3ya.test.')).id;
    const create = [
      'MÜLLER A 192.0.2.1',
      'shop.müller A 192.0.2.1',
      'alias CNAME www.xn--mller-kva.example.',
      'text TXT Bäcker_MÜLLER_und_Söhne',
      'noted A 192.0.2.1 ; comment=Müllers',
      'decomposed A 192.0.2.1 ; comment=Mu\u0308ller',
      'greek A 192.0.2.1 ; comment=ΟΔΟΣ',
      'plain A 192.0.2.1 ; comment=Muller',
    ];
    await saved(db, idnId, edit({ create }, parseName('xn--mnchen-3ya.test.')));
  });

  test.each([
    'müller',
    'MÜLLER',
    'Mu\u0308LLER',
    'ülle',
  ])('find owners and hosts by their Unicode, texts and comments in any case: %s', async (search) => {
    const names = ['alias', 'decomposed', 'noted', 'shop.xn--mller-kva', 'text', 'xn--mller-kva'];
    expect((await find(search)).names).toEqual(names);
    expect(await countRecords(database.db, idnId, { search })).toBe(names.length);
    const paged: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await find(search, { limit: 2, ...(cursor !== undefined && { cursor }) });
      expect((await find(search, { limit: 2, offset: paged.length })).names).toEqual(page.names);
      paged.push(...page.names);
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    expect(paged).toEqual(names);
  });

  test('find what has them and nothing else; the domain itself is no part of it', async () => {
    expect((await find('xn--mller')).names).toEqual(['alias', 'shop.xn--mller-kva', 'xn--mller-kva']);
    expect((await find('οδοσ')).names).toEqual(['greek']);
    expect((await find('söhne')).names).toEqual(['text']);
    expect((await find('münchen')).names).toEqual([]);
    expect((await find('müllerin')).names).toEqual([]);
    expect((await find('p.mü')).names).toEqual(['shop.xn--mller-kva']);
    await expect(find('mü', { cursor: 'x' })).rejects.toThrow(CursorError);
  });
});

test('every order pages through all of them once', async () => {
  const { db } = database;
  for (const sort of RECORD_SORTS) {
    for (const descending of [false, true]) {
      const order = { sort, descending };
      const all: number[] = [];
      for await (const { id } of streamRecords(db, domainId, {}, order)) all.push(id);
      expect(new Set(all).size).toBe(9);
      const paged: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await listRecords(db, domainId, {}, order, {
          limit: 2,
          ...(cursor !== undefined && { cursor }),
        });
        const by = await listRecords(db, domainId, {}, order, { limit: 2, offset: paged.length });
        expect(by.items).toEqual(page.items);
        paged.push(...page.items.map(({ id }) => id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(paged).toEqual(all);
    }
  }
});

test('a record is found in its own domain only; the service’s own are marked', async () => {
  const { db } = database;
  const { items } = await listRecords(db, domainId, {}, BY_NAME, { limit: 100 });
  const [managed, own] = [items.find((record) => record.managed), items.find((record) => !record.managed)];
  for (const record of [managed, own]) {
    expect(await loadRecord(db, domainId, record?.id as number)).toEqual(record);
    expect(await loadRecord(db, otherId, record?.id as number)).toBeUndefined();
  }
  expect(managed).toMatchObject({ type: 'NS', ttl: 86_400, proxied: false });
});
