import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import type { ArrayType } from '../../src/store/postgres/binary-array.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import {
  allowLong,
  CONNECT_TIMEOUT_MS,
  ConnectionDeadlines,
  SERVICE_LIMITS,
  sessionSettings,
  withMigrationLimits,
} from '../../src/store/postgres/deadlines.ts';
import { countUpTo } from '../../src/store/postgres/list-page.ts';
import { tableOf } from '../../src/store/postgres/prepared-statements.ts';
import { keptDatabase } from '../support/tests/shared-database.ts';

const { db, url } = keptDatabase();

describe('bounded-client', () => {
  let db: Database;

  beforeAll(() => {
    db = openDatabase(url, { maxConnections: 1 });
  });
  afterAll(() => db.destroy());

  async function prepared(text: string): Promise<number> {
    const { rows } = await sql
      .raw<{ count: number }>(`select count(*) from pg_prepared_statements where statement like '%${text}%'`)
      .execute(db);
    return (rows[0] as { count: number }).count;
  }

  test('a repeated statement is prepared once, and the next one succeeds after a failure', async () => {
    for (let i = 0; i < 20; i++) {
      const { rows } = await sql<{ twice: number }>`select ${i}::integer * 2 as twice`.execute(db);
      expect(rows).toEqual([{ twice: 2 * i }]);
    }
    expect(await prepared(' as twice')).toBe(1);
    const divide = (by: number) => sql<{ part: number }>`select 6 / ${by}::integer as part`.execute(db);
    for (let i = 1; i <= 10; i++) await divide(i);
    await expect(divide(0)).rejects.toThrow('division by zero');
    expect((await divide(3)).rows).toEqual([{ part: 2 }]);
    expect(await prepared(' as part')).toBe(1);
  });

  test('after a table change, a prepared statement fails once, and the next call reads the new columns', async () => {
    await sql`create table shapes (id integer)`.execute(db);
    const read = () => sql`select * from shapes where id <> ${0}`.execute(db);
    for (let i = 0; i < 10; i++) await read();
    await sql`alter table shapes add column colour text default 'red'`.execute(db);
    await sql`insert into shapes values (1)`.execute(db);
    await expect(read()).rejects.toThrow('cached plan');
    expect((await read()).rows).toEqual([{ id: 1, colour: 'red' }]);
  });
});

test.each([3, 70])('a table of %d rows has the values of its rows', async (count) => {
  const texts = ['', 'plain', 'Zürich ☃ 𝄞', '"{\\},NULL', null];
  const numbers = [0, -1, 2 ** 31, -(2 ** 40) - 1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER];
  const rows = Array.from({ length: count }, (_, i) => ({
    big: numbers[i % numbers.length],
    small: i % 7 === 3 ? null : 5 - i,
    text: texts[i % texts.length],
    octets: i % 5 === 2 ? null : Buffer.alloc(i, 0xff - i),
    flag: i % 2 === 0,
    at: new Date(Date.UTC(1990, i, 1, 0, 0, 0, i)),
    same: 'same',
    none: null,
    late: i === count - 1 ? 'late' : null,
  }));
  type Row = (typeof rows)[number];
  const column = (name: keyof Row, type: ArrayType) => ({ name, type, read: (row: Row) => row[name] });
  const columns = [
    column('big', 'bigint'),
    column('small', 'integer'),
    column('text', 'text'),
    column('octets', 'bytea'),
    column('flag', 'boolean'),
    column('at', 'timestamptz'),
    column('same', 'text'),
    column('none', 'bytea'),
    column('late', 'text'),
  ];
  for (let uses = 0; uses < 10; uses++) {
    expect((await sql`select * from ${tableOf(rows, columns)} t`.execute(db)).rows).toEqual(rows);
  }
});

