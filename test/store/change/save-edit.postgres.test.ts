// An edit is planned under the domain's lock, and saved completely: records, published records, serial, one change.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { saveRevert } from '../../../src/store/change/save-revert.ts';
import { setPlan } from '../../../src/store/change/set-plan.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { streamRecords } from '../../../src/store/records/load-records.ts';
import { NO_EDIT } from '../../../src/zone/edit/edit.ts';
import type { CustomerRecord } from '../../../src/zone/records/customer-record.ts';
import { countStatements } from '../../support/database/count-statements.ts';
import {
  BY,
  expectPublished,
  expectSerials,
  listed,
  newAccount,
  newDomain,
  published,
  saved,
} from '../../support/database/domains.ts';
import { listRecords } from '../../support/database/list-records.ts';
import { followLoaded, untilEqual } from '../../support/processes/follow.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX, edit, newRecord, showProblem } from '../../support/zone/customer-records.ts';

const { db, url, query, value } = sharedDatabase();
let accountId: number;
let domainId: number;

beforeEach(async () => {
  accountId = await newAccount(db, 'a@example.org');
  domainId = (await newDomain(db, accountId)).id;
});

/** Loads those of the domain's records that have one of the ids, in the order of ids. */
async function customerRecords(ids: readonly number[]): Promise<CustomerRecord[]> {
  const records: CustomerRecord[] = [];
  const order = { sort: 'name', descending: false } as const;
  for await (const { managed: _, ...record } of streamRecords(db, domainId, {}, order)) {
    if (ids.includes(record.id)) records.push({ ...record, rdata: new Uint8Array(record.rdata) });
  }
  return records.sort((a, b) => a.id - b.id);
}

test('records are published: proxied ones with the edge’s addresses, others unchanged, with SOA and NS of the service', async () => {
  const result = await saved(db, domainId, [
    'www 600 A 198.51.100.1 ; proxied',
    '@ CNAME origin.example.net ; proxied',
    '@ TXT hello',
    'mail 120 A 198.51.100.2',
    'mail AAAA 2001:db8::25',
    '*.x MX 10 mail.example.com',
    'sub NS ns1.else.example.',
  ]);
  expect(result.recordCount).toBe(7);
  expect(result.ops.map(({ op, item }) => `${op} ${item?.list} ${item?.index}`)).toEqual(
    [0, 1, 2, 3, 4, 5, 6].map((i) => `create create ${i}`),
  );
  expect((await published(db))?.sort()).toEqual(
    [
      '@ 86400 NS ns1.example.net.',
      '@ 86400 NS ns2.example.net.',
      `@ 3600 SOA serial ${result.serial}`,
      '@ 300 A 192.0.2.1',
      '@ 300 AAAA 2001:db8::1',
      '@ 300 TXT "hello"',
      'www 300 A 192.0.2.1',
      'www 300 AAAA 2001:db8::1',
      'mail 120 A 198.51.100.2',
      'mail 300 AAAA 2001:db8::25',
      '*.x 300 MX 10 mail.example.com.',
      'sub 300 NS ns1.else.example.',
    ].sort(),
  );
  await expectPublished(db, domainId);
  const [change] = await listDomainChanges(db, domainId, { limit: 1 });
  expect(change).toMatchObject({
    id: result.changeId,
    serial: result.serial,
    operation: 'edit',
    source: 'api',
    actor: BY.by,
  });
  const ids = result.ops.map(({ after }) => after?.id as number);
  expect(change?.ops.map(({ after }) => after)).toEqual(await customerRecords(ids));
});

