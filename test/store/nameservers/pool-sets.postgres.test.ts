// Which account is given which combination of the pool.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import {
  accountNameserverSet,
  giveSubstitute,
  loadPoolUse,
} from '../../../src/store/nameservers/pool-sets.ts';
import { type AnswerSettings, loadPublishSettings } from '../../../src/store/postgres/answer-settings.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import type { NameserverPool } from '../../../src/zone/pool/pool.ts';
import { asRole, createDatabase, TEST_SETTINGS, type TestDatabase } from '../../support/database/database.ts';

const ADDRESSES = [['192.0.2.53'], ['198.51.100.53'], ['203.0.113.53']];

function pool(...lists: string[]): AnswerSettings {
  return {
    ...TEST_SETTINGS,
    nameserverPool: lists.map((list) => list.split('+')),
    nameserverAddresses: ADDRESSES.slice(0, lists.length),
  };
}

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createDatabase();
  ({ db } = database);
});
afterEach(() => database.drop());

const give = (accountId: number, random?: () => number, on = db) =>
  on.transaction().execute((trx) => accountNameserverSet(trx, accountId, random));
const textOf = (names: readonly Parameters<typeof printName>[0][] | undefined) =>
  names?.map(printName).join(' ');
const substitute = (isUsable: (text: string) => boolean = () => true) =>
  db.transaction().execute((trx) => giveSubstitute(trx, (names) => isUsable(textOf(names) as string)));
const use = async () => await loadPoolUse(db, (await loadPublishSettings(db)).pool as NameserverPool);

test('without a pool no account has a set, and nothing is stored', async () => {
  expect(await give(1)).toBeUndefined();
  expect(await substitute()).toBeUndefined();
  const { rows } = await sql`select from given_ns_sets`.execute(db);
  expect(rows).toHaveLength(0);
});

test('an account has one name of each list, and the same ones each time', async () => {
  await migrate(db, pool('ns[01-40].a.example.', 'ns[01-40].b.example.'));
  const first = await give(1);
  expect(textOf(first?.names)).toMatch(/^ns\d\d\.a\.example\. ns\d\d\.b\.example\.$/);
  expect(first?.exclusive).toBe(true);
  expect(await give(1)).toEqual(first);
  expect(await give(2)).not.toEqual(first);
});

test('fifty transactions at once get fifty different sets, and those of one account the same', async () => {
  await migrate(db, pool('ns[1-8].a.example.', 'ns[1-8].b.example.'));
  const others = openDatabase(asRole(database.url, 'zonefleet_api'), { maxConnections: 50 });
  try {
    const sets = await Promise.all(
      Array.from({ length: 50 }, (_, i) => give((i % 45) + 1, () => 0.5, others)),
    );
    const byAccount = new Map<number, string | undefined>();
    sets.forEach((set, i) => {
      const account = (i % 45) + 1;
      byAccount.set(account, byAccount.get(account) ?? textOf(set?.names));
      expect(textOf(set?.names)).toBe(byAccount.get(account));
    });
    expect(new Set(byAccount.values()).size).toBe(45);
    expect(sets.every((set) => set?.exclusive)).toBe(true);
  } finally {
    await others.destroy();
  }
});

test('a set stays given when its account is gone', async () => {
  await migrate(db, pool('ns1.a.example.', 'ns[1-20].b.example.'));
  const sets = new Set<string | undefined>();
  for (let account = 1; account <= 18; account++) {
    sets.add(textOf((await give(account))?.names));
    await sql`delete from account_ns_sets`.execute(db); // as if the account were deleted
  }
  expect(sets.size).toBe(18);
  expect(await give(1)).toMatchObject({ exclusive: false });
});

