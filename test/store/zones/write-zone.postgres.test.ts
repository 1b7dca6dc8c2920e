// What a change of a few names costs in a table of many.

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { differenceWritten } from '../../../src/store/zones/write-zone.ts';
import { chunksOfOwners } from '../../../src/store/zones/zone-rows.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

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

const database = sharedDatabase();

test('a change of a few names of a large zone reads the rows of these names only', async () => {
  const { db } = database;
  await saveZones(db, [{ apex: A, records: recordsOf(ZONE, 'a.example.') }], { source: 'test' });
  await sql`
      insert into zone_records (zone_id, owner, type, ttl, rdata, version, place)
      select zone_id, owner || n, type, ttl, rdata, version, place
      from zone_records, generate_series(1, ${NAMES}::integer) n where type = 1 and owner like '%www%'`.execute(
    db,
  );
  await sql`analyze zone_records`.execute(db);
  const { id, version } = await db.selectFrom('zones').select(['id', 'version']).executeTakeFirstOrThrow();
  const owners = recordsOf(CHANGED, 'a.example.').map((record) => ({
    owner: record.owner,
    records: [record],
  }));
  const [chunk] = chunksOfOwners({ id, nextVersion: version + 1 }, A, owners);
  if (chunk === undefined) throw new Error('there is nothing to write');
  const { rows } = await sql<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>`
      explain (format json) with ${differenceWritten(chunk)} select * from grown`.execute(db);
  const nodes = nodesOf(rows[0]?.['QUERY PLAN'][0].Plan as PlanNode);
  const scans = nodes.filter((node) => node['Relation Name'] === 'zone_records');
  expect(scans.map((node) => node['Node Type']).sort()).toEqual(
    expect.arrayContaining(['Index Scan', 'Tid Scan']),
  );
  expect(scans.filter((node) => node['Node Type'] === 'Seq Scan')).toEqual([]);
});
