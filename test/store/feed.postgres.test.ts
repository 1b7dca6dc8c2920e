import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { deleteDomain } from '../../src/store/change/save-domain.ts';
import { inSync } from '../../src/store/feed/in-sync.ts';
import {
  BUCKETS,
  listZoneStates,
  loadChangedZones,
  loadFingerprints,
  zoneFingerprint,
} from '../../src/store/feed/load-changed-zones.ts';
import {
  claimNodeName,
  confirmNodes,
  forgetNodes,
  listNodes,
  saveNodeReport,
} from '../../src/store/feed/nodes.ts';
import {
  type DnsCountsReport,
  reportAskedZones,
  reportDnsCounts,
} from '../../src/store/feed/report-counts.ts';
import { type Connection, connect } from '../../src/store/postgres/connection.ts';
import { saveZones, unloadZones } from '../../src/store/zones/save-zones.ts';
import { asRole } from '../support/database/database.ts';
import { BY, newAccount, newDomain, saved } from '../support/database/domains.ts';
import { followLoaded, smallZone } from '../support/processes/follow.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { until } from '../support/tests/until.ts';
import { APEX } from '../support/zone/customer-records.ts';

const { db, url, query, column } = sharedDatabase();

describe('asked-names', () => {
  const SLOTS = 4096;

  let node: Connection;

  beforeEach(async () => {
    node = await connect(asRole(url, 'zonefleet_node'), { applicationName: 'test' });
  });
  afterEach(() => node.close());
  const reported = () => column<number>`select zone_id from asked_names order by zone_id`;

  test('reports of one zone are one row, and ids whose slot another zone has are returned', async () => {
    expect(await reportAskedZones(node, [5, 6, 7])).toEqual([]);
    expect(await reportAskedZones(node, [6, 5 + SLOTS, 8])).toEqual([5 + SLOTS]);
    expect(await reportAskedZones(node, [9, 9 + SLOTS])).toHaveLength(1);
    expect(await reported()).toEqual([5, 6, 7, 8, expect.any(Number)]);
  });

  test('a node cannot fill the disk with reports', async () => {
    const all = Array.from({ length: 3 * SLOTS }, (_, i) => i + 1);
    expect(await reportAskedZones(node, all)).toHaveLength(2 * SLOTS);
    expect((await reported()).length).toBe(SLOTS);
    for (const statement of [
      'insert into asked_names (slot, zone_id) values (4096, 4096)',
      'insert into asked_names (slot, zone_id) values (1, 2)',
      'insert into asked_names (slot, zone_id) values (-1, -1)',
    ])
      await expect(node.query(statement)).rejects.toThrow(/violates check constraint/);
  });
});