test('only differences are written, and an edit without a difference writes nothing', async () => {
  const { serial } = await saved(db, domainId, ['a 300 A 192.0.2.1', 'a 300 A 192.0.2.2', 'b TXT x']);
  const before = await db.selectFrom('zone_records').selectAll().where('owner', 'like', 'b.%').execute();
  const again = edit({ replace: [['a', 'A', 'A 192.0.2.2', 'A 192.0.2.1']] });
  expect(await saveEdit(db, { ...BY, domainId, edit: again })).toEqual({
    kind: 'unchanged',
    serial,
    recordCount: 3,
    warnings: [],
  });
  const { ops } = await saved(db, domainId, { replace: [['a', 'A', '60 A 192.0.2.2']] });
  expect(ops.map(({ op }) => op).sort()).toEqual(['delete', 'update']);
  expect(await db.selectFrom('zone_records').selectAll().where('owner', 'like', 'b.%').execute()).toEqual(
    before,
  );
  expect(await listed(db, domainId)).toEqual(['a 60 A 192.0.2.2', 'b 300 TXT x']);
  expect(await loadDomainById(db, domainId)).toMatchObject({ recordCount: 2 });
  await expectSerials(db, domainId);
  const tombstones = await db.selectFrom('zone_records').select('type').where('removed', '=', true).execute();
  expect(tombstones).toEqual([]); // SOA and the set have newer rows
  await expectPublished(db, domainId);
});

test('repeated creates of a record use statements that Postgres plans only once', async () => {
  const db = openDatabase(url, { maxConnections: 1 });
  try {
    for (let i = 0; i < 30; i++) await saved(db, domainId, [`h${i} 300 A 192.0.2.1`]);
    const { rows } = await sql<{ custom: number; generic: number }>`
        select custom_plans::integer as custom, generic_plans::integer as generic from pg_prepared_statements
        where statement not like '%pg_notify%'`.execute(db);
    expect(rows).toHaveLength(5); // begin, lock, load, write, commit
    for (const { custom, generic } of rows) {
      expect(custom).toBeLessThanOrEqual(5); // custom plans that Postgres tries first
      expect(generic).toBeGreaterThan(10);
    }
  } finally {
    await db.destroy();
  }
});

test('records can swap their values in one edit', async () => {
  const { ops } = await saved(db, domainId, ['a A 192.0.2.1', 'b CNAME a.example.com', 'c TXT c']);
  const [a, b, c] = ops.map(({ after }) => after?.id as number) as [number, number, number];
  await saved(db, domainId, {
    delete: [c],
    update: [
      [a, { name: 'b' }],
      [b, { name: 'a', destination: 'b.example.com' }],
    ],
    create: ['c CNAME a.example.com'],
  });
  expect(await listed(db, domainId)).toEqual([
    'a 300 CNAME b.example.com',
    'b 300 A 192.0.2.1',
    'c 300 CNAME a.example.com',
  ]);
  await expectPublished(db, domainId);
});

test('problems, dry runs and edits of disabled or deleted domains write nothing', async () => {
  await saved(db, domainId, ['a A 192.0.2.1', 'd NS ns.else.example.']);
  const counts = async () =>
    await Promise.all(
      (['changes', 'domain_changes', 'records', 'zone_records'] as const).map(
        (table) => value<number>`select count(*) as n from ${sql.table(table)}`,
      ),
    );
  const before = await counts();
  const asked = async (lines: Parameters<typeof edit>[0], rest = {}) =>
    await saveEdit(db, { ...BY, domainId, edit: edit(lines), ...rest });
  const problems = async (lines: Parameters<typeof edit>[0]) => {
    const result = await asked(lines);
    return result.kind === 'problems' ? result.problems.map(showProblem) : result;
  };
  expect(await problems({ create: ['x A 192.0.2.1', 'a CNAME x.'] })).toEqual(['conflict create[1]']);
  expect(await problems({ create: ['x.d A 192.0.2.1'] })).toEqual(['conflict create[0]']);
  expect(await problems({ create: ['a.a.a NS ns.a.a.a', 'x.a.a.a TXT x'] })).toEqual(['conflict create[1]']);
  expect(await problems({ delete: [4711] })).toEqual(['not_found delete[0] id']);
  const { items } = await listRecords(
    db,
    domainId,
    { types: ['NS'], name: APEX },
    { sort: 'name', descending: false },
    { limit: 9 },
  );
  expect(items.map(({ managed }) => managed)).toEqual([true, true]);
  expect(await problems({ delete: [items[0]?.id as number] })).toEqual(['managed delete[0]']);
  await setPlan(db, { ...BY, domainId, planSlug: null });
  expect(await problems({ create: ['x A 192.0.2.1'] })).toEqual(['plan_limit create[0]']);
  await setPlan(db, { ...BY, domainId, planSlug: 'pro' });
  expect(await asked({ create: ['x A 192.0.2.1'] }, { dryRun: true })).toMatchObject({
    kind: 'dry_run',
    recordCount: 3,
  });
  expect(await saveEdit(db, { ...BY, domainId: 4711, edit: NO_EDIT })).toMatchObject({ code: 'not_found' });
  await query`update domains set status = 'disabled', served = 'none'`;
  expect(await asked({ create: ['x A 192.0.2.1'] })).toMatchObject({ code: 'domain_disabled' });
  expect(await counts()).toEqual(before);
});

