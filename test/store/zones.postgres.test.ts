import { Registry } from 'prom-client';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseName, printName } from '../../src/dns/name.ts';
import { inTransaction } from '../../src/store/postgres/transaction.ts';
import { disableSigning } from '../../src/store/signing/disable-signing.ts';
import { listSigning, loadSigningState } from '../../src/store/signing/load-signing.ts';
import { loadZone } from '../../src/store/zones/load-zones.ts';
import { saveZones, unloadZones } from '../../src/store/zones/save-zones.ts';
import {
  changedZone,
  differenceWritten,
  type LockedZone,
  lockZones,
  writeChanges,
} from '../../src/store/zones/write-zone.ts';
import { chunksOfOwners } from '../../src/store/zones/zone-rows.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { createSigningMetrics } from '../../workers/metrics/signing-metrics.ts';
import { countStatements } from '../support/database/count-statements.ts';
import { BY } from '../support/database/domains.ts';
import { enabled, useSecrets } from '../support/database/signed-zones.ts';
import { signRecords } from '../support/dnssec/sign-records.ts';
import { makeKey } from '../support/dnssec/signing.ts';
import { smallZone } from '../support/processes/follow.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const { db, query } = sharedDatabase();

describe('note-verbatim', () => {
  // Operators monitor when the signatures of zones that others signed expire.
  const FROM = { source: 'test', actor: 'me' } as const;
  const DAY = 86_400;
  const key = makeKey(13);
  const nameOf = (zone: string) => parseName(`${zone}.example.`);

  function plain(zone: string) {
    return {
      apex: nameOf(zone),
      records: recordsOf(
        '@ SOA ns. host. 1 2 3 4 5\n@ NS ns.else.example.\nwww A 192.0.2.1',
        `${zone}.example.`,
      ),
    };
  }

  function signed(zone: string, days: number) {
    const at = Math.floor(Date.now() / 1000);
    const time = { inception: at - DAY, expiration: at + days * DAY };
    const { apex, records } = plain(zone);
    return { apex, records: signRecords(apex, records, { key, time, denial: { kind: 'nsec' } }) };
  }

  beforeEach(async () => {
    useSecrets(db);
  });

  /** Days until the first signature expires. Undefined if there is none. */
  const left = async (kind: 'verbatim' | 'ours' = 'verbatim') => {
    const seconds = (await loadSigningState(db)).left[kind];
    return seconds === undefined ? undefined : Math.round(seconds / DAY);
  };

  test('the earliest expiration of all loaded zones is a metric, until they are reloaded or unloaded', async () => {
    await saveZones(db, [signed('a', 10), signed('b', 4), plain('c')], FROM);
    expect(await left()).toBe(4);
    expect(await listSigning(db)).toEqual([]);
    await saveZones(db, [signed('b', 20)], FROM);
    expect(await left()).toBe(10);
    const registry = new Registry();
    createSigningMetrics(registry, { state: () => loadSigningState(db), isBreakerOpen: () => false });
    const line = /^zonefleet_signatures_left_seconds\{kind="verbatim"\} (\S+)$/m;
    expect(Math.round(Number(line.exec(await registry.metrics())?.[1]) / DAY)).toBe(10);
    await saveZones(db, [signed('b', -2)], FROM);
    expect(await left()).toBe(-2);
    await saveZones(db, [plain('b')], FROM);
    expect(await left()).toBe(10);
    await unloadZones(db, [nameOf('a')], FROM);
    expect(await left()).toBeUndefined();
  });

  test('a zone that is answered as unsigned has no metric', async () => {
    const { apex, records } = signed('a', 10);
    const withoutSoa = records.filter(
      ({ type, rdata }) => type !== 46 || ((rdata[0] as number) << 8) + (rdata[1] as number) !== 6,
    );
    await saveZones(db, [{ apex, records: withoutSoa }], FROM);
    expect(await left()).toBeUndefined();
  });

  test('a zone can be signed by others, by the fleet, and by others again', async () => {
    const subject = { zoneName: 'a.example.' };
    await saveZones(db, [signed('a', 10)], FROM);
    await saveZones(db, [plain('a')], FROM);
    await enabled(db, subject);
    expect([await left(), await left('ours')]).toEqual([undefined, expect.any(Number)]);
    await disableSigning(db, subject, BY);
    await saveZones(db, [signed('a', 5)], FROM);
    expect([await left(), await left('ours')]).toEqual([5, undefined]);
    await saveZones(db, [plain('a')], FROM);
    expect(await left()).toBeUndefined();
    await enabled(db, subject);
    const [zone] = await listSigning(db);
    expect(zone?.keys).toHaveLength(1); // the earlier key
  });
});