describe('in-sync', () => {
  let domainId: number;

  beforeEach(async () => {
    domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
  });

  const change = async (i: number) => (await saved(db, domainId, [`h${i} A 192.0.2.1`])).changeId;
  const sync = async (id: number) => (await inSync(db, [id])).get(id);

  test('is false until the last node serves the change, and true soon afterwards', async () => {
    const nodes = await Promise.all(
      ['one', 'two', 'three'].map((nodeName) => followLoaded({ databaseUrl: url, nodeName })),
    );
    await until(async () => (await sync(await change(0)))?.nodes.live === 3);
    for (let i = 1; i <= 5; i++) {
      const id = await change(i);
      const serial = (await db.selectFrom('domains').select('serial').executeTakeFirstOrThrow()).serial;
      await until(async () => {
        const told = await sync(id);
        const served = nodes.filter((node) => (node.zones.get(APEX)?.serial ?? 0) >= serial).length;
        expect(told?.nodes.seen).toBeLessThanOrEqual(served);
        return told?.inSync === true;
      });
    }
    await Promise.all(nodes.map((node) => node.stop()));
    expect(await sync(await change(6))).toEqual({ inSync: false, nodes: { seen: 0, live: 0 } });
  });

  test('a silent node is waited for until it was not seen for a day, but a node that signed off is not', async () => {
    const node = await followLoaded({ databaseUrl: url, nodeName: 'here' });
    await query`insert into nodes (name, instance, started_at, seen_at, loaded, epoch, position, snapshot)
      select 'silent', gen_random_uuid(), now(), now() - interval '23 hours', true, epoch, position, snapshot
      from nodes where name = 'here'`;
    const id = await change(1);
    await until(async () => (await sync(id))?.nodes.seen === 1);
    expect(await sync(id)).toEqual({ inSync: false, nodes: { seen: 1, live: 2 } });
    await query`update nodes set seen_at = now() - interval '25 hours' where name = 'silent'`;
    expect(await sync(id)).toEqual({ inSync: true, nodes: { seen: 1, live: 1 } });
    await query`update nodes set seen_at = now(), left_at = now() where name = 'silent'`;
    expect((await sync(id))?.inSync).toBe(true);
    expect((await inSync(db, [id, 4711])).has(4711)).toBe(false);
    await node.stop();
  });

  test('nodes of another epoch, that are loading, hold removals back, or cannot serve the change do not have it', async () => {
    const node = await followLoaded({ databaseUrl: url, nodeName: 'here' });
    const edited = await change(1);
    const deleted = await deleteDomain(db, { ...BY, domainId });
    const removal = deleted.kind === 'deleted' ? deleted.changeId : 0;
    await until(async () => (await sync(removal))?.inSync === true);
    await node.stop();
    const withNode = async (set: string) => {
      await query`update nodes set left_at = null, loaded = true, held_since = null, unserved = '{}'`;
      await query`update nodes set ${sql.raw(set)}`;
      return [(await sync(edited))?.inSync, (await sync(removal))?.inSync];
    };
    expect(await withNode('loaded = true')).toEqual([true, true]);
    expect(await withNode('loaded = false')).toEqual([false, false]);
    expect(await withNode('held_since = now()')).toEqual([true, false]);
    const domainsZone = "(select id from zones where name = 'example.com.')";
    expect(await withNode(`unserved = array[1000000, ${domainsZone}]`)).toEqual([false, false]);
    expect(await withNode("unserved = '{1000000}'")).toEqual([true, true]);
    expect(await withNode('unserved = null')).toEqual([false, false]); // too many to list
    expect(await withNode("epoch = 'other'")).toEqual([false, false]);
  });
});

describe('load-changed-zones', () => {
  const BY = { source: 'test' } as const;
  const A = parseName('a.example.');

  let connection: Connection;

  beforeEach(async () => {
    connection = await connect(url, { applicationName: 'test' });
  });
  afterEach(() => connection.close());

  /** The first zone's. */
  const stateOf = async () => (await listZoneStates(connection, 0, 10))[0];
  const load = async (since: Awaited<ReturnType<typeof stateOf>>) =>
    await loadChangedZones(connection, [{ id: since?.id as number, since }]);

  test('from a known version, loads the changed sets completely and no others', async () => {
    await saveZones(db, [smallZone('a.example.', 1, 'x A 192.0.2.1\nx A 192.0.2.2\ny TXT "y"')], BY);
    const since = await stateOf();
    await saveZones(db, [smallZone('a.example.', 1, 'x A 192.0.2.1\nx A 192.0.2.3\nz TXT "z"')], BY);
    const [zone] = await load(since);
    expect(zone).toMatchObject({ apex: A, partial: true, deleted: false });
    const owners = zone?.records.map((record) => record.owner).sort();
    const [x, y, z] = ['x', 'y', 'z'].map((label) => parseName(`${label}.a.example.`));
    expect(owners).toEqual([x, x, z]);
    expect(zone?.gone).toEqual([{ owner: y, type: 16 }]);
    expect(zone?.version).toBe((await stateOf())?.version);
  });

  test('from an unknown version, loads the whole zone', async () => {
    await saveZones(db, [smallZone('a.example.', 1)], BY);
    const since = await stateOf();
    await saveZones(db, [smallZone('a.example.', 2)], BY);
    const [zone] = await load(since && { ...since, mark: since.mark + 1 });
    expect(zone).toMatchObject({ partial: false, gone: [] });
    expect(zone?.records).toHaveLength(3);
    const [known] = await load(since);
    expect(known?.partial).toBe(true);
  });

  test('loads a zone that was deleted and created again completely, and a deleted one without records', async () => {
    await saveZones(db, [smallZone('a.example.', 1)], BY);
    const since = await stateOf();
    await unloadZones(db, [A], BY);
    expect(await load(since)).toMatchObject([{ deleted: true, records: [] }]);
    await saveZones(db, [smallZone('a.example.', 2)], BY);
    const [zone] = await load(since);
    expect(zone).toMatchObject({ deleted: false, partial: false });
    expect(zone?.records).toHaveLength(3);
    expect(await loadChangedZones(connection, [{ id: 2 ** 30, since: undefined }])).toEqual([]);
  });

  test('fingerprints in SQL and JavaScript are equal', async () => {
    await saveZones(
      db,
      Array.from({ length: BUCKETS + 9 }, (_, i) => smallZone(`z${i}.example.`, 1)),
      BY,
    );
    await unloadZones(db, [parseName('z7.example.')], BY);
    const sums = new Float64Array(BUCKETS);
    for (const zone of await listZoneStates(connection, 0, 2000))
      sums[zone.id % BUCKETS] = (sums[zone.id % BUCKETS] as number) + zoneFingerprint(zone);
    expect(await loadFingerprints(connection)).toEqual(sums);
  });
});