test('a delegation is validated against all records below it, at any depth', async () => {
  await saved(db, domainId, ['x.y.d A 192.0.2.1', 'ns.d A 192.0.2.2', 'e A 192.0.2.3']);
  const delegate = { create: ['d NS ns.d.example.com'] };
  expect(await saveEdit(db, { ...BY, domainId, edit: edit(delegate) })).toMatchObject({ kind: 'problems' });
  const deep = await loadIds('x.y.d');
  await saved(db, domainId, edit({ ...delegate, delete: deep }));
  await expectPublished(db, domainId);
});

test('glue of a nested delegation is added and removed with the delegation, also by a revert', async () => {
  const asked = async (lines: Parameters<typeof edit>[0]) => {
    const result = await saveEdit(db, { ...BY, domainId, edit: edit(lines) });
    return result.kind === 'problems' ? result.problems.map(showProblem) : result.kind;
  };
  await saved(db, domainId, ['b NS ns.else.example.', 'w.c A 192.0.2.1']);
  expect(await asked({ create: ['ns.b A 192.0.2.1'] })).toEqual(['conflict create[0]']);
  await saved(db, domainId, ['a NS NS.b.example.com', 'a NS c.c.example.com']);
  await saved(db, domainId, ['ns.b A 192.0.2.1', 'c.c AAAA 2001:db8::1']);
  const delegation = await loadIds('a');
  expect(await asked({ delete: delegation })).toEqual(['conflict delete[0]']);
  // Another delegation now uses the glue.
  await saved(db, domainId, { create: ['d NS ns.b.example.com'], delete: delegation });
  const last = await loadIds('d', 'NS');
  expect(await asked({ delete: last })).toEqual(['conflict delete[0]']);
  const glue = await loadIds('ns.b');
  const { changeId } = await saved(db, domainId, { delete: [...glue, ...last] });
  await expectPublished(db, domainId);
  expect(await saveRevert(db, { domainId, changeId, by: BY.by })).toMatchObject({ kind: 'saved' });
  expect((await listed(db, domainId)).filter((line) => /^(ns\.)?[bd] /.test(line))).toEqual([
    'b 300 NS ns.else.example',
    'd 300 NS ns.b.example.com',
    'ns.b 300 A 192.0.2.1',
  ]);
  // A revert is checked like any edit: the delegation that it deletes would leave glue behind.
  const { changeId: delegated } = await saved(db, domainId, ['f NS ns9.b.example.com']);
  await saved(db, domainId, ['ns9.b A 192.0.2.9']);
  expect(await saveRevert(db, { domainId, changeId: delegated, by: BY.by })).toMatchObject({
    kind: 'problems',
    problems: [{ code: 'conflict', list: 'delete', index: 0 }],
  });
  await expectPublished(db, domainId);
});

