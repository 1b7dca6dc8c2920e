import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { migrate } from '../../src/features/migrate.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { createDatabase, TEST_SETTINGS } from '../support/database/database.ts';
import { until } from '../support/tests/until.ts';

it('a step releases its place in the queue for a table while another session uses it, and is applied later', async () => {
  const database = await createDatabase();
  const { db } = database;
  const other = openDatabase(database.url, { maxConnections: 2 });
  try {
    await sql`drop table account_identities, identity_proofs`.execute(db);
    await sql`delete from kysely_migration where name >= '0009'`.execute(db);
    const waits: string[] = [];
    let migrating: ReturnType<typeof migrate> | undefined;
    await other.transaction().execute(async (trx) => {
      await sql`lock table accounts in row exclusive mode`.execute(trx);
      migrating = migrate(db, TEST_SETTINGS, { onWait: (reason) => waits.push(reason) });
      await until(() => waits.length > 0, 'the step waits');
      await sql`update accounts set email = email`.execute(other); // as any API process
    });
    expect((await migrating)?.applied[0]).toBe('0009-identities');
    expect(waits[0]).toMatch(
      /^0009-identities waits for a table that is in use; open transactions: pid \d+ /,
    );
  } finally {
    await other.destroy();
    await database.drop();
  }
});