describe('nodes', () => {
  const connections: Connection[] = [];

  afterEach(() => Promise.all(connections.splice(0).map((connection) => connection.close())));

  async function open(parameters = ''): Promise<Connection> {
    const connection = await connect(`${asRole(url, 'zonefleet_node')}${parameters}`, {
      applicationName: 'test',
    });
    connections.push(connection);
    return connection;
  }

  test('a forgotten node is not listed until it reports again', async () => {
    const connection = await open();
    const report = {
      ...{ name: 'gone', instance: randomUUID(), startedAt: new Date(), loaded: true, version: '1' },
      ...{ epoch: 'e', position: 1, snapshot: '1:1:', zones: 1, records: 1, held: undefined },
      ...{
        unserved: [],
        abilities: [],
        image: { used: 0, capacity: 1 },
        traffic: { answered: 0, dropped: 0 },
      },
    };
    const names = async () => (await listNodes(db)).map(({ name }) => name);
    await claimNodeName(connection, report);
    await saveNodeReport(connection, report);
    expect(await names()).toEqual(['gone']);
    expect(await forgetNodes(db, ['gone'])).toEqual([{ name: 'gone', outcome: 'live' }]);
    await query`update nodes set seen_at = seen_at - interval '6 seconds', held_id = gen_random_uuid(), held_since = now()`;
    expect(await forgetNodes(db, ['gone'])).toEqual([{ name: 'gone', outcome: 'forgotten' }]);
    expect([await names(), await confirmNodes(db)]).toEqual([[], []]);
    expect(await confirmNodes(db, ['gone'])).toMatchObject([{ outcome: 'absent' }]);
    await saveNodeReport(connection, report);
    expect(await names()).toEqual(['gone']);
  });

  test('a node’s name belongs to one process, and another process waits for the end of its session', async () => {
    const [one, other] = [
      { name: 'ams1', instance: randomUUID() },
      { name: 'ams1', instance: randomUUID() },
    ];
    const [first, second] = [await open(), await open()];
    expect(await claimNodeName(first, one)).toBe('claimed');
    for (let i = 0; i < 3; i++) expect(await claimNodeName(second, other)).toBe('taken');
    expect(first.isOpen()).toBe(true);
    expect(await claimNodeName(second, { ...other, name: 'fra1' })).toBe('claimed');
    await first.close();
    expect(await claimNodeName(second, other)).toBe('claimed');
  });

  test('an earlier session of the same process is terminated, but no other session', async () => {
    const node = { name: 'ams1', instance: randomUUID() };
    const [first, elsewhere, second] = [await open(), await open(), await open()];
    expect(await claimNodeName(first, node)).toBe('claimed');
    expect(await claimNodeName(elsewhere, { ...node, name: 'fra1' })).toBe('claimed');
    expect(await claimNodeName(second, node)).toBe('ending');
    await until(async () => (await claimNodeName(second, node)) === 'claimed', 'the name is free');
    await first.ended;
    expect(elsewhere.isOpen()).toBe(true);
  });

  test('an application_name in the database URL does not make two processes equal', async () => {
    const parameters = `${url.includes('?') ? '&' : '?'}application_name=nodes`;
    const [first, second] = [await open(parameters), await open(parameters)];
    expect(await claimNodeName(first, { name: 'ams1', instance: randomUUID() })).toBe('claimed');
    expect(await claimNodeName(second, { name: 'ams1', instance: randomUUID() })).toBe('taken');
    expect(first.isOpen()).toBe(true);
  });
});

