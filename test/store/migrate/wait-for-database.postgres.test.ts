import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SchemaError } from '../../../src/store/migrate/migrate.ts';
import { waitForDatabase } from '../../../src/store/migrate/wait-for-database.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database?.drop());

function waiting(signal = new AbortController().signal) {
  const warned: object[] = [];
  return { warned, log: { warn: (fields: object) => void warned.push(fields) }, signal };
}

describe('a process that starts', () => {
  it('goes on when the schema is there and its own preparation succeeds, and logs each failure', async () => {
    const options = waiting();
    const refused = new Error('connect ECONNREFUSED');
    let attempts = 0;
    await waitForDatabase(database.db, options, async () => {
      if (++attempts < 2) throw refused;
    });
    expect(options.warned).toEqual([{ err: refused }]);
    expect(attempts).toBe(2);
  });

  it('does not wait for a schema, since `migrate` comes first', async () => {
    const empty = await createDatabase({ empty: true });
    let isPrepared = false;
    const started = waitForDatabase(empty.db, waiting(), async () => {
      isPrepared = true;
    });
    await expect(started).rejects.toThrow(SchemaError);
    expect(isPrepared).toBe(false);
    await empty.drop();
  });

  it('waits no longer when it is stopped', async () => {
    const stopping = new AbortController();
    const started = waitForDatabase(database.db, waiting(stopping.signal), async () => {
      stopping.abort();
      throw new Error('the connection broke');
    });
    await expect(started).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  });
});
