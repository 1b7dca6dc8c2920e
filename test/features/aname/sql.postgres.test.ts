import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseName, printName } from '../../../src/dns/name.ts';
import {
  claimDueTargets,
  deleteTarget,
  findTargetLoop,
  loadTarget,
} from '../../../src/features/aname/sql.ts';
import { publishTarget } from '../../../src/features/aname/sql-publish.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { restoreDomain } from '../../../src/store/change/restore-domain.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { saveRevert } from '../../../src/store/change/save-revert.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import {
  BY,
  expectPublished,
  newAccount,
  newDomain,
  published,
  saved,
} from '../../support/database/domains.ts';
import { keptDatabase, sharedDatabase } from '../../support/tests/shared-database.ts';
import { madeTargets } from '../../support/world/made-targets.ts';
import { edit } from '../../support/zone/customer-records.ts';

const { db, query } = sharedDatabase();

describe('find-target-loop', () => {
  // ANAME records that form a loop across domains of the fleet.
  const { db, query } = keptDatabase();

  beforeAll(async () => {
    const accountId = await newAccount(db, 'me@example.org');
    const domains: Record<string, string[]> = {
      'a.test.': [
        '@ ANAME b.test',
        'x ANAME alias.example.net',
        '*.w ANAME deep.w.a.test',
        'own.w TXT x',
        'p ANAME q.b.test ; proxied',
      ],
      'b.test.': ['@ ANAME c.test', 'q ANAME p.a.test', 'out ANAME www.example.net'],
      'c.test.': ['@ ANAME a.test', 'claim ANAME claim.d.test'],
      'd.test.': ['claim ANAME claim.c.test'],
    };
    for (const [name, create] of Object.entries(domains)) {
      const { id } = await newDomain(db, accountId, name);
      await saved(db, id, edit({ create }, parseName(name)));
    }
    await query`update domains set status = 'active' where name <> 'd.test.'`;
    await query`update aname_targets set leads_to = 'x.a.test.' where target = 'alias.example.net'`;
  });

  test.each([
    ['finds a loop of three records', 'a.test.', 'a.test.', 'a.test. b.test. c.test. a.test.'],
    ['finds a loop behind a record', 'www.test.', 'b.test.', 'www.test. c.test. a.test. b.test. c.test.'],
    [
      'finds a loop through an external alias',
      'alias.example.net.',
      'x.a.test.',
      'alias.example.net. alias.example.net.',
    ],
    [
      'finds a loop of a wildcard that points below itself',
      'deep.w.a.test.',
      'deep.w.a.test.',
      'deep.w.a.test. deep.w.a.test.',
    ],
    ['ends at a name of another operator', 'out.b.test.', 'out.b.test.', undefined],
    ['ignores a wildcard next to an existing name', 'own.w.a.test.', 'own.w.a.test.', undefined],
    ['ignores a proxied record', 'p.a.test.', 'p.a.test.', undefined],
    ['ignores a domain that is not active', 'claim.c.test.', 'claim.c.test.', undefined],
    ['ignores a name of no domain', 'www.example.net.', 'cdn.example.net.', undefined],
  ])('%s', async (_, target, leadsTo, way) => {
    const found = await findTargetLoop(db, parseName(target), parseName(leadsTo));
    expect(found?.map(printName).join(' ')).toBe(way);
  });
});