describe('report-dns-counts', () => {
  const REPORT: DnsCountsReport = {
    node: 'ams1',
    instance: '11111111-1111-4111-8111-111111111111',
    part: 0,
    minuteMs: Date.UTC(2026, 0, 2, 3, 4),
    zoneIds: [5, 2 ** 40],
    types: [1, 28],
    rcodes: [0, 3],
    counts: [10, 2 ** 33],
    names: [{ zoneId: 5, name: parseName('a\\000\\"{},.example.'), count: 256 }],
  };

  let node: Connection;

  beforeEach(async () => {
    node = await connect(asRole(url, 'zonefleet_node'), { applicationName: 'test' });
  });
  afterEach(() => node.close());

  test('a report is one row, even if it is repeated', async () => {
    await reportDnsCounts(node, REPORT);
    await reportDnsCounts(node, { ...REPORT, counts: [99, 99] });
    await reportDnsCounts(node, { ...REPORT, part: 1 });
    const rows = await query`
      select part, minute, to_jsonb(zone_ids) as zone_ids, types, rcodes, to_jsonb(counts) as counts, names,
        to_jsonb(name_counts) as name_counts, moved_at from dns_counts order by part`;
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({
      minute: new Date(REPORT.minuteMs),
      zone_ids: [5, 2 ** 40],
      types: [1, 28],
      rcodes: [0, 3],
      counts: [10, 2 ** 33],
      names: ['a\\000\\"{},.example.'.replace('{},', '\\{\\}\\,')],
      name_counts: [256],
      moved_at: null,
    });
  });

  test('the size of a row is limited', async () => {
    const many = (count: number) => Array.from({ length: count }, () => 1);
    const wide = { zoneIds: many(4097), types: many(4097), rcodes: many(4097), counts: many(4097) };
    const name = parseName('a.example.');
    for (const wrong of [
      wide,
      { counts: [1] },
      { rcodes: [] },
      { node: '' },
      { names: many(513).map(() => ({ zoneId: 1, name, count: 1 })) },
    ])
      await expect(reportDnsCounts(node, { ...REPORT, ...wrong })).rejects.toThrow(
        /violates check constraint/,
      );
    const most = { zoneIds: many(4096), types: many(4096), rcodes: many(4096), counts: many(4096) };
    const longest = parseName(`${`${'\\000'.repeat(63)}.`.repeat(3)}${'\\000'.repeat(61)}.`);
    const names = many(512).map(() => ({ zoneId: 1, name: longest, count: 1 }));
    await reportDnsCounts(node, { ...REPORT, ...most, names });
    const large = `array_fill(repeat('x', 2000), array[512])`;
    await expect(
      node.query(`insert into dns_counts (node, instance, part, minute, zone_ids, types, rcodes, counts, name_zone_ids, names,
        name_counts) values ('n', gen_random_uuid(), 0, now(), '{}', '{}', '{}', '{}', array_fill(1, array[512]), ${large},
        array_fill(1, array[512]))`),
    ).rejects.toThrow(/names_octets/);
  });
});
