// After a restore the API asks for no DS that is not there yet, until the machine was looked at.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { enableDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { loadDnssec } from '../../../src/store/dnssec/load-dnssec.ts';
import { loadToldDnssec, loadToldDnssecOf } from '../../../src/store/dnssec/load-told-dnssec.ts';
import { EPOCH_SQL } from '../../../src/store/feed/change-feed.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();
let domainId: number;

beforeEach(async () => {
  useSecrets(database.db);
  domainId = (await newDomain(database.db, await newAccount(database.db, 'a@example.org'))).id;
});

test('what a restored database asks for is not told before the next look', async () => {
  const { db } = database;
  expect(await loadToldDnssec(db, domainId)).toBeUndefined();
  await enableDnssec(db, { ...BY, domainId });
  const stored = await loadDnssec(db, domainId);
  expect(await loadToldDnssec(db, domainId)).toEqual(stored);
  const id = stored?.keys[0]?.id;
  await sql`
    update signed_zones set machine = machine || jsonb_build_object('asked', jsonb_build_array(${String(id)}::text),
      'epoch', (select ${sql.raw(EPOCH_SQL)} from feed))`.execute(db);
  expect((await loadToldDnssec(db, domainId))?.machine?.asked).toEqual([String(id)]);
  await sql`update feed set epoch = gen_random_uuid()`.execute(db);
  expect((await loadToldDnssec(db, domainId))?.machine?.asked).toEqual([]);
  expect((await loadToldDnssecOf(db, stored?.signed.id as number))?.machine?.asked).toEqual([]);
  expect((await loadDnssec(db, domainId))?.machine?.asked).toEqual([String(id)]);
});
