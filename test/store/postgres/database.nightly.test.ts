// A pool whose Postgres hangs, is slow, or gets too many calls.

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DatabaseSilence, mayBeCommitted } from '../../../src/store/postgres/bounded-client.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { outageOf } from '../../../src/store/postgres/outage.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startProxy, type TcpProxy } from '../../support/processes/tcp-proxy.ts';
import { until } from '../../support/tests/until.ts';

/** The server cancels after 500 ms, the client after a second. */
const LIMITS = { readMs: 300, writeMs: 1000 };

let database: TestDatabase;
let proxy: TcpProxy;
let db: Database;

beforeEach(async () => {
  database = await createDatabase();
  await sql`create table shapes (id integer)`.execute(database.db);
  proxy = await startProxy(database.url);
  db = openDatabase(proxy.url, { maxConnections: 1, connectTimeoutMs: 1000, limits: LIMITS });
});
afterEach(async () => {
  await proxy.stop();
  await db.destroy();
  await database.drop();
});

const failureOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error) => error,
  );

async function backend(): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db);
  return (rows[0] as { pid: number }).pid;
}

describe('a hanging Postgres', () => {
  it.each([
    ['read', sql`select 1`],
    ['write', sql`insert into shapes values (1)`],
  ])('fails a %s on an open connection, which is then replaced', async (_, statement) => {
    const before = await backend();
    proxy.pause();
    expect(await failureOf(statement.execute(db))).toBeInstanceOf(DatabaseSilence);
    proxy.resume();
    expect(await until(() => backend().catch(() => undefined))).not.toBe(before);
  });

  it('fails a new connection and all calls that wait for one', async () => {
    proxy.pause();
    const failures = await Promise.all([1, 2, 3].map(() => failureOf(backend())));
    expect(failures.map(outageOf)).toEqual(['silent', 'silent', 'silent']);
    proxy.resume();
    expect(await until(() => backend().catch(() => undefined))).toBeGreaterThan(0);
  });

  it('ends a transaction with its own error, and rolls it back', async () => {
    const error = await failureOf(
      db.transaction().execute(async (trx) => {
        await sql`insert into shapes values (1)`.execute(trx);
        proxy.pause();
        await sql`insert into shapes values (2)`.execute(trx);
      }),
    );
    expect(error).toBeInstanceOf(DatabaseSilence);
    expect(mayBeCommitted(error)).toBe(false);
    proxy.resume();
    expect((await sql`select from shapes`.execute(database.db)).rows).toEqual([]);
  });

  it.each([
    ['', () => {}],
    [', also if the connection ends', () => void setTimeout(() => proxy.stop(), 100)],
  ])('leaves the outcome of a commit unknown%s', async (_, end) => {
    const error = await failureOf(
      db.transaction().execute(async (trx) => {
        await sql`insert into shapes values (1)`.execute(trx);
        proxy.pause();
        end();
      }),
    );
    expect(mayBeCommitted(error)).toBe(true);
  });
});

describe('a responsive Postgres', () => {
  it('cancels a slow statement itself, and the connection stays usable', async () => {
    const before = await backend();
    const slow = db.transaction().execute((trx) => sql`select pg_sleep(60)`.execute(trx));
    expect(await failureOf(slow)).toMatchObject({ code: '57014' });
    expect(await backend()).toBe(before);
  });

  it('cancels a wait for a lock sooner than a statement', async () => {
    await database.db.transaction().execute(async (trx) => {
      await sql`lock table shapes`.execute(trx);
      expect(await failureOf(sql`insert into shapes values (1)`.execute(db))).toMatchObject({
        code: '55P03',
      });
    });
    await sql`insert into shapes values (1)`.execute(db);
  });

  it('ends a transaction that takes too long, even if each statement is within its limit', async () => {
    let statements = 0;
    const endless = db.transaction().execute(async (trx) => {
      for (;;) await sql`insert into shapes select ${statements++}::integer from pg_sleep(0.05)`.execute(trx);
    });
    expect(await failureOf(endless)).toBeInstanceOf(DatabaseSilence);
    expect(statements).toBeGreaterThan(1);
    expect(await backend()).toBeGreaterThan(0);
    expect((await sql`select from shapes`.execute(database.db)).rows).toEqual([]);
  });

  it('is not timed out if the process itself was busy when the response arrived', async () => {
    const direct = openDatabase(database.url, { maxConnections: 1, limits: LIMITS });
    await sql`select 1`.execute(direct);
    const asked = sql<{ id: number }>`select 7 as id`.execute(direct);
    await new Promise<void>((resolve) =>
      setImmediate(() => {
        const end = performance.now() + 3 * LIMITS.readMs;
        while (performance.now() < end); // blocks reading until long after the timer is due
        resolve();
      }),
    );
    expect((await asked).rows).toEqual([{ id: 7 }]);
    await direct.destroy();
  });
});