describe('publish-target', () => {
  // Addresses of ANAME targets in the published zones: for every way to publish a record or a domain, and for every
  // domain when they change.
  const TARGET = parseName('web.example.net.');
  const NEVER = new AbortController().signal;
  let accountId: number;
  let domainId: number;

  beforeEach(async () => {
    accountId = await newAccount(db, 'me@example.org');
    domainId = (await newDomain(db, accountId)).id;
  });

  /** Returns the published records at names with addresses, without the serial. */
  const addresses = async (name = 'example.com.') =>
    ((await published(db, parseName(name))) ?? []).filter((line) => / (A|AAAA) /.test(line));
  const targets = () => query<{ id: number; target: string; isDue: boolean }>`
      select id, target, due_at <= clock_timestamp() as "isDue" from aname_targets order by target`;
  const sources = async (id = domainId) =>
    (await listDomainChanges(db, id, { limit: 99 })).map(({ source }) => source);
  /** Creates domains, each with a record of the target. */
  const others = async (count: number) => {
    const ids: number[] = [];
    for (let i = 0; i < count; i++) {
      const { id, name } = await newDomain(db, accountId, `d${i}.test.`);
      await saved(db, id, edit({ create: ['a ANAME web.example.net'] }, name));
      ids.push(id);
    }
    return ids;
  };
  /** Saves addresses of the target. */
  const look = async (said = '192.0.2.7 2001:db8::7 for 120', name = 'example.net.') => {
    const made = madeTargets(db);
    made.said.set(name, said);
    await made.round();
    return made;
  };

  test('a target is stored with its first record, once for all records, and is due immediately', async () => {
    await saved(db, domainId, ['@ ANAME Web.Example.NET', 'www ANAME web.example.net']);
    const other = await newDomain(db, accountId, 'other.test.');
    await saved(
      db,
      other.id,
      edit({ create: ['x ANAME web.example.net', 'y ANAME z.test ; proxied'] }, other.name),
    );
    const noted = await targets();
    expect(noted).toMatchObject([{ target: 'web.example.net', isDue: true }]);
    expect(await claimDueTargets(db, 10)).toEqual([{ targetId: noted[0]?.id }]);
    expect(await claimDueTargets(db, 10)).toEqual([]);
  });

  test('known addresses are published immediately when a record points to the target', async () => {
    await saved(db, domainId, ['@ ANAME web.example.net', '*.w 60 ANAME web.example.net']);
    expect(await addresses()).toEqual([]);
    await look();
    const seen = ['@ 120 A 192.0.2.7', '@ 120 AAAA 2001:db8::7'];
    expect(await addresses()).toEqual(['*.w 60 A 192.0.2.7', '*.w 60 AAAA 2001:db8::7', ...seen]);
    expect(await sources()).toEqual(['aname', 'api', 'api']);

    const made = await saved(db, domainId, ['a ANAME web.example.net', 'p ANAME web.example.net ; proxied']);
    const proxied = ['p 300 A 192.0.2.1', 'p 300 AAAA 2001:db8::1'];
    const own = ['a 120 A 192.0.2.7', 'a 120 AAAA 2001:db8::7'];
    expect((await addresses()).filter((line) => /^[ap] /.test(line))).toEqual([...own, ...proxied]);
    const [a, p] = made.ops.map(({ after }) => after?.id as number) as [number, number];
    await saved(db, domainId, {
      update: [
        [a, { proxied: true }],
        [p, { proxied: false }],
      ],
    });
    expect(await addresses()).toContain('p 120 A 192.0.2.7');
    expect(await addresses()).toContain('a 300 A 192.0.2.1');
    await saved(db, domainId, { delete: [p] });
    expect((await addresses()).filter((line) => line.startsWith('p '))).toEqual([]);
    await expectPublished(db, domainId);
  });

  test('another target, and a reverted change', async () => {
    const { ops } = await saved(db, domainId, ['a ANAME web.example.net']);
    await look();
    const id = ops[0]?.after?.id as number;
    const changed = await saved(db, domainId, { update: [[id, { destination: 'new.example.org' }]] });
    expect(await addresses()).toEqual(['a 120 A 192.0.2.7', 'a 120 AAAA 2001:db8::7']); // until the target is looked up
    await look('192.0.2.8 for 60', 'example.org.');
    expect(await addresses()).toEqual(['a 60 A 192.0.2.8']);
    await saveRevert(db, { domainId, changeId: changed.changeId, by: BY.by });
    expect(await addresses()).toEqual(['a 120 A 192.0.2.7', 'a 120 AAAA 2001:db8::7']);
    await expectPublished(db, domainId);
  });

  test('until the first lookup, a name keeps the addresses that it had before', async () => {
    const create = [
      'a 600 A 192.0.2.3',
      'a 60 AAAA 2001:db8::3',
      'b 900 A 192.0.2.4',
      'c CNAME x.test ; proxied',
    ];
    const { ops } = await saved(db, domainId, [...create, 'd TXT x']);
    const [, , , c] = ops.map(({ after }) => after?.id as number) as [number, number, number, number];
    const made = await saved(db, domainId, {
      replace: [
        ['a', 'A'],
        ['a', 'AAAA'],
        ['b', 'A'],
        ['c', 'CNAME'],
      ],
      create: [
        'a ANAME web.example.net',
        'b ANAME web.example.net',
        'c ANAME x.test ; proxied',
        'n ANAME x.test',
      ],
    });
    expect(made.ops.some(({ before }) => before?.id === c)).toBe(true);
    const proxied = made.ops.find(({ after }) => after?.type === 'ANAME' && after.proxied)?.after
      ?.id as number;
    await saved(db, domainId, { update: [[proxied, { proxied: false }]] });
    const held = [
      ...['a 60 A 192.0.2.3', 'a 60 AAAA 2001:db8::3', 'b 300 A 192.0.2.4'],
      ...['c 300 A 192.0.2.1', 'c 300 AAAA 2001:db8::1'],
    ];
    expect(await addresses()).toEqual(held); // and n has none
    await expectPublished(db, domainId);

    expect(await publishTarget(db, TARGET, NEVER)).toBe(0);
    await query`update domains set answers_generation = answers_generation - 1`;
    await saved(db, domainId, ['e TXT x']); // the whole zone
    expect(await addresses()).toEqual(held);
    await migrate(db, { ...TEST_SETTINGS, edgeIpv4: ['192.0.2.99'] });
    expect(await addresses()).toEqual(held);
    await expectPublished(db, domainId);

    const looked = await look('192.0.2.7 for 120');
    expect(await addresses()).toEqual(['a 120 A 192.0.2.7', 'b 120 A 192.0.2.7', ...held.slice(3)]);
    looked.said.set('x.test.', '192.0.2.8 for 120');
    await looked.runFor(60);
    expect((await addresses()).slice(2)).toEqual(['c 120 A 192.0.2.8', 'n 120 A 192.0.2.8']);
    await expectPublished(db, domainId);
  });

  test('a fully republished zone has the addresses: after a restore, and after a change of settings', async () => {
    await saved(db, domainId, ['a ANAME web.example.net', '@ ANAME web.example.net']);
    await look();
    const before = await addresses();
    expect(before).toHaveLength(4);
    await changeStatus(db, { ...BY, domainId, event: 'disable' });
    await changeStatus(db, { ...BY, domainId, event: 'enable' });
    await query`update domains set served = 'full', open = true where id = ${domainId}`;
    await inTransaction(db, (trx) => saved(trx, domainId, ['x A 192.0.2.3']));
    await deleteDomain(db, { ...BY, domainId });
    await restoreDomain(db, { ...BY, domainId, exempt: true });
    expect(await addresses()).toEqual(expect.arrayContaining(before));
    await migrate(db, { ...TEST_SETTINGS, edgeIpv4: ['192.0.2.99'], soaRname: 'x.example.net' });
    expect(await addresses()).toEqual(expect.arrayContaining(before));
    await expectPublished(db, domainId);
  });

  test('a change of addresses causes one change per domain, and none in domains that already have them', async () => {
    const ids = [domainId, ...(await others(5))];
    await saved(db, domainId, ['x A 192.0.2.1']);
    const made = await look('192.0.2.7 for 120');
    made.said.set('example.net.', '192.0.2.8 for 120');
    await made.runFor(120);
    expect(made.lookedUp).toHaveLength(2);
    for (const id of ids.slice(1)) expect(await sources(id)).toEqual(['aname', 'aname', 'api', 'api']);
    expect(await sources()).toEqual(['api', 'api']);
    expect(await publishTarget(db, TARGET, NEVER)).toBe(0);
    await expectPublished(db, ...ids);
  });

  test('the work of a killed worker is completed', async () => {
    const ids = await others(4);
    await look('192.0.2.7 for 120');
    await query`update aname_targets set v4_addresses = '{192.0.2.8}', seq = seq + 1, is_published = false`;
    const killed = new AbortController();
    const stopping = publishTarget(db, TARGET, killed.signal);
    killed.abort(new Error('killed'));
    await expect(stopping).rejects.toThrow('killed');
    await publishTarget(db, TARGET, NEVER);
    const [row] = await targets();
    expect((await loadTarget(db, row?.id as number))?.isPublished).toBe(false);
    const made = madeTargets(db); // the next run is too early for another lookup, and completes the rest
    await query`update aname_targets set due_at = now() - interval '1 second'`;
    expect(await made.round()).toEqual([{ kind: 'early' }]);
    expect((await loadTarget(db, row?.id as number))?.isPublished).toBe(true);
    for (const id of ids) expect((await sources(id)).slice(0, 2)).toEqual(['aname', 'aname']);
    await expectPublished(db, ...ids);
  });

  test('a record that is written while its target changes gets the new addresses', async () => {
    await saved(db, domainId, ['a ANAME web.example.net']);
    const made = await look('192.0.2.7 for 60');
    let isWritten = () => {};
    const written = new Promise<void>((done) => {
      isWritten = done;
    });
    let commit = () => {};
    const committing = new Promise<void>((done) => {
      commit = done;
    });
    const writing = inTransaction(db, async (trx) => {
      await saved(trx, domainId, ['b ANAME web.example.net']);
      isWritten();
      await committing;
    });
    await written;
    made.said.set('example.net.', '192.0.2.8 for 60');
    const looking = made.runFor(60);
    commit();
    await Promise.all([writing, looking]);
    expect(await addresses()).toEqual(['a 60 A 192.0.2.8', 'b 60 A 192.0.2.8']);
    await expectPublished(db, domainId);
  });

  test('an unused target is deleted, unless it is used again', async () => {
    const { ops } = await saved(db, domainId, ['a ANAME web.example.net']);
    const made = await look();
    const [row] = await targets();
    const id = row?.id as number;
    expect(await deleteTarget(db, id)).toBe(false);
    await saved(db, domainId, { delete: [ops[0]?.after?.id as number] });
    expect((await loadTarget(db, id))?.isNeeded).toBe(false);
    await saved(db, domainId, ['b ANAME web.example.net']);
    expect(await deleteTarget(db, id)).toBe(false);
    await changeStatus(db, { ...BY, domainId, event: 'disable' });
    made.clock.now += 120_000;
    expect(await made.round()).toEqual([{ kind: 'deleted' }]);
    expect(await targets()).toEqual([]);
  });

  test('writers with the same target do not wait for each other', async () => {
    const other = await newDomain(db, accountId, 'other.test.');
    await saved(db, domainId, ['a ANAME web.example.net']);
    await inTransaction(db, async (trx) => {
      await saved(trx, domainId, ['b ANAME web.example.net']);
      const result = await saveEdit(db, {
        ...BY,
        domainId: other.id,
        edit: edit({ create: ['a ANAME web.example.net'] }, other.name),
      });
      expect(result.kind).toBe('saved');
    });
  });
});
