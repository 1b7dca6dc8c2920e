import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { inOneTrip, sendBehindCommit, sendWithNext } from '../../../src/store/postgres/pool-driver.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const { url, column, query } = keptDatabase();
let db: Database;

beforeAll(async () => {
  await query`create table numbers (n integer)`;
  db = openDatabase(url, { maxConnections: 1 });
});
beforeEach(() => query`truncate numbers`);
afterAll(() => db.destroy());

const UNENCODABLE = {
  toPostgres() {
    throw new Error('not encodable');
  },
};
const NAMES = ['first', 'middle', 'last'];

/** Inserts 12 divided by each value, each with a statement of its own. Returns the quotients, or the errors. */
async function insertTogether(...values: readonly unknown[]): Promise<unknown[]> {
  const outcomes: unknown[] = [];
  const transaction = db.transaction().execute(async (trx) => {
    const view = inOneTrip(trx);
    const inserting = values.map(async (value, i) => {
      const { rows } = await sql<{ n: number }>`
        insert into numbers values (12 / ${value}::integer) returning n${sql.raw(` as ${NAMES[i]}`)}`.execute(
        view,
      );
      return Object.values(rows[0] as object)[0];
    });
    const settled = await Promise.allSettled(inserting);
    for (const each of settled) outcomes.push(each.status === 'fulfilled' ? each.value : String(each.reason));
    await Promise.all(inserting);
  });
  await transaction.catch((error) => expect(outcomes).toContain(String(error)));
  return outcomes;
}

const insert = (n: number) => sql`insert into numbers values (12 / ${n}::integer)`;

const backend = async () =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid as number;

describe('statements that are sent together', () => {
  it('return their own results', async () => {
    expect(await insertTogether(1, 2, 3)).toEqual([12, 6, 4]);
    expect(await column`select n from numbers order by n`).toEqual([4, 6, 12]);
  });

  describe.each([
    ['fails', 0, 'division by zero'],
    ['has values that cannot be encoded', UNENCODABLE, 'not encodable'],
  ])('are all rejected if one of them %s', (_, value, message) => {
    it.each([0, 1, 2])('(statement %i), and the connection remains usable', async (index) => {
      const before = await backend();
      const rejections = await insertTogether(...[1, 2, 3].map((each, i) => (i === index ? value : each)));
      expect(rejections).toEqual(NAMES.map(() => expect.stringContaining(message)));
      expect(await column`select n from numbers`).toEqual([]);
      expect(await insertTogether(1, 2, 3)).toEqual([12, 6, 4]);
      expect(await backend()).toBe(before);
    });
  });

  it('are prepared again if they were skipped after a failed one', async () => {
    for (let i = 0; i < 10; i++) await insertTogether(1, 2, 3);
    const before = await backend();
    await query`select pg_terminate_backend(${before}::integer)`;
    await until(async () => (await backend().catch(() => before)) !== before || undefined);
    await insertTogether(0, 2, 3);
    expect(await insertTogether(1, 2, 3)).toEqual([12, 6, 4]);
  });

  it('are not carried out if an error of this process ends their transaction before they are sent', async () => {
    const refused = db.transaction().execute(async (trx) => {
      await insert(1).execute(trx);
      await Promise.all([insert(2).execute(inOneTrip(trx)), Promise.reject(new Error('refused'))]);
    });
    await expect(refused).rejects.toThrow('refused');
    await insert(3).execute(db);
    expect(await column`select n from numbers`).toEqual([4]);
  });

  it('are all rejected if their connection ends, and the transaction too', async () => {
    const rejected: number[] = [];
    const killed = db.transaction().execute(async (trx) => {
      const view = inOneTrip(trx);
      const killing = sql`select pg_terminate_backend(pg_backend_pid())`.execute(view);
      const inserting = [1, 2].map((n) => sql`insert into numbers values (${n})`.execute(view));
      await Promise.allSettled([killing, ...inserting].map((each, i) => each.catch(() => rejected.push(i))));
    });
    await expect(killed).rejects.toThrow();
    expect(rejected).toEqual([0, 1, 2]);
    expect(await insertTogether(1, 2, 3)).toEqual([12, 6, 4]);
  });
});

describe('a statement that is sent with the next one', () => {
  it('is carried out before the commit', async () => {
    await db.transaction().execute((trx) => sendWithNext(trx, insert(1)));
    await db.transaction().execute((trx) => sendWithNext(inOneTrip(trx), insert(2)));
    await db.transaction().execute(async (trx) => {
      const view = inOneTrip(trx);
      await Promise.all([insert(3).execute(view), sendWithNext(view, insert(4))]);
    });
    expect(await column`select n from numbers`).toEqual([12, 6, 4, 3]);
  });

  it('rejects the next statement or the commit if it fails', async () => {
    const next = db.transaction().execute(async (trx) => {
      await sendWithNext(trx, insert(0));
      await insert(1).execute(trx);
    });
    await expect(next).rejects.toThrow('division by zero');
    for (const view of [inOneTrip, (trx: Database) => trx]) {
      const committed = db.transaction().execute(async (trx) => {
        await sendWithNext(view(trx), insert(0));
        await new Promise(setImmediate);
      });
      await expect(committed).rejects.toThrow('division by zero');
    }
    expect(await column`select n from numbers`).toEqual([]);
  });

  it('is discarded if its savepoint is rolled back, and the transaction continues', async () => {
    await db.transaction().execute(async (trx) => {
      const refused = inTransaction(trx, async (savepoint) => {
        await sendWithNext(savepoint, insert(0));
        throw new Error('refused');
      });
      await expect(refused).rejects.toThrow('refused');
      await insert(2).execute(trx);
    });
    expect(await column`select n from numbers`).toEqual([6]);
  });

  it('is discarded by a rollback, with the begin', async () => {
    const refused = db.transaction().execute(async (trx) => {
      await sendWithNext(trx, insert(1));
      throw new Error('refused');
    });
    await expect(refused).rejects.toThrow('refused');
    await insert(2).execute(db); // is not part of a transaction
    expect(await column`select n from numbers`).toEqual([6]);
  });
});

describe('a statement that is sent behind the commit', () => {
  const commitWith = (first: number, behind: number, error?: Error) =>
    db.transaction().execute(async (trx) => {
      await sendWithNext(trx, insert(first));
      await sendBehindCommit(trx, insert(behind));
      if (error !== undefined) throw error;
    });

  it('is carried out after the commit', async () => {
    await commitWith(1, 2);
    expect(await column`select n from numbers`).toEqual([12, 6]);
  });

  it('does not fail a transaction that was committed', async () => {
    const before = await backend();
    for (let i = 0; i < 10; i++) await commitWith(1, 0); // also if it is prepared
    await commitWith(2, 3);
    expect(await column`select n from numbers`).toEqual([...Array(10).fill(12), 6, 4]);
    expect(await backend()).toBe(before);
  });

  it('is not carried out if the transaction is not committed', async () => {
    await expect(commitWith(0, 1)).rejects.toThrow('division by zero');
    await expect(commitWith(1, 2, new Error('refused'))).rejects.toThrow('refused');
    await insert(3).execute(db);
    expect(await column`select n from numbers`).toEqual([4]);
  });
});