test('one tenth is kept back: accounts beyond the rest share sets that are nobody’s own', async () => {
  await migrate(db, pool('ns[1-5].a.example.', 'ns[1-8].b.example.'));
  const own = new Set<string | undefined>();
  for (let account = 1; account <= 36; account++) {
    const set = await give(account);
    expect(set?.exclusive).toBe(true);
    own.add(textOf(set?.names));
  }
  expect(own.size).toBe(36);
  const shared = new Set<string | undefined>();
  for (let account = 37; account <= 60; account++) {
    const set = await give(account);
    expect(set?.exclusive).toBe(false);
    expect(own.has(textOf(set?.names))).toBe(false);
    shared.add(textOf(set?.names));
    expect(await give(account)).toEqual(set);
  }
  expect(shared.size).toBe(2);
  expect(await use()).toEqual({ total: 40, exclusive: 36, substitute: 0, shared: 2 });
});

test('the last one is shared, however many ask at once', async () => {
  await migrate(db, pool('ns[1-2].a.example.', 'ns[1-2].b.example.'));
  const sets = await Promise.all(Array.from({ length: 12 }, (_, account) => give(account + 1)));
  expect(sets.filter((set) => set?.exclusive)).toHaveLength(3);
  expect(new Set(sets.filter((set) => !set?.exclusive).map((set) => textOf(set?.names))).size).toBe(1);
});

test('a substitute is no account’s, serves again where it is usable, and is a shared one in the end', async () => {
  await migrate(db, pool('ns[1-2].a.example.', 'ns[1-5].b.example.'));
  const owned = textOf((await give(1))?.names);
  const first = await substitute();
  expect(first?.kind).toBe('substitute');
  expect(textOf(first?.names)).not.toBe(owned);
  expect(await substitute()).toEqual(first);
  const second = await substitute((text) => text !== textOf(first?.names));
  expect(second?.kind).toBe('substitute');
  expect(second).not.toEqual(first);
  expect(await substitute(() => false)).toBeUndefined();
  expect(await use()).toMatchObject({ exclusive: 1, substitute: 2 });

  for (let account = 2; account <= 10; account++) await give(account);
  const taken = new Set<string>();
  for (
    let next = await substitute();
    next !== undefined;
    next = await substitute((text) => !taken.has(text))
  ) {
    taken.add(textOf(next.names) as string);
    if (next.kind === 'shared') break;
  }
  const { rows } = await sql<{ kind: string }>`
      select kind from given_ns_sets where array_to_string(names, ' ') = any(${[...taken]}::text[]) order by kind`.execute(
    db,
  );
  expect(rows.map(({ kind }) => kind)).toContain('shared');
  expect(rows.map(({ kind }) => kind)).not.toContain('exclusive');
});

test('a wider list leaves every set as it is, and gives the new combinations too', async () => {
  await migrate(db, pool('ns1.a.example.', 'ns[1-2].b.example.'));
  const first = await give(1);
  expect(await give(2)).toMatchObject({ exclusive: false });
  await migrate(db, pool('ns0.a.example.+ns[1-3].a.example.', 'ns[0-9].b.example.'));
  expect(await give(1)).toEqual(first);
  expect(await give(2)).toMatchObject({ exclusive: false });
  expect(await give(3)).toMatchObject({ exclusive: true });
  expect(await use()).toMatchObject({ total: 40, exclusive: 2, shared: 1 });
});

test('one more list leaves every set as it is too: new ones have three names', async () => {
  await migrate(db, pool('ns[1-2].a.example.', 'ns[1-2].b.example.'));
  const first = await give(1);
  await migrate(db, pool('ns[1-2].a.example.', 'ns[1-2].b.example.', 'ns[1-5].c.example.'));
  expect(await give(1)).toEqual(first);
  expect((await give(2))?.names).toHaveLength(3);
  expect(await use()).toEqual({ total: 20, exclusive: 1, substitute: 0, shared: 0 });
});

test('an account whose names an operator dropped gets another set', async () => {
  await migrate(db, pool('ns1.a.example.', 'ns[1-9].b.example.'));
  const first = await give(1);
  await migrate(db, pool('ns2.a.example.', 'ns[1-9].b.example.'), { force: true });
  const second = await give(1);
  expect(second?.exclusive).toBe(true);
  expect(textOf(second?.names)).toMatch(/^ns2\.a\.example\. /);
  expect(second).not.toEqual(first);
  expect(await give(1)).toEqual(second);
});
