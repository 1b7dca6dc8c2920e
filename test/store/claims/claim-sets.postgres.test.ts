// Which sets prove a claim from its beginning, with static sets and with a pool, by what was sighted of the name before.

import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { accountNameserverSet } from '../../../src/store/nameservers/pool-sets.ts';
import { type AnswerSettings, saveAnswerSettings } from '../../../src/store/postgres/answer-settings.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import { BY, expectPublished, newAccount, newDomain } from '../../support/database/domains.ts';
import { POOL } from '../../support/database/pool-accounts.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { evidenceOf, makeCheck } from '../../support/world/made-checks.ts';

const FIRST = ['ns1.example.net.', 'ns2.example.net.'];
const SECOND = ['ns1.example.org.', 'ns2.example.org.'];

const database = sharedDatabase();
let db: Database;
let me: number;
let they: number;

beforeEach(async () => {
  ({ db } = database);
  me = await newAccount(db, 'me@example.org');
  they = await newAccount(db, 'they@example.org');
});

const save = (settings: AnswerSettings) =>
  db.transaction().execute((trx) => saveAnswerSettings(trx, settings));
const claim = (accountId: number, rest = {}) =>
  newDomain(db, accountId, 'example.com.', { exempt: false, ...rest });
const domain = async (id: number) =>
  (await loadDomainById(db, id)) as NonNullable<Awaited<ReturnType<typeof loadDomainById>>>;
const setsOf = async (id: number) => (await domain(id)).nameserverSets.map((set) => set.map(printName));
const codes = async (id: number) => (await domain(id)).findings.map(({ code }) => code);
const check = (id: number, said: readonly string[] | string) =>
  checkOnce(db, id, typeof said === 'string' ? said : `referral ${said.join(' ')}`);
const rights = async () => {
  const { rows } = await sql<{ names: string[]; account: number; exclusive: boolean }>`
    select names, account_id as account, exclusive from ns_rights order by account_id, names`.execute(db);
  return rows;
};
const sightings = async () =>
  (await db.selectFrom('ns_sightings').select(['name', 'names']).orderBy('names').execute()).map(
    ({ names }) => names,
  );

describe('static sets', () => {
  beforeEach(() => save({ ...TEST_SETTINGS, nameserverSets: [FIRST, SECOND] }));

  test('any of them, while no other account has to do with the name; else one each', async () => {
    const a = await claim(they);
    expect(await setsOf(a.id)).toEqual([FIRST, SECOND]);
    expect(await rights()).toEqual([]);
    const b = await claim(me);
    expect(await setsOf(a.id)).toEqual([FIRST]);
    expect(await setsOf(b.id)).toEqual([SECOND]);
    expect(await rights()).toEqual([
      { names: SECOND, account: me, exclusive: false },
      { names: FIRST, account: they, exclusive: false },
    ]);
    // None is left for a third one: it is told, and its apex has the canonical set.
    const c = await claim(await newAccount(db, 'c@example.org'));
    await check(c.id, 'nodata');
    expect(await codes(c.id)).toContain('SETS_SPENT');
    expect(await setsOf(c.id)).toEqual([FIRST]);
    await check(c.id, FIRST);
    expect((await domain(c.id)).status).toBe('pending');
    expect((await domain(a.id)).status).toBe('active'); // its right, and absent at its first check
    await expectPublished(db, a.id, b.id, c.id);
  });

  test('what was sighted before the claim was made proves nothing for it, for the holder of before it does', async () => {
    const old = await claim(they);
    await check(old.id, 'nodata');
    await check(old.id, FIRST);
    expect(await domain(old.id)).toMatchObject({ status: 'active' });
    expect(await sightings()).toEqual([FIRST]);
    await deleteDomain(db, { ...BY, domainId: old.id });
    const next = await claim(me);
    expect(await setsOf(next.id)).toEqual([SECOND]);
    await check(next.id, 'nodata');
    await check(next.id, FIRST);
    expect(await domain(next.id)).toMatchObject({ status: 'pending' });
    expect(await codes(next.id)).toContain('PRESET_DELEGATION');
    await deleteDomain(db, { ...BY, domainId: next.id });
    const back = await claim(they);
    expect(await setsOf(back.id)).toContainEqual(FIRST);
    await check(back.id, FIRST);
    expect(await domain(back.id)).toMatchObject({ status: 'active' });
  });

  test('a right to a set that the parent never showed ends with the claim, one that it showed stays', async () => {
    const [a, b] = [await claim(they), await claim(me)];
    await check(b.id, 'nodata');
    await deleteDomain(db, { ...BY, domainId: a.id });
    expect(await rights()).toEqual([{ names: SECOND, account: me, exclusive: false }]);
    await check(b.id, SECOND);
    expect(await domain(b.id)).toMatchObject({ status: 'active' });
    await changeStatus(db, { ...BY, domainId: b.id, event: 'disable' });
    expect(await rights()).toEqual([{ names: SECOND, account: me, exclusive: false }]);
    // A passer-by spends nothing: the set is free again for the next one.
    const c = await claim(they);
    expect(await setsOf(c.id)).toEqual([FIRST]);
  });

  test('nothing is spent for what an operator makes', async () => {
    await sql`insert into ns_sightings (name, names, first_seen_at, last_seen_at)
      values ('example.com.', ${FIRST}::text[], now(), now())`.execute(db);
    const { id } = await claim(me, { exempt: true });
    await check(id, FIRST);
    expect(await domain(id)).toMatchObject({ status: 'active' });
  });

  test('beyond 64 sightings no shared set proves the name', async () => {
    await sql`insert into ns_sightings (name, names, first_seen_at, last_seen_at)
      select 'example.com.', array['x' || n || '.test.'], now(), now() from generate_series(1, 65) n`.execute(
      db,
    );
    const { id } = await claim(me);
    await check(id, 'nodata');
    await check(id, SECOND);
    expect(await domain(id)).toMatchObject({ status: 'pending' });
    expect(await sightings()).toHaveLength(65); // and no row is added
  });
});

