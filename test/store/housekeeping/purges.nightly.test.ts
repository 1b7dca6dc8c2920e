// Rows of names without a domain are deleted from the feed of edges, and no edge misses a change.

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { decodeEdgeCursor, encodeEdgeCursor } from '../../../src/store/edges/edge-cursor.ts';
import { purgeEdgeChanges } from '../../../src/store/housekeeping/purges.ts';
import { createDatabase } from '../../support/database/database.ts';
import { type EdgeApi, startEdgeApi } from '../../support/edge/edge-api.ts';
import type { ConfigFollower } from '../../support/edge/follow-config.ts';
import { until } from '../../support/tests/until.ts';

const DAYS = 7;

let api: EdgeApi;
/** Changes a field of a domain that edges receive. */
const touch = (name: string) =>
  sql`update domains set sec_no_sniff = not sec_no_sniff where name = ${name}`.execute(api.db);
beforeEach(async () => {
  api = await startEdgeApi({ database: await createDatabase() });
});
afterEach(() => api.stop());

async function serve(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    await api.makeDomain(name);
    const body = { name: 'www', type: 'A', destination: '198.51.100.1', proxied: true };
    expect((await api.ask('POST', `/domains/${name}/records/`, { body })).status).toBe(200);
  }
}
async function softDelete(name: string): Promise<void> {
  expect((await api.ask('DELETE', `/domains/${name}`)).status).toBe(200);
}
async function remove(name: string): Promise<void> {
  await softDelete(name);
  await sql`delete from domains where name = ${`${name}.`}`.execute(api.db);
}
const age = (days: number) =>
  sql`update edge_changes set at = at - make_interval(days => ${days})`.execute(api.db);
async function names(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select name from edge_changes order by name`.execute(api.db);
  return rows.map(({ name }) => name);
}
/** Transactions of other tests, in other databases of the server, also keep rows. */
async function purged(rows: number): Promise<void> {
  let all = 0;
  await until(async () => {
    all += await purgeEdgeChanges(api.db, DAYS);
    return all >= rows;
  });
  expect(all).toBe(rows);
}
const holds = (edge: ConfigFollower, ...wanted: readonly string[]) =>
  JSON.stringify([...edge.held.keys()].sort()) === JSON.stringify([...wanted].sort());

describe('a purge of the feed of edges', () => {
  it('deletes only old rows of names without a domain', async () => {
    await serve('gone.example.com', 'kept.example.com', 'restorable.example.com');
    await remove('gone.example.com');
    await softDelete('restorable.example.com');
    await age(DAYS + 1);
    await serve('young.example.com', 'newest.example.com');
    await remove('young.example.com');
    await touch('newest.example.com.');
    await purged(1);
    const left = await names();
    expect(left.map((name) => name.split('.')[0])).toEqual(['kept', 'newest', 'restorable', 'young']);
    await age(DAYS + 1);
    await remove('newest.example.com');
    await age(DAYS + 1);
    await purged(1);
    expect(await names()).toContain('newest.example.com.');
  });

  it('keeps rows that an open transaction may not have passed, or that a writer has locked', async () => {
    await serve('gone.example.com', 'locked.example.com', 'last.example.com');
    await api.db.transaction().execute(async (old) => {
      await sql`select pg_current_xact_id()`.execute(old);
      await remove('gone.example.com');
      await remove('locked.example.com');
      await touch('last.example.com.');
      await age(DAYS + 1);
      expect(await purgeEdgeChanges(api.db, DAYS)).toBe(0);
    });
    await api.db.transaction().execute(async (writer) => {
      await sql`select from edge_changes where name = 'locked.example.com.' for update`.execute(writer);
      await purged(1);
    });
    await purged(1);
    expect(await names()).toEqual(['last.example.com.']);
  });
});

describe('edges', () => {
  it('that were disconnected for longer receive everything once, and up-to-date edges continue', async () => {
    await serve('gone.example.com', 'stays.example.com');
    const [away, seen] = [api.follow(await api.makeEdge('away')), api.follow(await api.makeEdge('seen'))];
    await until(() => [away, seen].every((edge) => holds(edge, 'gone.example.com', 'stays.example.com')));
    await until(() => away.cursor !== undefined && decodeEdgeCursor(away.cursor)?.after === undefined);
    await away.stop();
    await remove('gone.example.com');
    await until(() => holds(seen, 'stays.example.com'));
    // An edge has passed the row once no older transaction is open, in any database of the server.
    const { rows } = await sql<{ xid: string }>`
      select xid::text from edge_changes where name = 'gone.example.com.'`.execute(api.db);
    const xid = BigInt(rows[0]?.xid as string);
    await until(() => {
      const place = decodeEdgeCursor(seen.cursor ?? '')?.place;
      return place !== undefined && [place.from, ...place.inFlight].every((unseen) => unseen > xid);
    });
    await seen.stop(); // the deleted row is the newest that it has seen
    await serve('later.example.com');
    await age(DAYS + 1);
    await purged(1);
    away.start();
    seen.start();
    await until(() => [away, seen].every((edge) => holds(edge, 'later.example.com', 'stays.example.com')));
    await serve('after.example.com');
    await until(() => away.held.has('after.example.com') && seen.held.has('after.example.com'));
    expect([away.snapshots, seen.snapshots]).toEqual([2, 1]);
  });

  it('within an outdated snapshot start it again', async () => {
    await serve('a.example.com', 'z.example.com', 'last.example.com');
    const token = await api.makeEdge('middle');
    const cursors: string[] = [];
    const first = api.follow(token, { onLine: ({ cursor }) => cursors.push(cursor) });
    await until(() => first.held.size === 3);
    await first.stop();
    const within = cursors.find((each) => decodeEdgeCursor(each)?.after === 'a.example.com.');
    await remove('a.example.com');
    await serve('newer.example.com');
    await age(DAYS + 1);
    await purged(1);
    const second = api.follow(token);
    await second.stop();
    second.held.set('a.example.com', first.held.get('a.example.com') as never);
    second.cursor = within;
    second.start();
    await until(() => holds(second, 'last.example.com', 'newer.example.com', 'z.example.com'));
  });

  it('do not receive everything repeatedly if the purge position is from another cluster, and the next purge fixes it', async () => {
    await sql`update feed set edge_purged_xid = '999999999999'`.execute(api.db);
    await serve('gone.example.com', 'stays.example.com');
    const edge = api.follow(await api.makeEdge('restored'));
    await until(() => edge.held.size === 2);
    await edge.stop();
    const old = edge.cursor as string;
    await remove('gone.example.com');
    await serve('later.example.com');
    edge.start();
    await until(() => holds(edge, 'later.example.com', 'stays.example.com'));
    expect(edge.snapshots).toBe(1);
    await age(DAYS + 1);
    await purged(1);
    await edge.stop();
    edge.cursor = old;
    edge.start();
    await until(() => edge.snapshots === 2);
  });

  it('with a cursor from the future, as after a restore, receive everything', async () => {
    await serve('stays.example.com');
    const edge = api.follow(await api.makeEdge('future'));
    await until(() => edge.held.size === 1);
    await edge.stop();
    const cursor = decodeEdgeCursor(edge.cursor as string);
    if (cursor === undefined) throw new Error('the cursor cannot be read');
    const place = { ...cursor.place, from: cursor.place.from + 1_000_000n };
    edge.cursor = encodeEdgeCursor({ ...cursor, place });
    edge.start();
    await until(() => edge.snapshots === 2);
  });
});
