// Which large zones are signed, unsigned or given another chain next: each in its turn.

import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { claimDuePieces, endLease } from '../../../src/store/signing/claim-due-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();

test('a zone that is due again and again waits until all others had their turn', async () => {
  const { db } = database;
  await sql`
    insert into signed_zones (zone_name, goal, denial, algorithm, phase, denial_change)
    select name, 'signed', 'nsec', 13, 'waiting', 'removing' from unnest(array['a.', 'b.', 'c.']) name`.execute(
    db,
  );
  const seen: string[] = [];
  for (let last = 0; seen.length < 4; ) {
    const [zone] = await claimDuePieces(db, 1, last);
    if (zone === undefined) throw new Error('none is due');
    seen.push(zone.name);
    last = zone.id;
    await endLease(db, zone.id); // and at once it is due again
  }
  expect(seen).toEqual(['a.', 'b.', 'c.', 'a.']);
});
