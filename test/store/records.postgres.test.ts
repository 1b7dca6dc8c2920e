import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { setProvider, setReseller } from '../../src/store/accounts/accounts.ts';
import { deleteDomain } from '../../src/store/change/save-domain.ts';
import { saveEdit } from '../../src/store/change/save-edit.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { CursorError, type Page } from '../../src/store/postgres/list-page.ts';
import {
  countAccountChanges,
  listAccountChanges,
  loadDomainChange,
} from '../../src/store/records/load-changes.ts';
import {
  countRecords,
  loadRecord,
  RECORD_SORTS,
  type RecordFilter,
  streamRecords,
} from '../../src/store/records/load-records.ts';
import { type Edit, NO_EDIT } from '../../src/zone/edit/edit.ts';
import { printRecordName } from '../../src/zone/records/record-name.ts';
import { BY, newAccount, newDomain, saved } from '../support/database/domains.ts';
import { listRecords } from '../support/database/list-records.ts';
import { saveMembership } from '../support/database/memberships.ts';
import { keptDatabase, sharedDatabase } from '../support/tests/shared-database.ts';
import { APEX, type EditLines, edit, showRecord } from '../support/zone/customer-records.ts';

const { db, query } = sharedDatabase();

describe('load-changes', () => {
  let mine: number;

  beforeEach(async () => {
    mine = await newAccount(db, 'me@example.org');
  });

  test('a change is found only in its own domain', async () => {
    const { id } = await newDomain(db, mine);
    const other = await newDomain(db, mine, 'other.test.');
    const { changeId } = await saved(db, id, ['h TXT x']);
    expect(await loadDomainChange(db, id, changeId)).toMatchObject({ id: changeId });
    expect(await loadDomainChange(db, other.id, changeId)).toBeUndefined();
  });

  test('an account sees changes of its own and shared domains, and a global admin all changes', async () => {
    const theirs = await newAccount(db, 'they@example.org');
    const [a, b, c] = [
      await newDomain(db, mine, 'a.test.'),
      await newDomain(db, theirs, 'b.test.'),
      await newDomain(db, theirs, 'c.test.'),
    ];
    await saveMembership(db, b.id, mine, 'viewer');
    await saved(db, c.id, textRecord('c.test.'));
    await saved(db, a.id, textRecord('a.test.'));
    const seen = async (accountId: number, isAdmin = false) =>
      (await listAccountChanges(db, { accountId, isAdmin }, {}, { limit: 9 })).map(
        (change) => change.domainId,
      );
    expect(await seen(mine)).toEqual([a.id, b.id, a.id]);
    expect(await seen(theirs)).toEqual([b.id, c.id, c.id]);
    expect(await seen(4711, true)).toEqual([a.id, b.id, c.id, c.id, a.id]);
    expect(await countAccountChanges(db, { accountId: mine, isAdmin: false }, {})).toBe(3);
  });

  test('a reseller sees changes of its clients’ domains once, and not of deleted ones', async () => {
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

  test('a change with a lower id that commits later is not skipped', async () => {
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

  function textRecord(apex: string, label = 'x'): Edit {
    const name = parseName(`${label}.${apex}`);
    return { ...NO_EDIT, creates: [{ name, type: 'TXT', rdata: Buffer.from('\x01x') }] };
  }
});

describe('load-records', () => {
  const BY_NAME = { sort: 'name', descending: false } as const;

  const { db } = keptDatabase();
  let domainId: number;
  let otherId: number;

  beforeAll(async () => {
    const accountId = await newAccount(db, 'me@example.org');
    domainId = (await newDomain(db, accountId)).id;
    otherId = (await newDomain(db, accountId, 'other.test.')).id;
    await saved(db, domainId, ['b A 192.0.2.1', 'b A 192.0.2.2', 'B2 AAAA 2001:db8::1']);
    await saved(db, domainId, ['@ MX 10 mail.example.net', '@ TXT Hello_World', 'example TXT x']);
    await saved(db, domainId, ['p CNAME b.example.com ; proxied comment=Behind']);
  });

  const list = async (filter: RecordFilter) => {
    const { items } = await listRecords(db, domainId, filter, BY_NAME, { limit: 100 });
    expect(await countRecords(db, domainId, filter)).toBe(items.length);
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
      const found = await listRecords(db, idnId, { search }, BY_NAME, { limit: 100, ...page });
      const names = found.items.map(({ name }) => printRecordName(name, parseName('xn--mnchen-3ya.test.')));
      return { names, cursor: found.cursor };
    };

    beforeAll(async () => {
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
      expect(await countRecords(db, idnId, { search })).toBe(names.length);
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

    test('find only records that contain them, and ignore the domain’s own name', async () => {
      expect((await find('xn--mller')).names).toEqual(['alias', 'shop.xn--mller-kva', 'xn--mller-kva']);
      expect((await find('οδοσ')).names).toEqual(['greek']);
      expect((await find('söhne')).names).toEqual(['text']);
      expect((await find('münchen')).names).toEqual([]);
      expect((await find('müllerin')).names).toEqual([]);
      expect((await find('p.mü')).names).toEqual(['shop.xn--mller-kva']);
      await expect(find('mü', { cursor: 'x' })).rejects.toThrow(CursorError);
    });
  });

  test('every order pages through all records once', async () => {
    for (const sort of RECORD_SORTS)
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
  });

  test('a record is found only in its own domain, and the service’s records are marked', async () => {
    const { items } = await listRecords(db, domainId, {}, BY_NAME, { limit: 100 });
    const [managed, own] = [items.find((record) => record.managed), items.find((record) => !record.managed)];
    for (const record of [managed, own]) {
      expect(await loadRecord(db, domainId, record?.id as number)).toEqual(record);
      expect(await loadRecord(db, otherId, record?.id as number)).toBeUndefined();
    }
    expect(managed).toMatchObject({ type: 'NS', ttl: 86_400, proxied: false });
  });
});

describe('the warnings of an edit', () => {
  let domainId: number;
  let starId: number;

  beforeEach(async () => {
    domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
    starId = await firstId(['* A 192.0.2.1', 'own A 192.0.2.2', 'below.old TXT x', '*.sub A 192.0.2.3']);
  });

  /** Returns the owners of the records that shadow a wildcard. */
  async function shadowing(create: string[]): Promise<string[]> {
    const result = await saveEdit(db, { ...BY, domainId, edit: edit({ create }), warns: true, dryRun: true });
    if (result.kind !== 'dry_run') throw new Error(JSON.stringify(result));
    expect(result.warnings.every(({ code }) => code === 'WILDCARD_SHADOWED')).toBe(true);
    return result.warnings.map(({ owner }) => printName(owner));
  }

  test('name what a wildcard loses: only names that did not exist, whether few or many are written', async () => {
    const few = ['x.own TXT t', 'x.old TXT t', 'x.new TXT t', 'x.y.sub TXT t'];
    const lost = ['x.new.example.com.', 'x.y.sub.example.com.'];
    expect(await shadowing(few)).toEqual(lost);
    const many = Array.from({ length: 20 }, (_, n) => `x.n${n} TXT t`);
    expect(await shadowing([...few, ...many])).toEqual([
      ...lost,
      ...many.map((line) => `${line.split(' ')[0]}.example.com.`),
    ]);
  });

  /** Returns the owner, type and code of each warning of an edit. */
  async function warningsOf(lines: EditLines, within: Database = db): Promise<string[]> {
    const result = await saveEdit(within, { ...BY, domainId, edit: edit(lines), warns: true, dryRun: true });
    if (result.kind !== 'dry_run') throw new Error(JSON.stringify(result));
    return result.warnings.map(({ owner, type, code }) => `${printRecordName(owner, APEX)} ${type} ${code}`);
  }

  /** Creates the records, and returns the id of the first one. */
  async function firstId(create: string[]): Promise<number> {
    const { ops } = await saved(db, domainId, create);
    return ops.find(({ op }) => op === 'create')?.after?.id as number;
  }

  test('include records that it does not write, but whose host it breaks', async () => {
    const mail = [
      'm.sub A 192.0.2.4',
      'm.sub TXT x',
      '@ MX 10 M.Sub.example.com',
      '_s._tcp SRV 1 2 3 m.sub.example.com',
    ];
    const id = await firstId([...mail, 'kid.own NS m.sub.example.com', 'o MX 10 own.example.com']);
    const causes = (code: string) => [`@ MX ${code}`, `_s._tcp SRV ${code}`, `kid.own NS ${code}`];
    expect(await warningsOf({ delete: [id] })).toEqual(causes('TARGET_WITHOUT_ADDRESS'));
    const other = await newDomain(db, await newAccount(db, 'b@example.org'), 'example.net.');
    await saved(db, other.id, edit({ create: ['@ MX 10 m.sub.example.com'] }, other.name));
    expect(await warningsOf({ delete: [id] })).toHaveLength(3);
    expect(await warningsOf({ update: [[id, { ttl: 60 }]] })).toEqual([]);
  });

  test('include a delegation whose glue it removes, while a name outside of it resolves', async () => {
    const id = await firstId(['ns.kid A 192.0.2.4', 'kid NS ns.kid.example.com', 'kid NS ns.example.net']);
    expect(await warningsOf({ delete: [id] })).toEqual(['kid NS MISSING_GLUE']);
  });

  test('include records whose host only the removed wildcard resolved', async () => {
    const hosts = ['any', 'has', 'own', 'x.sub'].map((host) => `${host}.to MX 10 ${host}.example.com`);
    await saved(db, domainId, ['has TXT x', ...hosts]);
    const causes = ['any.to MX TARGET_WITHOUT_ADDRESS'];
    expect(await warningsOf({ delete: [starId] })).toEqual(causes);
    const others = Array.from({ length: 20 }, (_, n) => `n${n} A 192.0.2.9`);
    expect(await warningsOf({ delete: [starId], create: others })).toEqual(causes);
  });

  test('are at most 1,000, and are found along the index of hosts', async () => {
    const many = Array.from({ length: 1100 }, (_, n) => `t${n} MX 10 m.own.example.com`);
    const id = await firstId(['m.own A 192.0.2.4', ...many]);
    const other = await firstId(['o.own A 192.0.2.5', 'own MX 10 o.own.example.com']);
    expect(await warningsOf({ delete: [id] })).toHaveLength(1000);
    await query`analyze records`;
    await db.transaction().execute(async (trx) => {
      const scans = async () => {
        const { rows } = await sql<{ count: number }>`
          select pg_stat_get_xact_numscans('records_host'::regclass)::integer as count`.execute(trx);
        return rows[0]?.count as number;
      };
      const before = await scans();
      expect(await warningsOf({ delete: [other] }, trx)).toHaveLength(1);
      expect(await scans()).toBeGreaterThan(before);
    });
  });
});