describe('a single static set', () => {
  beforeEach(() => save(TEST_SETTINGS));

  test('proves a claim whenever it was set, while no other account has to do with the name', async () => {
    const { id } = await claim(me);
    await check(id, FIRST);
    expect(await domain(id)).toMatchObject({ status: 'active', served: 'full' });
  });

  test('is spent by a first check that sees it, if another account held the name or waits for it', async () => {
    const [a, b] = [await claim(they), await claim(me)];
    await check(a.id, FIRST);
    expect([(await domain(a.id)).status, (await domain(b.id)).status]).toEqual(['pending', 'pending']);
    expect(await codes(a.id)).toContain('SETS_SPENT');
    await expectPublished(db, a.id, b.id);
  });

  test('is spent after another account held the name', async () => {
    const old = await claim(they);
    await check(old.id, FIRST);
    await deleteDomain(db, { ...BY, domainId: old.id });
    const { id } = await claim(me);
    await check(id, FIRST);
    expect(await domain(id)).toMatchObject({ status: 'pending' });
  });
});

describe('a pool', () => {
  beforeEach(() => save(POOL));

  test('gives each account its own, which proves the claim whenever it was set', async () => {
    const [a, b] = [await claim(they), await claim(me)];
    const [first, second] = [(await setsOf(a.id))[0] ?? [], (await setsOf(b.id))[0] ?? []];
    expect(second).not.toEqual(first);
    expect((await rights()).map(({ account, exclusive }) => [account, exclusive])).toEqual([
      [me, true],
      [they, true],
    ]);
    expect(await check(a.id, second)).toMatchObject({ others: [{ domainId: b.id, to: 'active' }] });
    expect(await codes(a.id)).toContain('PRESET_DELEGATION');
    // It stays the account's after the claim: set again, it proves the next one.
    await deleteDomain(db, { ...BY, domainId: b.id });
    const again = await claim(me);
    expect((await setsOf(again.id))[0]).toEqual(second);
    await check(again.id, second);
    expect(await domain(again.id)).toMatchObject({ status: 'active' });
  });

  test('a shared set that was sighted, before or at the first check, is replaced by one that is new to the name', async () => {
    await save({ ...POOL, nameserverPool: [['ns[1-5].a.example.'], ['ns[1-8].b.example.']] });
    for (let i = 0; i < 36; i++) await db.transaction().execute((trx) => accountNameserverSet(trx, 1000 + i));
    const other = await newDomain(db, me, 'other.test.', { exempt: false });
    const [shared = []] = await setsOf(other.id);
    const { rows } = await sql`select from domains where ns_sets @> '[{"exclusive": false}]'`.execute(db);
    expect(rows).toHaveLength(1);
    const made = await makeCheck(db, { domainId: other.id }, (name) => evidenceOf(name, shared));
    expect(made).toMatchObject({ kind: 'saved', verdict: expect.not.stringMatching('unknown') });
    const [substitute = []] = await setsOf(other.id);
    expect(substitute).not.toEqual(shared);
    expect(await domain(other.id)).toMatchObject({ status: 'pending' });
    await expectPublished(db, other.id);
    expect((await rights()).filter(({ account }) => account === me)).toEqual([
      { names: [...substitute].sort(), account: me, exclusive: expect.any(Boolean) },
    ]);
  });
});
