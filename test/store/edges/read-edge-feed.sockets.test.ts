// Edges while the database cannot serve their cursor: a standby that is behind, and a database that is being restored.
// The stream stays open and sends nothing wrong.

import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { decodeEdgeCursor, encodeEdgeCursor } from '../../../src/store/edges/edge-cursor.ts';
import { type EdgeFeedPage, EdgeLines } from '../../../src/store/edges/read-edge-lines.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { type EdgeApi, startEdgeApi } from '../../support/edge/edge-api.ts';
import type { ConfigLine } from '../../support/edge/follow-config.ts';
import { until } from '../../support/tests/until.ts';

let database: TestDatabase;
let api: EdgeApi;
const kinds: EdgeFeedPage['kind'][] = [];

/** Overrides the function of Postgres for the API's connections: the table decides whether they are on a standby. */
const STANDBY = [
  'create schema posed',
  'create table posed.standby (is_standby boolean not null)',
  'insert into posed.standby values (false)',
  `create function posed.pg_is_in_recovery() returns boolean language sql stable as
     'select is_standby from posed.standby'`,
  'grant usage on schema posed to zonefleet_api',
  'grant select on posed.standby to zonefleet_api',
];

beforeAll(async () => {
  database = await createDatabase();
  for (const statement of STANDBY) await sql.raw(statement).execute(database.db);
  const { rows } = await sql<{ name: string }>`select quote_ident(current_database()) as name`.execute(
    database.db,
  );
  await sql
    .raw(`alter role zonefleet_api in database ${rows[0]?.name} set search_path = posed, pg_catalog, public`)
    .execute(database.db);
  api = await startEdgeApi({ database });
  await api.makeDomain('held.example.com');
  const body = { name: 'www', type: 'A', destination: '198.51.100.1', proxied: true };
  expect((await api.ask('POST', '/domains/held.example.com/records/', { body })).status).toBe(200);
  const readChanges = EdgeLines.prototype.readChanges;
  vi.spyOn(EdgeLines.prototype, 'readChanges').mockImplementation(async function (this: EdgeLines, ...given) {
    const page = await readChanges.apply(this, given);
    kinds.push(page.kind);
    return page;
  });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await api?.stop();
});
beforeEach(() => {
  kinds.length = 0;
});

const isStandby = (is: boolean) => sql`update posed.standby set is_standby = ${is}`.execute(database.db);

it('a standby that has not reached the cursor sends nothing until it has, and no snapshot', async () => {
  const lines: ConfigLine[] = [];
  const edge = api.follow(await api.makeEdge('ahead'), { onLine: (line) => lines.push(line) });
  await until(() => edge.held.size === 1 && decodeEdgeCursor(edge.cursor as string)?.after === undefined);
  await edge.stop();
  const cursor = decodeEdgeCursor(edge.cursor as string);
  if (cursor === undefined) throw new Error('the cursor cannot be read');
  const from = cursor.place.from + 300n;
  edge.cursor = encodeEdgeCursor({ ...cursor, place: { ...cursor.place, from } });
  await isStandby(true);
  lines.length = 0;
  edge.start();
  await until(() => kinds.includes('behind'), 'the cursor is ahead of the standby');
  expect(lines).toEqual([]);
  for (let i = 0; i < 300; i++) await sql`select pg_current_xact_id()`.execute(database.db);
  await until(() => lines.length > 0);
  expect(lines[0]).toEqual({ cursor: expect.any(String) }); // a heartbeat: the cursor counts
  await isStandby(false);
  await sql`update domains set sec_no_sniff = not sec_no_sniff`.execute(database.db);
  await until(() => lines.some((line) => 'domain' in line && line.domain === 'held.example.com'));
  expect(edge.snapshots).toBe(1);
  await edge.stop();
});

it('during a restore, a new edge waits for the complete database, and a following one keeps its data', async () => {
  const following = api.follow(await api.makeEdge('following'));
  await until(() => following.held.size === 1);
  const { rows } = await sql<{ name: string; definition: string }>`
    select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint
    where conrelid = 'zone_records'::regclass and contype = 'f'`.execute(database.db);
  expect(rows).toHaveLength(1);
  const [{ name, definition }] = rows as [{ name: string; definition: string }];
  await sql.raw(`alter table zone_records drop constraint ${name}`).execute(database.db);
  // Simulates that the rest of the rows is still to be restored.
  await sql`update domains set served = 'none'`.execute(database.db);
  const fresh = api.follow(await api.makeEdge('fresh'));
  await until(() => kinds.filter((kind) => kind === 'incomplete').length >= 3, 'both wait');
  expect([fresh.snapshots, fresh.held.size, following.held.size]).toEqual([0, 0, 1]);
  await sql`update domains set served = 'full'`.execute(database.db);
  await sql.raw(`alter table zone_records add constraint ${name} ${definition}`).execute(database.db);
  await until(() => fresh.held.size === 1);
  expect([fresh.snapshots, following.held.size]).toEqual([1, 1]);
});
