// No zone is signed while a node would answer it wrongly.

import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { forgetNodes } from '../../../src/store/feed/nodes.ts';
import { findUnableNodes } from '../../../src/store/signing/unable-nodes.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());
beforeEach(async () => {
  await sql`delete from nodes`.execute(database.db);
});

async function node(
  name: string,
  { abilities = ['dnssec'], silentDays = 0, used = 10, hasLeft = false } = {},
): Promise<void> {
  await sql`
    insert into nodes (name, instance, started_at, seen_at, left_at, abilities, image_octets, image_capacity)
    values (${name}, gen_random_uuid(), now(), now() - make_interval(days => ${silentDays}::integer),
      ${hasLeft ? sql`now()` : null}, ${abilities}, ${used}, 100)`.execute(database.db);
}

it('every node of today can; one that left, and one that is silent for longer than signatures live, do not count', async () => {
  expect(await findUnableNodes(database.db)).toBeUndefined();
  await node('a');
  await node('left', { abilities: [], hasLeft: true });
  await node('long-gone', { abilities: [], silentDays: 19 });
  expect(await findUnableNodes(database.db)).toBeUndefined();
});

it('an older node is named, until it is forgotten; one that reports itself cannot be', async () => {
  await node('a');
  await node('old', { abilities: [], silentDays: 17 });
  await node('older', { abilities: [], silentDays: 0 });
  expect(await findUnableNodes(database.db)).toMatch(/^old, older: too old/);
  expect(await forgetNodes(database.db, ['old', 'older', 'none'])).toEqual([
    { name: 'old', outcome: 'forgotten' },
    { name: 'older', outcome: 'live' },
    { name: 'none', outcome: 'absent' },
  ]);
  expect(await forgetNodes(database.db, ['old'])).toEqual([{ name: 'old', outcome: 'unchanged' }]);
  expect(await findUnableNodes(database.db)).toMatch(/^older: too old/);
});

it('an image that is nearly full has no room for signatures', async () => {
  await node('a', { used: 85 });
  expect(await findUnableNodes(database.db)).toBeUndefined();
  await node('full', { used: 86 });
  expect(await findUnableNodes(database.db)).toBe('full: no room for signatures (IMAGE_BYTES)');
});