describe('save-zones', () => {
  const BY = { source: 'test', actor: 'me' } as const;
  const A = parseName('a.example.');

  function sorted(records: readonly ZoneRecord[]): string[] {
    return records
      .map(({ owner, type, ttl, rdata }) => `${owner} ${type} ${ttl} ${Buffer.from(rdata).toString('hex')}`)
      .sort();
  }

  const changes = () => db.selectFrom('changes').selectAll().orderBy('id').execute();
  const save = (...zones: Parameters<typeof saveZones>[1][number][]) => saveZones(db, zones, BY);

  test('loads what was saved: any octet in a name, any type, rdata longer than an index entry', async () => {
    const records = recordsOf(
      `@ SOA ns. host. 1 2 3 4 5
@ NS ns.else.example.
\\000\\.\\255\\032x 5 TYPE65280 \\# 3 0000ff
* TXT ""
k 60 TXT ${'"'.concat('x'.repeat(255), '" ').repeat(40)}
k 60 TXT ${'"'.concat('x'.repeat(255), '" ').repeat(39)} "y"
k 60 TYPE65281 \\# 0`,
      'a.example.',
    );
    const [saved] = await save({ apex: A, records });
    expect(saved).toMatchObject({ apex: A, outcome: 'created', records: records.length });
    const loaded = await loadZone(db, A);
    expect(sorted(loaded?.records ?? [])).toEqual(sorted(records));
    expect(loaded?.version).toBe(saved?.version);
    expect((await save({ apex: A, records: [...records].reverse() }))[0]).toEqual({
      apex: A,
      outcome: 'unchanged',
      version: saved?.version,
      records: records.length,
    });
    expect(await changes()).toMatchObject([
      { id: saved?.version, zone: 'a.example.', operation: 'zone.save', ...BY },
    ]);
  });

  test('writes only the difference: unchanged rows keep their version, deleted rows become tombstones', async () => {
    const [first] = await save(smallZone('a.example.', 1, 'old A 192.0.2.1\nttl 60 A 192.0.2.1'));
    const [second] = await save(smallZone('a.example.', 1, 'new A 192.0.2.1\nttl 61 A 192.0.2.1'));
    expect(second).toMatchObject({ outcome: 'replaced' });
    const rows = await db.selectFrom('zone_records').selectAll().orderBy('owner').execute();
    const versions = { first: first?.version, second: second?.version };
    expect(rows.map((row) => [row.owner, row.version, row.removed])).toEqual([
      ['a.example.', versions.first, false],
      ['a.example.', versions.first, false],
      ['new.a.example.', versions.second, false],
      ['old.a.example.', versions.second, true],
      ['ttl.a.example.', versions.second, false],
      ['www.a.example.', versions.first, false],
    ]);
    const [third] = await save(smallZone('a.example.', 1, 'old A 192.0.2.1'));
    const revived = await query`select * from zone_records where owner = 'old.a.example.'`;
    expect(revived).toMatchObject([{ removed: false, version: third?.version }]);
  });

  test('a duplicate record is stored once, with the lower TTL', async () => {
    const x = { owner: parseName('x.a.example.'), type: 1, rdata: Buffer.from([192, 0, 2, 1]) };
    const twice = [90, 60, 70].map((ttl) => ({ ...x, ttl }));
    const records = [...smallZone('a.example.', 1).records, ...twice];
    expect(await save({ apex: A, records })).toMatchObject([{ records: 4 }]);
    expect(
      (await loadZone(db, A))?.records.filter((record) => record.owner === parseName('x.a.example.')),
    ).toMatchObject([{ ttl: 60 }]);
  });

  test('a zone is unloaded once, is no longer loaded, and gets a higher version when it is loaded again', async () => {
    const [saved] = await save(smallZone('a.example.', 1));
    const never = parseName('never.example.');
    const [gone, absent] = await unloadZones(db, [A, never], BY);
    expect(gone).toMatchObject({ outcome: 'unloaded' });
    expect(gone?.version).toBeGreaterThan(saved?.version ?? Number.NaN);
    expect(absent).toEqual({ apex: never, outcome: 'absent' });
    expect(await loadZone(db, A)).toBeUndefined();
    expect(await unloadZones(db, [A], BY)).toEqual([{ apex: A, outcome: 'absent' }]);
    const [back] = await save(smallZone('a.example.', 1));
    expect(back).toMatchObject({ outcome: 'created' });
    expect(back?.version).toBeGreaterThan(gone?.version ?? Number.NaN);
    expect((await loadZone(db, A))?.records).toHaveLength(3);
    expect((await changes()).map((change) => change.operation)).toEqual([
      'zone.save',
      'zone.unload',
      'zone.save',
    ]);
  });

  test('a call is saved completely or not at all', async () => {
    await save(smallZone('a.example.', 1));
    const bad = {
      apex: parseName('b.example.'),
      records: [{ owner: A, type: 0, ttl: 1, rdata: Uint8Array.of(1) }],
    };
    await expect(save(smallZone('a.example.', 2), bad)).rejects.toThrow('check constraint');
    expect(await changes()).toHaveLength(1);
    expect(await loadZone(db, bad.apex)).toBeUndefined();
    const twice = [smallZone('a.example.', 2), smallZone('A.EXAMPLE.', 3)];
    await expect(save(...twice)).rejects.toThrow('a.example. is saved twice');
  });

  test('a zone that takes several statements is split without loss, and only its difference is written again', async () => {
    const hosts = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => ({
        owner: parseName(`h${from + i}.a.example.`),
        type: 1,
        ttl: 60,
        rdata: Buffer.from([10, 0, ((from + i) >> 8) & 255, (from + i) & 255]),
      }));
    const base = smallZone('a.example.', 1).records;
    await save({ apex: A, records: [...base, ...hosts(0, 11_000)] });
    const moved = [...base, ...hosts(500, 11_500)];
    const [second] = await save({ apex: A, records: moved }, smallZone('b.example.', 1));
    expect(sorted((await loadZone(db, A))?.records ?? [])).toEqual(sorted(moved));
    expect(
      await query`
      select removed, count(*) from zone_records where version = ${second?.version} group by 1 order by 1`,
    ).toEqual([
      { removed: false, count: 500 },
      { removed: true, count: 500 },
    ]);
  });

  test('writers of the same zones in opposite orders do not deadlock, and versions increase in the order of commits', async () => {
    const apexes = Array.from({ length: 8 }, (_, i) => parseName(`z${i}.example.`));
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let round = 0; round < 6; round++) {
        const order = writer % 2 === 0 ? apexes : [...apexes].reverse();
        if ((writer + round) % 5 === 0) await unloadZones(db, order, BY);
        else await save(...order.map((apex) => smallZone(printName(apex), writer * 100 + round)));
      }
    });
    await Promise.all(writers);
    const rows = await query<{ name: string; ok: boolean }>`
      select z.name, z.version = (select max(id) from changes c where c.zone_id = z.id)
        and z.version >= coalesce((select max(version) from zone_records r where r.zone_id = z.id), 0) as ok
      from zones z`;
    expect(rows.filter((row) => !row.ok)).toEqual([]);
    expect(rows).toHaveLength(8);
    // In one zone, a transaction that committed later has the higher version, because it held the row's lock.
    const wrong = await query`
      select a.id from changes a join changes b on a.zone_id = b.zone_id and a.id < b.id and a.at > b.at`;
    expect(wrong).toEqual([]);
  });

  test('500 zones are saved, and found unchanged, with as many statements as a few', async () => {
    const batch = (from: number, length: number) =>
      Array.from({ length }, (_, i) => smallZone(`z${from + i}.example.`, 1));
    const few = await countStatements(() => save(...batch(0, 5)));
    const many = await countStatements(() => save(...batch(5, 500)));
    expect(many.value.every((zone) => zone.outcome === 'created')).toBe(true);
    expect(many.statements).toBeLessThan(2 * few.statements);
    const again = await countStatements(() => save(...batch(5, 500)));
    expect(again.value.every((zone) => zone.outcome === 'unchanged')).toBe(true);
    expect(again.statements).toBeLessThanOrEqual(many.statements);
  });
});