describe('deadlines', () => {
  const LONG_MS = 120_000;

  describe('the deadlines of a connection', () => {
    const { readMs, writeMs } = SERVICE_LIMITS;
    const deadlines = () => new ConnectionDeadlines(SERVICE_LIMITS);

    it.each([
      ['select 1', readMs],
      ['  SELECT 1', writeMs], // the code uses lower case; the longer limit is harmless
      ['select 1 from domains for update', writeMs],
      ['insert into domains default values', writeMs],
      ['with gone as (delete from domains returning 1) select 1', writeMs],
      ['update domains set serial = 1', writeMs],
    ])('limit %s outside of a transaction by its kind', (text, ms) => {
      expect(deadlines().send(text).statementMs).toBe(ms);
    });

    it.each([
      [['begin', 'update domains set serial = 1'], 0, writeMs],
      [['begin', 'update domains set serial = 1'], 1000, writeMs - 1000],
      [['begin', 'update domains set serial = 1'], CONNECT_TIMEOUT_MS, readMs],
      [['select 1', 'update domains set serial = 1'], CONNECT_TIMEOUT_MS, writeMs],
    ])('limit %j after a wait of %i ms for the connection', (texts, waitedMs, ms) => {
      expect(deadlines().sendTogether(texts, waitedMs).statementMs).toBe(ms);
    });

    it('limit every statement of a transaction except its begin like a write, and the whole transaction', () => {
      const connection = deadlines();
      expect(connection.send('begin')).toEqual({ statementMs: readMs, begins: true });
      expect(connection.send('select 1')).toEqual({ statementMs: writeMs, begins: false });
      expect(connection.transactionMs).toBe(3 * writeMs);
      connection.endTransaction();
      expect(connection.send('select 1').statementMs).toBe(readMs);
      expect(connection.transactionMs).toBeUndefined();
    });

    it('follow the settings sent to the server, until the end of the transaction or for the session', () => {
      const connection = deadlines();
      connection.send('begin');
      connection.send(`select set_config('statement_timeout', '${LONG_MS}', true)`);
      expect(connection.send('select 1').statementMs).toBe(LONG_MS + 500);
      connection.endTransaction();
      expect(connection.send('update t set a = 1').statementMs).toBe(writeMs);
      connection.send('set statement_timeout = 3600000; set lock_timeout = 0');
      expect(connection.send('select 1').statementMs).toBe(3_600_500);
      connection.send("set statement_timeout = '7500ms'; set lock_timeout = '6s'");
      expect(connection.send('select 1').statementMs).toBe(readMs);
    });

    it('including the wait for a connection, limit the first response of a hanging Postgres to 10 s', () => {
      expect([CONNECT_TIMEOUT_MS + readMs, writeMs].filter((limitMs) => limitMs >= 10_000)).toEqual([]);
    });

    it('end at the server before they end at the client', () => {
      const [, serverMs] = /statement_timeout = (\d+)/.exec(sessionSettings(SERVICE_LIMITS)) ?? [];
      expect(Number(serverMs)).toBeLessThan(writeMs);
      const [, lockMs] = /lock_timeout = (\d+)/.exec(sessionSettings(SERVICE_LIMITS)) ?? [];
      expect(Number(lockMs)).toBeLessThan(Number(serverMs));
    });
  });

  const settingOf = sql<{ statement: string; lock: string; idle: string }>`
  select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
    current_setting('idle_in_transaction_session_timeout') as idle`;

  it('every connection of a pool has its own limits on the server', async () => {
    const db = openDatabase(url, { limits: { readMs: 2000, writeMs: 4500 } });
    for (const { rows } of await Promise.all(Array.from({ length: 3 }, () => settingOf.execute(db))))
      expect(rows).toEqual([{ statement: '4s', lock: '3200ms', idle: '30s' }]);
    await db.destroy();
  });

  it('a long transaction and a migration get higher limits temporarily', async () => {
    const db = openDatabase(url, { maxConnections: 1 });
    for (let i = 0; i < 20; i++) await db.transaction().execute(allowLong); // repeated statements are prepared on other connections
    await db.transaction().execute(async (trx) => {
      await allowLong(trx);
      expect((await settingOf.execute(trx)).rows).toEqual([{ statement: '2min', lock: '6s', idle: '2min' }]);
    });
    expect((await settingOf.execute(db)).rows).toMatchObject([{ statement: '7500ms', idle: '30s' }]);
    await withMigrationLimits(db, async (connection) => {
      expect((await settingOf.execute(connection)).rows).toMatchObject([{ statement: '1h', lock: '0' }]);
    });
    expect((await settingOf.execute(db)).rows).toMatchObject([{ statement: '7500ms', lock: '6s' }]);
    await db.destroy();
  });
});

it('a count is exact up to its limit, and one more beyond it', async () => {
  const count = (rows: number, most?: number) =>
    countUpTo(db, sql`generate_series(1, ${rows}::integer)`, most);
  expect(await Promise.all([0, 9, 10, 11, 12, 1000].map((rows) => count(rows, 10)))).toEqual([
    0, 9, 10, 11, 11, 11,
  ]);
  expect([await count(10_000), await count(20_000)]).toEqual([10_000, 10_001]);
});
