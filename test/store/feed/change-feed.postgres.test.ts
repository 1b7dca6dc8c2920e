// The cursor of the feed: every committed change is read in any order of transactions, and none twice on a primary.

import { Client } from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  cursorSnapshot,
  type FeedCursor,
  type FeedRead,
  readFeed,
} from '../../../src/store/feed/change-feed.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const { url, query } = sharedDatabase();
let connection: Connection;
let clients: Client[];

beforeEach(async () => {
  await query`update feed set purged_xid = '0'`;
  connection = await connect(url, { applicationName: 'test' });
  clients = [];
});
afterEach(async () => {
  await Promise.all(clients.map((client) => client.end()));
  await connection.close();
});

async function client(): Promise<Client> {
  const opened = new Client({ connectionString: url });
  await opened.connect();
  clients.push(opened);
  return opened;
}

async function write(on: Client, count = 1): Promise<number[]> {
  const { rows } = await on.query<{ id: string }>(
    `insert into changes (id, zone_id, zone, operation, source, mark)
       select nextval('change_version'), 1, 'a.example.', 'zone.save', 'test', 7
       from generate_series(1, $1) returning id`,
    [count],
  );
  return rows.map((row) => Number(row.id));
}

async function readAll(cursor: FeedCursor): Promise<{ ids: number[]; cursor: FeedCursor; reads: number }> {
  const first = await readFeed(connection, 'node', cursor);
  const ids = first.changes.map((change) => change.id);
  let reads = 1;
  for (let read: FeedRead = first; read.more; reads++) {
    read = await readFeed(connection, 'node', cursor, read.changes.at(-1));
    ids.push(...read.changes.map((change) => change.id));
  }
  return { ids, cursor: first.cursor, reads };
}

async function start(): Promise<FeedCursor> {
  const read = await readFeed(connection, 'node', undefined);
  expect(read.kind).toBe('start');
  return read.cursor;
}

test.each([
  false,
  true,
])('every committed change is read, with random interleavings (as of a standby: %s)', async (coarse) => {
  const writers = await Promise.all(Array.from({ length: 6 }, client));
  const open = writers.map(() => [] as number[]);
  const active = writers.map(() => false);
  let cursor = await start();
  const committed = new Set<number>();
  const seen: number[] = [];
  for (let step = 0; step < 250; step++) {
    const i = Math.floor(Math.random() * writers.length);
    const writer = writers[i] as Client;
    const choice = Math.random();
    if (!active[i]) {
      await writer.query('begin');
      active[i] = true;
      if (choice < 0.5) await writer.query('select pg_current_xact_id()'); // an old transaction whose change comes late
    } else if (choice < 0.5) {
      (open[i] as number[]).push(...(await write(writer)));
    } else {
      await writer.query(choice < 0.85 ? 'commit' : 'rollback');
      if (choice < 0.85) for (const id of open[i] as number[]) committed.add(id);
      open[i] = [];
      active[i] = false;
    }
    if (Math.random() < 0.4) {
      // A standby knows only its xmin.
      const read = await readAll(coarse ? { ...cursor, from: lowest(cursor), inFlight: [] } : cursor);
      seen.push(...read.ids);
      cursor = read.cursor;
      expect([...committed].filter((id) => !seen.includes(id))).toEqual([]);
    }
  }
  seen.push(...(await readAll(cursor)).ids);
  expect(new Set(seen)).toEqual(committed);
  if (!coarse) expect(seen).toHaveLength(committed.size);
});

const lowest = (cursor: FeedCursor) => BigInt(cursorSnapshot(cursor).split(':')[0] as string);

test('a backlog of several pages is read completely, including commits between the pages', async () => {
  const cursor = await start();
  const late = await client();
  await late.query('begin');
  const lateIds = await write(late, 3);
  const ids = await write(await client(), 12_000);
  const first = await readFeed(connection, 'node', cursor);
  expect(first.more).toBe(true);
  await late.query('commit');
  const rest = await readAll(cursor);
  expect(rest.ids).toHaveLength(12_003);
  expect(rest.reads).toBe(3);
  expect((await readAll(first.cursor)).ids).toEqual(lateIds);
  expect((await readAll(rest.cursor)).ids).toEqual([]);
  expect(ids.every((id) => rest.ids.includes(id))).toBe(true);
});

