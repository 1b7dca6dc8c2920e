import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { type PublishFault, runHousekeeping } from '../../../workers/rounds/housekeeping.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const database = sharedDatabase();

it('reports once a domain whose published records differ from its own, and checks all domains in turn', async () => {
  const { db } = database;
  const account = await newAccount(db, 'ann@example.org');
  for (let i = 0; i < 12; i++) await newDomain(db, account, `d${i}.example.com.`);
  const faults: PublishFault[] = [];
  const troubles: unknown[] = [];
  const running = runHousekeeping({
    db,
    onFault: (fault) => faults.push(fault),
    onTrouble: (error) => troubles.push(error),
    idleMs: 5,
  });
  const spoil = (name: string) =>
    sql`update zone_records set ttl = ttl + 1
      where type = 6 and zone_id = (select zone_id from domains where name = ${name})`.execute(db);
  const names = () => faults.map(({ domain }) => domain);
  try {
    // The rounds pass the last domain again on the way from the third to the first.
    for (const name of ['d11.example.com.', 'd3.example.com.', 'd0.example.com.']) {
      await spoil(name);
      await until(() => names().includes(name), `${name} is found`);
    }
  } finally {
    await running.stop();
  }
  expect(names()).toEqual(['d11.example.com.', 'd3.example.com.', 'd0.example.com.']);
  expect(faults[0]?.differences).toHaveLength(2);
  expect(troubles).toEqual([]);
});

it('reports its errors, and continues', async () => {
  const troubles: unknown[] = [];
  const running = runHousekeeping({
    db: database.db,
    onFault: () => {},
    onTrouble: (error) => troubles.push(error),
    idleMs: 5,
  });
  await sql`alter table feed rename to gone`.execute(database.db);
  await until(() => troubles.length > 1, 'it has tried again');
  await running.stop();
});
