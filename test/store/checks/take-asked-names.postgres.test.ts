// What nodes report as asked for, and the checks that are due by it.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { takeAskedNames } from '../../../src/store/checks/take-asked-names.ts';
import { reportAskedZones } from '../../../src/store/feed/asked-names.ts';
import { type Connection, connect } from '../../../src/store/postgres/connection.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { asRole } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const NOTHING = { due: 0, later: 0, ignored: 0 };

const database = sharedDatabase();
let db: Database;
let workers: Database;
let node: Connection;
let accountId: number;

beforeEach(async () => {
  ({ db } = database);
  workers = openDatabase(asRole(database.url, 'zonefleet_worker'), { maxConnections: 2 });
  node = await connect(asRole(database.url, 'zonefleet_node'), { applicationName: 'test' });
  accountId = await newAccount(db, 'me@example.org');
});
afterEach(async () => {
  await node.close();
  await workers.destroy();
});

/** Pending, answered whole, checked before, and not due for hours. */
async function waiting(name: string): Promise<{ readonly id: number; readonly zoneId: number }> {
  const { id } = await newDomain(db, accountId, name);
  await sql`
      update domain_checks set due_at = now() + interval '6 hours', next_at = now() + interval '6 hours'
      where domain_id = ${id}`.execute(db);
  const { rows } = await sql<{ zoneId: number }>`
      select zone_id as "zoneId" from domains where id = ${id}`.execute(db);
  return { id, zoneId: (rows[0] as { zoneId: number }).zoneId };
}
const report = (...zones: readonly { readonly zoneId: number }[]) =>
  reportAskedZones(
    node,
    zones.map(({ zoneId }) => zoneId),
  );
const take = () => takeAskedNames(workers);
/** In seconds from now, and whether the scheduler takes it. */
async function planOf({ id }: { readonly id: number }) {
  const { rows } = await sql<{ askedIn: number | null; isDue: boolean; isPlanned: boolean }>`
      select extract(epoch from asked_due_at - now())::float8 as "askedIn", due_at <= now() as "isDue",
        next_at <= now() as "isPlanned" from domain_checks where domain_id = ${id}`.execute(db);
  return rows[0] as { askedIn: number | null; isDue: boolean; isPlanned: boolean };
}
/** As if its check had been saved, so long ago. */
const checked = ({ id }: { readonly id: number }, secondsAgo: number) =>
  sql`
      update domain_checks set due_at = now() + interval '6 hours', next_at = now() + interval '6 hours',
        asked_at = now() - make_interval(secs => ${secondsAgo}) where domain_id = ${id}`.execute(db);

test('a name that is asked for is due at once, once, whichever nodes report it', async () => {
  const [one, other] = [await waiting('one.example.'), await waiting('other.example.')];
  expect(await report(one)).toEqual([]);
  expect(await report(one)).toEqual([]);
  expect(await take()).toEqual({ ...NOTHING, due: 1 });
  expect(await planOf(one)).toEqual({ askedIn: null, isDue: true, isPlanned: true });
  expect(await planOf(other)).toMatchObject({ isDue: false });
  expect(await take()).toEqual(NOTHING);
});

test('asked for again it waits half a minute, and five minutes once its account has had its share', async () => {
  const name = await waiting('one.example.');
  await checked(name, 10);
  await report(name);
  expect(await take()).toEqual({ ...NOTHING, later: 1 });
  expect((await planOf(name)).askedIn).toBeCloseTo(20, -1);
  expect(await planOf(name)).toMatchObject({ isDue: false });
  await sql`update check_shares set asked_again = 100`.execute(db);
  const next = await waiting('next.example.');
  await checked(next, 10);
  await report(next);
  await take();
  expect((await planOf(next)).askedIn).toBeGreaterThan(200);
  // When its account has a share again, it is due earlier.
  await sql`update check_shares set asked_again = 0`.execute(db);
  await report(next);
  await take();
  expect((await planOf(next)).askedIn).toBeLessThan(30);
});

test('ten names of one account that are asked for again get six checks', async () => {
  const names: Awaited<ReturnType<typeof waiting>>[] = [];
  for (let i = 0; i < 10; i++) names.push(await waiting(`n${i}.example.`));
  for (const name of names) await checked(name, 60);
  await report(...names);
  expect(await take()).toEqual({ ...NOTHING, due: 6, later: 4 });
  const { rows } = await sql<{ again: number }>`select asked_again as again from check_shares`.execute(db);
  expect(rows).toEqual([{ again: 6 }]);
});

test('what is planned becomes due when its time has come', async () => {
  const name = await waiting('one.example.');
  await checked(name, 10);
  await report(name);
  await take();
  await sql`update domain_checks set asked_due_at = now() where domain_id = ${name.id}`.execute(db);
  expect(await take()).toEqual({ ...NOTHING, due: 1 });
});

test('while a check waits or is under way, the next one waits until it is saved', async () => {
  const name = await waiting('one.example.');
  await sql`update domain_checks set next_at = now() - interval '1 second' where domain_id = ${name.id}`.execute(
    db,
  );
  await report(name);
  expect(await take()).toEqual(NOTHING);
  expect(await planOf(name)).toMatchObject({ isDue: false, askedIn: expect.any(Number) });
  await sql`update domain_checks set next_at = now() + interval '1 minute' where domain_id = ${name.id}`.execute(
    db,
  );
  expect(await take()).toEqual({ ...NOTHING, due: 1 });
});

test('a question that came before the newest check asks for none', async () => {
  const name = await waiting('one.example.');
  await report(name);
  await checked(name, -1);
  await take();
  expect(await planOf(name)).toMatchObject({ isDue: false, askedIn: null });
});

test('names that do not wait, or of which only the apex is answered, are ignored', async () => {
  const names = [await waiting('one.example.'), await waiting('other.example.')] as const;
  await sql`update domains set status = 'active' where id = ${names[0].id}`.execute(db);
  await sql`update domains set served = 'apex' where id = ${names[1].id}`.execute(db);
  await report(...names);
  await reportAskedZones(node, [2 ** 40]);
  expect(await take()).toEqual({ ...NOTHING, ignored: 3 });
  for (const name of names) expect(await planOf(name)).toMatchObject({ isDue: false });
});

test('a plan is given up when the name is proven meanwhile', async () => {
  const name = await waiting('one.example.');
  await checked(name, 10);
  await report(name);
  await take();
  await sql`update domains set status = 'active' where id = ${name.id}`.execute(db);
  await sql`update domain_checks set asked_due_at = now() where domain_id = ${name.id}`.execute(db);
  expect(await take()).toEqual(NOTHING);
  expect(await planOf(name)).toMatchObject({ isDue: false, askedIn: null });
});