test('a name whose records publish nothing has a marker, until it publishes something or is deleted', async () => {
  const marks = async () => (await published(db))?.filter((line) => line.includes('TYPE0'));
  const counted = async () =>
    (await db.selectFrom('zones').select('records').where('name', '=', 'example.com.').execute())[0]?.records;
  const node = await followLoaded({ databaseUrl: url });
  const served = () => node.zones.get(APEX)?.records;
  const check = async (expected: string[], records: number) => {
    expect(await marks()).toEqual(expected);
    expect(await counted()).toBe(records);
    await expectPublished(db, domainId);
    await untilEqual(node, db);
    expect(served()).toBe(records);
    expect(node.state().records).toBe(records);
  };
  const { ops } = await saved(db, domainId, ['m ANAME x.example.net', '*.w ANAME x.example.net']);
  await check(['*.w 0 TYPE0 \\# 0', 'm 0 TYPE0 \\# 0'], 3);
  await saved(db, domainId, ['other TXT x']); // the node applies a difference
  await check(['*.w 0 TYPE0 \\# 0', 'm 0 TYPE0 \\# 0'], 4);
  await saved(db, domainId, { update: [[ops[0]?.after?.id as number, { ttl: 900 }]] });
  await saved(db, domainId, ['m TXT x']);
  await check(['*.w 0 TYPE0 \\# 0'], 5);
  await saved(db, domainId, { delete: await loadIds('m', 'TXT') });
  await check(['*.w 0 TYPE0 \\# 0', 'm 0 TYPE0 \\# 0'], 4);
  await saved(db, domainId, { delete: ops.map(({ after }) => after?.id as number) });
  await check([], 4);
  await node.stop();
});

test('an edit can depend on the present records, in a transaction that continues after it fails', async () => {
  await saved(db, domainId, ['a A 192.0.2.1']);
  const results = await inTransaction(db, async (trx) => [
    await saveEdit(trx, {
      ...BY,
      domainId,
      edit: async ({ recordsAt }) => {
        const [a] = await recordsAt([parseName('a.example.com.')]);
        return { ...NO_EDIT, creates: [{ name: APEX, type: 'A', rdata: (a as CustomerRecord).rdata }] };
      },
    }),
    await saveEdit(trx, {
      ...BY,
      domainId,
      edit: async () => {
        await sql`insert into domains default values`.execute(trx);
        return NO_EDIT;
      },
    }).catch((error) => error.code),
    await saveEdit(trx, { ...BY, domainId, edit: edit({ create: ['b A 192.0.2.1'] }) }),
  ]);
  expect(results).toMatchObject([{ kind: 'saved' }, '23502', { kind: 'saved' }]);
  await expectSerials(db, domainId);
  expect(await listed(db, domainId)).toHaveLength(3);
  await expectPublished(db, domainId);
});

test('hundreds of items need as many statements as a few', async () => {
  const octets = (i: number) => `${(i >> 8) % 256}.${i % 256}`;
  const range = Array.from({ length: 600 }, (_, i) => i);
  const counted = (lines: Parameters<typeof edit>[0]) =>
    countStatements(() => saved(db, domainId, edit(lines)));
  const mix = (ops: readonly { after?: { id: number } | null }[], size: number, name: string) => ({
    delete: ops.slice(0, size).map(({ after }) => after?.id as number),
    update: ops
      .slice(size, 2 * size)
      .map(({ after }, i): [number, object] => [after?.id as number, { destination: `10.1.${octets(i)}` }]),
    create: range.slice(0, size).map((i) => `${name}${i} TXT t${i}`),
  });
  // The first edit of a process may load data that later ones have cached.
  await counted({ create: ['first A 10.0.0.1'] });
  // More than what is loaded together with the lock.
  const few = await counted({ create: range.slice(0, 20).map((i) => `f${i} A 10.0.${octets(i)}`) });
  const fewMixed = await counted(mix(few.value.ops, 6, 'f'));
  const many = await counted({ create: range.map((i) => `h${i} A 10.0.${octets(i)}`) });
  const manyMixed = await counted(mix(many.value.ops, 200, 'h'));
  expect(many.statements).toBeLessThan(2 * few.statements);
  expect(manyMixed.statements).toBeLessThan(2 * fewMixed.statements);
  await expectPublished(db, domainId);
});