test('a node’s reported snapshot sees exactly the changes that the cursor has passed', async () => {
  const open = await client();
  await open.query('begin');
  const [unseen] = await write(open);
  const [seen] = await write(await client());
  const cursor = await start();
  const visible = () => query<{ id: number; visible: boolean }>`
      select id, pg_visible_in_snapshot(xid, ${cursorSnapshot(cursor)}::pg_snapshot) as visible
      from changes order by id`;
  await open.query('commit');
  expect(await visible()).toEqual([
    { id: unseen, visible: false },
    { id: seen, visible: true },
  ]);
});

test('distinguishes another epoch, lost changes, purged changes and a partly restored database', async () => {
  const writer = await client();
  const [, second] = await write(writer, 3);
  const cursor = await start();
  const kind = async (asked: FeedCursor) => (await readFeed(connection, 'node', asked)).kind;
  expect(await kind(cursor)).toBe('changes');
  expect(await kind({ ...cursor, epoch: 'x' })).toBe('another-epoch');
  expect(await kind({ ...cursor, from: cursor.from + 1000n })).toBe('another-epoch');
  await writer.query(`update changes set mark = 8 where id = ${second}`);
  expect(await kind(cursor)).toBe('another-epoch');
  await writer.query(`update changes set mark = 7 where id = ${second}`);
  expect(await kind(cursor)).toBe('changes');
  await writer.query('begin');
  await writer.query(`delete from changes where id = ${second}`);
  await writer.query('commit');
  expect(await kind(cursor)).toBe('another-epoch');
  await writer.query('update feed set purged_xid = (select max(xid::text::bigint) from changes)::text::xid8');
  // Other databases of this server may have older transactions in flight.
  expect(await kind({ ...cursor, inFlight: [] })).toBe('changes'); // purged, and the cursor is newer
  expect(await kind({ ...cursor, from: 5n, inFlight: [] })).toBe('expired');
  // Restored from a cluster that was far ahead, so it has no meaning here.
  await writer.query("update feed set purged_xid = '999999999999'");
  expect(await kind({ ...cursor, recent: [] })).toBe('changes');
  for (const half of [
    'alter table zone_records drop constraint zone_records_zone_id_fkey',
    'delete from feed',
  ]) {
    await connection.query('begin');
    await connection.query(half);
    expect(await kind(cursor)).toBe('incomplete');
    await connection.query('rollback');
  }
});

test('changes with transaction ids of another cluster are not read repeatedly', async () => {
  await (await client()).query(
    `insert into changes (id, zone_id, zone, operation, source, mark, xid)
       values (nextval('change_version'), 1, 'a.example.', 'zone.save', 'test', 7, '999999999999')`,
  );
  expect((await readAll(await start())).ids).toEqual([]);
});

test('reading needs no privileges besides those on the tables', async () => {
  const admin = await client();
  const role = `reader_${process.pid}`;
  await admin.query(`drop role if exists ${role}`);
  await admin.query(`create role ${role}`);
  await admin.query(`grant select on all tables in schema public to ${role}`);
  await connection.query(`set role ${role}`);
  expect((await readFeed(connection, 'node', undefined)).kind).toBe('start');
  await connection.query('reset role');
  await admin.query(`drop owned by ${role}`);
  await admin.query(`drop role ${role}`);
});

test('a read costs the same with many zones, because only changed zones are read', async () => {
  const on = await client();
  await on.query(
    `insert into zones (name, kind, version, mark, records)
       select 'zone' || i || '.example.', 'operator', 1, 1, 0 from generate_series(1, 20000) i`,
  );
  await on.query('analyze zones');
  const zonesRead = async () => {
    await connection.query('select pg_stat_force_next_flush()');
    const [row] = await connection.query(
      `select seq_tup_read, pg_stat_clear_snapshot() from pg_stat_user_tables where relname = 'zones'`,
    );
    return row?.[0] as number;
  };
  const cursor = await start();
  await write(on, 3);
  const before = await zonesRead();
  for (let look = 0; look < 12; look++) expect((await readAll(cursor)).ids).toHaveLength(3);
  expect((await zonesRead()) - before).toBeLessThan(20_000);
});
