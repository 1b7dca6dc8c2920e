// Assigns combinations of the nameserver pool to accounts.

import { expect, test } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { accountNameserverSet, giveSubstitute, loadPoolUse } from '../../../src/store/claims/pool-sets.ts';
import { loadPublishSettings, saveAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import type { NameserverPool } from '../../../src/zone/pool/pool.ts';
import { asRole, TEST_SETTINGS } from '../../support/database/database.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const ADDRESSES = [['192.0.2.53'], ['198.51.100.53'], ['203.0.113.53']];

const usePool = (...lists: string[]) =>
  db.transaction().execute((trx) =>
    saveAnswerSettings(trx, {
      ...TEST_SETTINGS,
      nameserverPool: lists.map((list) => list.split('+')),
      nameserverAddresses: ADDRESSES.slice(0, lists.length),
    }),
  );

const { db, url, query, column } = sharedDatabase();

const give = (accountId: number, random?: () => number, on = db) =>
  on.transaction().execute((trx) => accountNameserverSet(trx, accountId, random));
const textOf = (names: readonly Parameters<typeof printName>[0][] | undefined) =>
  names?.map(printName).join(' ');
const substitute = (isUsable: (text: string) => boolean = () => true) =>
  db.transaction().execute((trx) => giveSubstitute(trx, (names) => isUsable(textOf(names) as string)));
const use = async () => await loadPoolUse(db, (await loadPublishSettings(db)).pool as NameserverPool);

test('gives an account one name of each list, and the same ones each time; without a pool, returns and stores nothing', async () => {
  expect(await give(1)).toBeUndefined();
  expect(await substitute()).toBeUndefined();
  expect(await query`select from given_ns_sets`).toHaveLength(0);
  await usePool('ns[01-40].a.example.', 'ns[01-40].b.example.');
  const first = await give(1);
  expect(textOf(first?.names)).toMatch(/^ns\d\d\.a\.example\. ns\d\d\.b\.example\.$/);
  expect(first?.exclusive).toBe(true);
  expect(await give(1)).toEqual(first);
  expect(await give(2)).not.toEqual(first);
});

test('gives concurrent transactions different sets, and those of one account the same', async () => {
  await usePool('ns[1-5].a.example.', 'ns[1-5].b.example.');
  const others = openDatabase(asRole(url, 'zonefleet_api'), { maxConnections: 24 });
  try {
    const sets = await Promise.all(
      Array.from({ length: 24 }, (_, i) => give((i % 20) + 1, () => 0.5, others)),
    );
    const byAccount = new Map<number, string | undefined>();
    sets.forEach((set, i) => {
      const account = (i % 20) + 1;
      byAccount.set(account, byAccount.get(account) ?? textOf(set?.names));
      expect(textOf(set?.names)).toBe(byAccount.get(account));
    });
    expect(new Set(byAccount.values()).size).toBe(20);
    expect(sets.every((set) => set?.exclusive)).toBe(true);
  } finally {
    await others.destroy();
  }
});

test('never gives the set of a deleted account to another account', async () => {
  await usePool('ns1.a.example.', 'ns[1-10].b.example.');
  const sets = new Set<string | undefined>();
  for (let account = 1; account <= 9; account++) {
    sets.add(textOf((await give(account))?.names));
    await query`delete from account_ns_sets`; // as if the account were deleted
  }
  expect(sets.size).toBe(9);
  expect(await give(1)).toMatchObject({ exclusive: false });
});

test('reserves a tenth of the combinations, which further accounts share', async () => {
  await usePool('ns[1-5].a.example.', 'ns[1-8].b.example.');
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

test('makes concurrent accounts share the last combination', async () => {
  await usePool('ns[1-2].a.example.', 'ns[1-2].b.example.');
  const sets = await Promise.all(Array.from({ length: 12 }, (_, account) => give(account + 1)));
  expect(sets.filter((set) => set?.exclusive)).toHaveLength(3);
  expect(new Set(sets.filter((set) => !set?.exclusive).map((set) => textOf(set?.names))).size).toBe(1);
});

test('gives a substitute that no account has, reuses it if it is usable, and falls back to a shared set', async () => {
  await usePool('ns[1-2].a.example.', 'ns[1-5].b.example.');
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
  const kinds = await column<string>`
    select kind from given_ns_sets where array_to_string(names, ' ') = any(${[...taken]}::text[])`;
  expect(kinds).toContain('shared');
  expect(kinds).not.toContain('exclusive');
});

test('keeps every set if a list becomes wider, and gives the new combinations too', async () => {
  await usePool('ns1.a.example.', 'ns[1-2].b.example.');
  const first = await give(1);
  expect(await give(2)).toMatchObject({ exclusive: false });
  await usePool('ns0.a.example.+ns[1-3].a.example.', 'ns[0-9].b.example.');
  expect(await give(1)).toEqual(first);
  expect(await give(2)).toMatchObject({ exclusive: false });
  expect(await give(3)).toMatchObject({ exclusive: true });
  expect(await use()).toMatchObject({ total: 40, exclusive: 2, shared: 1 });
});

test('keeps every set if a list is added; new sets have three names', async () => {
  await usePool('ns[1-2].a.example.', 'ns[1-2].b.example.');
  const first = await give(1);
  await usePool('ns[1-2].a.example.', 'ns[1-2].b.example.', 'ns[1-5].c.example.');
  expect(await give(1)).toEqual(first);
  expect((await give(2))?.names).toHaveLength(3);
  expect(await use()).toEqual({ total: 20, exclusive: 1, substitute: 0, shared: 0 });
});

test('gives another set to an account whose names an operator removed', async () => {
  await usePool('ns1.a.example.', 'ns[1-9].b.example.');
  const first = await give(1);
  await usePool('ns2.a.example.', 'ns[1-9].b.example.');
  const second = await give(1);
  expect(second?.exclusive).toBe(true);
  expect(textOf(second?.names)).toMatch(/^ns2\.a\.example\. /);
  expect(second).not.toEqual(first);
  expect(await give(1)).toEqual(second);
});