test('32 concurrent writers of the same names all get a result, and the log explains the present records', async () => {
  const node = await followLoaded({ databaseUrl: url });
  const types = [
    'A 192.0.2.1',
    'A 192.0.2.2',
    'CNAME b.',
    'AAAA 2001:db8::1',
    'TXT x',
    'ANAME c.example.net.',
  ];
  const names = ['a', 'b', '@', 'c.a'];
  let state = 42;
  const pick = <T>(list: readonly T[]): T => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return list[(state >>> 8) % list.length] as T;
  };
  const answers = new Map<string, number>();
  const acknowledged: number[] = [];
  const writer = async () => {
    for (let i = 0; i < 1000 && acknowledged.length < 30; i++) {
      const lines = [`${pick(names)} ${60 + (i % 3)} ${pick(types)}${pick(['', '', ' ; proxied'])}`];
      const { items } = await listRecords(
        db,
        domainId,
        {},
        { sort: 'name', descending: false },
        { limit: 50 },
      );
      const own = items.filter(({ managed }) => !managed);
      const gone = own.length === 0 || i % 2 === 0 ? [] : [pick(own).id];
      const valid = lines.filter((line) => !line.includes('TXT') || !line.includes('proxied'));
      const result = await saveEdit(db, { ...BY, domainId, edit: edit({ create: valid, delete: gone }) });
      if (result.kind === 'saved') acknowledged.push(result.changeId);
      const answer = result.kind === 'problems' ? (result.problems[0]?.code as string) : result.kind;
      answers.set(answer, (answers.get(answer) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: 32 }, writer));
  expect([...answers.keys()].sort()).toEqual(
    [...answers.keys()]
      .filter((a) => ['saved', 'conflict', 'not_found', 'invalid', 'unchanged'].includes(a))
      .sort(),
  );
  expect(answers.get('saved')).toBeGreaterThanOrEqual(30);
  const log = await listDomainChanges(db, domainId, { limit: 100_000 });
  const edits = log.filter(({ operation }) => operation === 'edit').reverse();
  expect(edits.map(({ id }) => id)).toEqual([...acknowledged].sort((a, b) => a - b));
  await expectSerials(db, domainId);
  const replayed = new Map<number, CustomerRecord>();
  for (const { ops } of edits)
    for (const { before, after } of ops) {
      if (before !== undefined) {
        expect(replayed.get(before.id)).toEqual(before);
        replayed.delete(before.id);
      }
      if (after !== undefined) replayed.set(after.id, after);
    }
  expect(await customerRecords([...replayed.keys()])).toEqual(
    [...replayed.values()].sort((a, b) => a.id - b.id),
  );
  expect(await loadDomainById(db, domainId)).toMatchObject({ recordCount: replayed.size });
  await expectPublished(db, domainId);
  await untilEqual(node, db);
  await node.stop();
});

