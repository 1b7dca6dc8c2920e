// Incidents go after ninety days, and suspicions that nothing followed after one.

import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { purgeUptime } from '../../../src/store/housekeeping/purge-uptime.ts';
import { createDatabase } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';

it('old incidents and suspicions go; what goes on stays', async () => {
  const database = await createDatabase();
  const { db } = database;
  const account = await newAccount(db, 'ann@uptime.test');
  const ids: number[] = [];
  for (const name of ['a.test.', 'b.test.', 'c.test.']) ids.push((await newDomain(db, account, name)).id);
  const [a, b, c] = ids;
  await sql`
    insert into uptime_incidents (domain_id, started_at, ended_at, requests, failures) values
      (${a}, now() - interval '91 days', now() - interval '90 days', 1, 1),
      (${a}, now() - interval '89 days', now() - interval '88 days', 2, 2),
      (${b}, now() - interval '200 days', null, 3, 3)`.execute(db);
  const minute = (days: number) => Math.floor(Date.now() / 60_000) - days * 1440;
  await sql`
    insert into uptime_states (domain_id, judged, state) values
      (${a}, ${minute(2)}, '{"kind": "run"}'), (${b}, ${minute(200)}, '{"kind": "incident"}'),
      (${c}, ${minute(0)}, '{"kind": "run"}')`.execute(db);
  await purgeUptime(db);
  const incidents = await sql<{ n: number }>`select requests as n from uptime_incidents order by 1`.execute(
    db,
  );
  expect(incidents.rows.map(({ n }) => n)).toEqual([2, 3]);
  const states = await sql<{ id: number }>`select domain_id as id from uptime_states order by 1`.execute(db);
  expect(states.rows.map(({ id }) => id)).toEqual([b, c]);
  await database.drop();
});
