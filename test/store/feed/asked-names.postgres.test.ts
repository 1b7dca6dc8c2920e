// The table in which nodes report zones that are asked for.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { reportAskedZones } from '../../../src/store/feed/asked-names.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { asRole } from '../../support/database/database.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const SLOTS = 4096;

const database = sharedDatabase();
let node: Connection;

beforeEach(async () => {
  node = await connect(asRole(database.url, 'zonefleet_node'), { applicationName: 'test' });
});
afterEach(async () => {
  await node.close();
});
const reported = async () => {
  const { rows } = await sql<{ id: number }>`
      select zone_id as id from asked_names order by zone_id`.execute(database.db);
  return rows.map(({ id }) => id);
};

test('reports of one zone are one row; those whose slot another zone has are told', async () => {
  expect(await reportAskedZones(node, [5, 6, 7])).toEqual([]);
  expect(await reportAskedZones(node, [6, 5 + SLOTS, 8])).toEqual([5 + SLOTS]);
  expect(await reportAskedZones(node, [9, 9 + SLOTS])).toHaveLength(1);
  expect(await reported()).toEqual([5, 6, 7, 8, expect.any(Number)]);
});

test('a node cannot fill the disk with it, whatever it writes', async () => {
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

test('a node may do nothing else there: neither set times nor take reports away', async () => {
  for (const statement of [
    'insert into asked_names (slot, zone_id, asked_at) values (1, 1, now())',
    'update asked_names set zone_id = 1',
    'delete from asked_names',
    'truncate asked_names',
  ])
    await expect(node.query(statement)).rejects.toThrow(/permission denied/);
});
