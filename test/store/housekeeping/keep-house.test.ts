import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { purgeOld } from '../../../src/store/housekeeping/keep-house.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { smallZone } from '../../support/processes/follow.ts';

let database: TestDatabase;
beforeEach(async () => {
  database = await createDatabase();
});
afterEach(() => database.drop());

it('forgets old changes at most once an hour, whoever asks', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1)], { source: 'test' });
  await sql`update changes set at = at - interval '8 days'`.execute(db);
  const changes = async () => (await db.selectFrom('changes').selectAll().execute()).length;
  await sql`update feed set purged_at = clock_timestamp() - interval '59 minutes'`.execute(db);
  await purgeOld(db);
  expect(await changes()).toBe(1);
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await purgeOld(db);
  expect(await changes()).toBe(0);
});

it('a writer forgets nothing: no call waits for it', async () => {
  const { db } = database;
  await saveZones(db, [smallZone('a.example.', 1)], { source: 'test' });
  await sql`update changes set at = at - interval '8 days'`.execute(db);
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await saveZones(db, [smallZone('b.example.', 1)], { source: 'test' });
  expect(await db.selectFrom('changes').selectAll().execute()).toHaveLength(2);
});

it('forgets sightings, rights and holders after two years, and takeovers after 90 days', async () => {
  const { db } = database;
  const accountId = await newAccount(db, 'a@example.org');
  const old = '731 days';
  const young = '729 days';
  const seen = async (name: string, ago: string) => {
    await sql`insert into ns_sightings (name, names, first_seen_at, last_seen_at)
      values (${name}, '{ns1.example.net.}', now() - interval '3 years', now() - ${ago}::interval)`.execute(
      db,
    );
  };
  const right = async (name: string) => {
    await sql`insert into ns_rights (name, names, account_id, exclusive, made_at)
      values (${name}, '{ns1.example.net.,ns2.example.net.}', ${accountId}, true, now() - interval '3 years')`.execute(
      db,
    );
  };
  await seen('gone.test.', old);
  await seen('seen.test.', young);
  for (const name of ['gone.test.', 'seen.test.', 'live.test.', 'left.test.']) await right(name);
  await newDomain(db, accountId, 'live.test.');
  const left = await newDomain(db, accountId, 'left.test.');
  await deleteDomain(db, { ...BY, domainId: left.id });
  await sql`insert into name_holders (name, account_id, active_at)
    values ('a.test.', ${accountId}, now() - ${old}::interval), ('b.test.', ${accountId}, now() - ${young}::interval)`.execute(
    db,
  );
  await sql`insert into name_takeovers (name, at, from_account_id, to_account_id)
    values ('a.test.', now() - interval '91 days', 1, 2), ('b.test.', now() - interval '89 days', 1, 2)`.execute(
    db,
  );
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await purgeOld(db);
  const names = async (table: 'ns_sightings' | 'ns_rights' | 'name_holders' | 'name_takeovers') =>
    (await db.selectFrom(table).select('name').distinct().orderBy('name').execute()).map(({ name }) => name);
  expect(await names('ns_sightings')).toEqual(['seen.test.']);
  expect(await names('ns_rights')).toEqual(['left.test.', 'live.test.', 'seen.test.']);
  expect(await names('name_holders')).toEqual(['b.test.']);
  expect(await names('name_takeovers')).toEqual(['b.test.']);
});
