// A change is in sync when the last expected node serves it, and not before.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { inSync } from '../../../src/store/feed/in-sync.ts';
import { BY, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { followLoaded } from '../../support/processes/follow.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';

const database = sharedDatabase();
let domainId: number;

beforeEach(async () => {
  domainId = (await newDomain(database.db, await newAccount(database.db, 'a@example.org'))).id;
});

const change = async (i: number) =>
  (await saved(database.db, domainId, edit({ create: [`h${i} A 192.0.2.1`] }))).changeId;
const sync = async (id: number) => (await inSync(database.db, [id])).get(id);

test('it is never told before the last node serves the change, and soon after', async () => {
  const { db, url } = database;
  const nodes = await Promise.all(
    ['one', 'two', 'three'].map((nodeName) => followLoaded({ databaseUrl: url, nodeName })),
  );
  await until(async () => (await sync(await change(0)))?.nodes.live === 3);
  for (let i = 1; i <= 20; i++) {
    const id = await change(i);
    const serial = (await db.selectFrom('domains').select('serial').executeTakeFirstOrThrow()).serial;
    await until(async () => {
      const told = await sync(id);
      const served = nodes.filter((node) => (node.zones.get(APEX)?.serial ?? 0) >= serial).length;
      expect(told?.nodes.seen).toBeLessThanOrEqual(served);
      return told?.inSync === true;
    });
  }
  await Promise.all(nodes.map((node) => node.stop()));
  const last = await change(21);
  expect(await sync(last)).toEqual({ inSync: false, nodes: { seen: 0, live: 0 } });
});

test('a node that is silent is waited for until it was not seen for a day, one that left is not', async () => {
  const { db, url } = database;
  const node = await followLoaded({ databaseUrl: url, nodeName: 'here' });
  await sql`insert into nodes (name, instance, started_at, seen_at, loaded, epoch, position, snapshot)
      select 'silent', gen_random_uuid(), now(), now() - interval '23 hours', true, epoch, position, snapshot
      from nodes where name = 'here'`.execute(db);
  const id = await change(1);
  await until(async () => (await sync(id))?.nodes.seen === 1);
  expect(await sync(id)).toEqual({ inSync: false, nodes: { seen: 1, live: 2 } });
  await sql`update nodes set seen_at = now() - interval '25 hours' where name = 'silent'`.execute(db);
  expect(await sync(id)).toEqual({ inSync: true, nodes: { seen: 1, live: 1 } });
  await sql`update nodes set seen_at = now(), left_at = now() where name = 'silent'`.execute(db);
  expect((await sync(id))?.inSync).toBe(true);
  expect((await inSync(db, [id, 4711])).has(4711)).toBe(false);
  await node.stop();
});

test('a node of another history, one that is loading, one that holds removals, and one that cannot serve it do not have it', async () => {
  const { db, url } = database;
  const node = await followLoaded({ databaseUrl: url, nodeName: 'here' });
  const edited = await change(1);
  const deleted = await deleteDomain(db, { ...BY, domainId });
  const removal = deleted.kind === 'deleted' ? deleted.changeId : 0;
  await until(async () => (await sync(removal))?.inSync === true);
  await node.stop();
  const withNode = async (set: string) => {
    await sql`update nodes set left_at = null, loaded = true, held_since = null, unserved = '{}'`.execute(db);
    await sql`update nodes set ${sql.raw(set)}`.execute(db);
    return [(await sync(edited))?.inSync, (await sync(removal))?.inSync];
  };
  expect(await withNode('loaded = true')).toEqual([true, true]);
  expect(await withNode('loaded = false')).toEqual([false, false]);
  expect(await withNode('held_since = now()')).toEqual([true, false]);
  const domainsZone = "(select id from zones where name = 'example.com.')";
  expect(await withNode(`unserved = array[1000000, ${domainsZone}]`)).toEqual([false, false]);
  expect(await withNode("unserved = '{1000000}'")).toEqual([true, true]);
  expect(await withNode('unserved = null')).toEqual([false, false]); // too many to be named
  expect(await withNode("epoch = 'other'")).toEqual([false, false]);
});