test('the database rejects what the planner would reject, if it is written without the planner', async () => {
  await saved(db, domainId, [
    'a CNAME b.',
    'p A 192.0.2.1 ; proxied',
    't 60 A 192.0.2.1',
    'n ANAME x.example.net.',
    'd DNAME x.example.net',
  ]);
  const other = await newDomain(db, accountId, 'example.net.');
  const insert = async (line: string, changes: Record<string, unknown> = {}, into = domainId) => {
    const { rdata, name: _, ...value } = newRecord(line);
    const owner = `${line.split(' ')[0]}.example.com.`.replace('@.', '');
    const row = {
      domain_id: into,
      name: owner,
      type: value.type,
      rdata: Buffer.from(rdata),
      identity: Buffer.from(rdata).subarray(0, 33),
      destination: '',
      ttl: value.ttl,
      proxied: value.proxied,
      captcha: false,
      scheme: 'Default',
      port: 443,
      host_header: null,
      monitor: false,
      dest_country: null,
      timeout: 15,
      comment: null,
      created_at: new Date(),
      updated_at: new Date(),
      ...changes,
    };
    return await db
      .insertInto('records')
      .values(row)
      .execute()
      .then(
        () => 'written',
        (error) => `${error.code} ${error.constraint}`,
      );
  };
  const atOneName = '23514 records_at_one_name';
  for (const line of [
    'a A 192.0.2.1',
    'a CNAME c.',
    'p A 192.0.2.2',
    'p CNAME c.',
    't 61 A 192.0.2.2',
    't 60 A 192.0.2.1',
    'n A 192.0.2.1',
    'n ANAME y.example.net.',
    'd DNAME y.example.net',
    '@ CNAME b.',
    '@ NS ns.else.example.',
  ])
    expect([line, await insert(line)]).toEqual([line, atOneName]);
  expect(await insert('x A 192.0.2.1', {}, other.id)).toBe(atOneName);
  for (const [column, value] of [
    ['ttl', 59],
    ['ttl', 86_401],
    ['port', 0],
    ['port', 65_536],
    ['timeout', 0],
    ['scheme', 'http'],
    ['comment', 'x'.repeat(1025)],
    ['dest_country', 'de'],
    ['type', 'SOA'],
    ['type', 'TYPE01'],
    ['rdata', Buffer.alloc(0)],
    ['name', 'X.example.com.'],
  ] as const)
    expect([column, await insert('x A 192.0.2.1', { [column]: value })]).toEqual([
      column,
      `23514 records_${column}_check`,
    ]);
  expect(await insert('x TXT x', { proxied: true })).toMatch(/^23514 records_check|records_proxied_check/);
  expect(await insert('x A 192.0.2.1', {}, 4711)).toBe('23503 records_domain_id_fkey');
  expect(await insert('ok A 192.0.2.1')).toBe('written');
  const bad = query`update records set name = 'a.example.com.' where type = 'A'`;
  await expect(bad).rejects.toThrow('a.example.com. has a CNAME and something else');
});

async function loadIds(name: string, type?: string): Promise<number[]> {
  const rows = await query<{ id: number; type: string }>`
    select id, type from records where name = ${`${name}.example.com.`} order by id`;
  return rows.filter((row) => type === undefined || row.type === type).map(({ id }) => id);
}

test('an edit of a large domain reads few records, although the statistics say that domains have few', async () => {
  await sql`alter table records alter column domain_id set (n_distinct = -0.05)`.execute(db);
  await saved(
    db,
    domainId,
    Array.from({ length: 900 }, (_, i) => `host${i} A 192.0.2.1`),
  );
  await sql`analyze records`.execute(db);
  const [{ id }] = (await query`select id from records where not managed order by id limit 1`) as [
    { id: string },
  ];
  const reads: number[] = [];
  let before = 0;
  // The counter includes earlier transactions of the connection until Postgres adds it to the statistics.
  const settle = async (trx: Database) => {
    const { rows } = await sql<{ count: number }>`
      select (seq_tup_read + idx_tup_fetch)::integer as count from pg_stat_xact_user_tables where relname = 'records'`.execute(
      trx,
    );
    const { count } = rows[0] as { count: number };
    reads.push(count < before ? count : count - before);
    before = count;
  };
  await db.connection().execute(async (one) => {
    const save = async (changes: Parameters<typeof edit>[0]) => {
      const { kind } = await saveEdit(one, { domainId, edit: edit(changes), settle, warns: true, ...BY });
      expect(kind).toBe('saved');
    };
    await save({ create: ['first A 192.0.2.2'] });
    reads.pop();
    // Statements are prepared after some uses, and Postgres keeps their plans after some more.
    for (let i = 0; i < 20; i++) {
      await save({ create: [`new${i} A 192.0.2.2`] });
      await save({ update: [[Number(id), { ttl: 60 + i }]] });
      await save({ replace: [[`host${2 * i + 1}`, 'A', '300 A 192.0.2.3']] });
      await save({ replace: [[`host${2 * i + 2}`, 'A']] });
    }
  });
  await sql`alter table records alter column domain_id reset (n_distinct)`.execute(db);
  expect(Math.max(...reads)).toBeLessThan(50);
});