describe('write-zone', () => {
  const A = parseName('a.example.');
  const ZONE = '@ SOA ns. host. 1 2 3 4 5\n@ NS ns.else.example.\nwww A 192.0.2.1\nmail A 192.0.2.2';
  const CHANGED = 'www A 192.0.2.7\nmail A 192.0.2.8';
  const NAMES = 20_000;

  interface PlanNode {
    readonly 'Node Type': string;
    readonly 'Relation Name'?: string;
    readonly Plans?: readonly PlanNode[];
  }

  function nodesOf(node: PlanNode): PlanNode[] {
    return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
  }

  test('a change of a few names of a large zone reads only the rows of these names', async () => {
    await saveZones(db, [{ apex: A, records: recordsOf(ZONE, 'a.example.') }], { source: 'test' });
    await query`
      insert into zone_records (zone_id, owner, type, ttl, rdata, version, place)
      select zone_id, owner || n, type, ttl, rdata, version, place
      from zone_records, generate_series(1, ${NAMES}::integer) n where type = 1 and owner like '%www%'`;
    await query`analyze zone_records`;
    const { id, version } = await db.selectFrom('zones').select(['id', 'version']).executeTakeFirstOrThrow();
    const owners = recordsOf(CHANGED, 'a.example.').map((record) => ({
      owner: record.owner,
      records: [record],
    }));
    const [chunk] = chunksOfOwners(
      { id, nextVersion: version + 1, deleted: false, keepsHistory: false },
      A,
      owners,
    );
    if (chunk === undefined) throw new Error('there is nothing to write');
    const rows = await query<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>`
      explain (format json) with ${differenceWritten(chunk)} select * from grown`;
    const nodes = nodesOf(rows[0]?.['QUERY PLAN'][0].Plan as PlanNode);
    const scans = nodes.filter((node) => node['Relation Name'] === 'zone_records');
    expect(scans.map((node) => node['Node Type']).sort()).toEqual(
      expect.arrayContaining(['Index Scan', 'Tid Scan']),
    );
    expect(scans.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
  });

  test('gathers statistics in the same transaction if they were gathered before a large zone was written', async () => {
    await query`analyze zone_records`;
    await saveZones(db, [{ apex: A, records: recordsOf(ZONE, 'a.example.') }], { source: 'test' });
    const estimated = async () =>
      (await query<{ reltuples: number }>`select reltuples from pg_class where relname = 'zone_records'`)[0]
        ?.reltuples;
    expect(await estimated()).toBe(0);
    await inTransaction(db, async (trx) => {
      const [zone] = (await lockZones(trx, ['a.example.'], false)).values();
      await writeChanges(trx, [changedZone(zone as LockedZone, 50_000)], 'zone.save', { source: 'test' });
    });
    expect(await estimated()).toBe(4);
  });
});
