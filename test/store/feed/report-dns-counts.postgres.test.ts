// The table in which nodes report their counts of answers.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { type DnsCountsReport, reportDnsCounts } from '../../../src/store/feed/report-dns-counts.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { asRole } from '../../support/database/database.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

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

const database = sharedDatabase();
let node: Connection;

beforeEach(async () => {
  node = await connect(asRole(database.url, 'zonefleet_node'), { applicationName: 'test' });
});
afterEach(async () => {
  await node.close();
});

test('a report is one row, also when it is repeated', async () => {
  await reportDnsCounts(node, REPORT);
  await reportDnsCounts(node, { ...REPORT, counts: [99, 99] });
  await reportDnsCounts(node, { ...REPORT, part: 1 });
  const { rows } = await sql`
      select part, minute, to_jsonb(zone_ids) as zone_ids, types, rcodes, to_jsonb(counts) as counts, names,
        to_jsonb(name_counts) as name_counts, moved_at from dns_counts order by part`.execute(database.db);
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

test('a row has a bound, whatever a node writes', async () => {
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
    await expect(reportDnsCounts(node, { ...REPORT, ...wrong })).rejects.toThrow(/violates check constraint/);
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

test('a node may insert its reports and do nothing else there', async () => {
  await reportDnsCounts(node, REPORT);
  for (const statement of [
    'select counts from dns_counts',
    'update dns_counts set part = 2',
    'delete from dns_counts',
    'truncate dns_counts',
    'insert into dns_counts (instance, part, moved_at) values (gen_random_uuid(), 0, now())',
    'insert into dns_counts (instance, part) values (gen_random_uuid(), 0) returning instance',
  ])
    await expect(node.query(statement)).rejects.toThrow(/permission denied/);
});
