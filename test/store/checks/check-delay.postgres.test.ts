import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { loadCheckDelay } from '../../../src/store/checks/check-delay.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db } = keptDatabase();

it('returns the delay of the earliest planned check, and ignores deleted and unchecked domains', async () => {
  expect(await loadCheckDelay(db)).toBe(0);
  const owner = await newAccount(db, 'me@example.org');
  const plan = async (name: string, seconds: number | null) => {
    const { id } = await newDomain(db, owner, name);
    await sql`update domain_checks set next_at = clock_timestamp() + make_interval(secs => ${seconds})
      where domain_id = ${id}`.execute(db);
    return id;
  };
  await plan('unchecked.example.', null);
  await plan('later.example.', 60);
  expect(await loadCheckDelay(db)).toBe(0);
  await plan('late.example.', -100);
  const latest = await plan('latest.example.', -4000);
  expect(Math.floor((await loadCheckDelay(db)) / 60)).toBe(66);
  await db.updateTable('domain_checks').set({ deleted: true }).where('domain_id', '=', latest).execute();
  expect(Math.floor((await loadCheckDelay(db)) / 60)).toBe(1);
});
