import { beforeEach, describe, expect, it, test } from 'vitest';
import { MOST_SWEPT_NAMES } from '../../src/checks/claims/sweep.ts';
import { printName } from '../../src/dns/name.ts';
import { changeStatus } from '../../src/store/change/change-status.ts';
import { deleteDomain } from '../../src/store/change/save-domain.ts';
import { claimSweptNames, sweepName } from '../../src/store/claims/swept-names.ts';
import { loadDomainById } from '../../src/store/domains/load-domains.ts';
import { deleteOld, RETENTION } from '../../src/store/housekeeping/retention.ts';
import { type AnswerSettings, saveAnswerSettings } from '../../src/store/postgres/answer-settings.ts';
import { TEST_SETTINGS } from '../support/database/database.ts';
import { BY, expectPublished, newAccount, newDomain } from '../support/database/domains.ts';
import { POOL } from '../support/database/pool-accounts.ts';
import { checkOnce, DAY_MS } from '../support/database/saved-checks.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { evidenceOf, makeCheck } from '../support/world/made-checks.ts';

const { db, query, column } = sharedDatabase();

describe('claim-sets', () => {
  const FIRST = ['ns1.example.net.', 'ns2.example.net.'];
  const SECOND = ['ns1.example.org.', 'ns2.example.org.'];
  let me: number;
  let they: number;

  beforeEach(async () => {
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
  const rights = () => query<{ names: string[]; account: number; exclusive: boolean }>`
    select names, account_id as account, exclusive from ns_rights order by account_id, names`;
  const sightings = async () =>
    (await db.selectFrom('ns_sightings').select(['name', 'names']).orderBy('names').execute()).map(
      ({ names }) => names,
    );

  describe('static sets', () => {
    beforeEach(() => save({ ...TEST_SETTINGS, nameserverSets: [FIRST, SECOND] }));

    test('are all accepted if no other account ever had the name, otherwise one each', async () => {
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
      // None is left for a third claim: it gets a finding, and its apex has the canonical set.
      const c = await claim(await newAccount(db, 'c@example.org'));
      await check(c.id, 'nodata');
      expect(await codes(c.id)).toContain('SETS_SPENT');
      expect(await setsOf(c.id)).toEqual([FIRST]);
      await check(c.id, FIRST);
      expect((await domain(c.id)).status).toBe('pending');
      expect((await domain(a.id)).status).toBe('active'); // its right, and absent at its first check
      await expectPublished(db, a.id, b.id, c.id);
    });

    test('that were sighted before a claim was made prove it only for the previous holder', async () => {
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

    test('give up their right with the claim if the parent never showed them, and keep it otherwise', async () => {
      const [a, b] = [await claim(they), await claim(me)];
      await check(b.id, 'nodata');
      await deleteDomain(db, { ...BY, domainId: a.id });
      expect(await rights()).toEqual([{ names: SECOND, account: me, exclusive: false }]);
      await check(b.id, SECOND);
      expect(await domain(b.id)).toMatchObject({ status: 'active' });
      await changeStatus(db, { ...BY, domainId: b.id, event: 'disable' });
      expect(await rights()).toEqual([{ names: SECOND, account: me, exclusive: false }]);
      // A short-lived claim does not use up the set: the next one can have it.
      expect(await setsOf((await claim(they)).id)).toEqual([FIRST]);
    });

    test('do not prove a name with more than 64 sightings', async () => {
      await query`insert into ns_sightings (name, names, first_seen_at, last_seen_at)
      select 'example.com.', array['x' || n || '.test.'], now(), now() from generate_series(1, 65) n`;
      const { id } = await claim(me);
      await check(id, 'nodata');
      await check(id, SECOND);
      expect(await domain(id)).toMatchObject({ status: 'pending' });
      expect(await sightings()).toHaveLength(65); // and no row is added
    });
  });

  describe('a single static set', () => {
    beforeEach(() => save(TEST_SETTINGS));

    test('is used up by a first check that sees it, if another account held the name or waits for it', async () => {
      const [a, b] = [await claim(they), await claim(me)];
      await check(a.id, FIRST);
      expect([(await domain(a.id)).status, (await domain(b.id)).status]).toEqual(['pending', 'pending']);
      expect(await codes(a.id)).toContain('SETS_SPENT');
      await expectPublished(db, a.id, b.id);
    });
  });

  describe('a pool', () => {
    beforeEach(() => save(POOL));

    test('gives each account its own set, which proves the claim whenever it was delegated', async () => {
      const [a, b] = [await claim(they), await claim(me)];
      const [first, second] = [(await setsOf(a.id))[0] ?? [], (await setsOf(b.id))[0] ?? []];
      expect(second).not.toEqual(first);
      expect((await rights()).map(({ account, exclusive }) => [account, exclusive])).toEqual([
        [me, true],
        [they, true],
      ]);
      expect(await check(a.id, second)).toMatchObject({ others: [{ domainId: b.id, to: 'active' }] });
      expect(await codes(a.id)).toContain('PRESET_DELEGATION');
      // The account keeps it after the claim ends. If it is set again, it proves the next claim.
      await deleteDomain(db, { ...BY, domainId: b.id });
      const again = await claim(me);
      expect((await setsOf(again.id))[0]).toEqual(second);
      await check(again.id, second);
      expect(await domain(again.id)).toMatchObject({ status: 'active' });
    });

    test('replaces a shared set that was sighted, before or at the first check, by one that is new to the name', async () => {
      await save({ ...POOL, nameserverPool: [['ns[1-5].a.example.'], ['ns[1-8].b.example.']] });
      // The four that are left have no name in common, so that each can replace another.
      await query`insert into given_ns_sets (names, kind, account_id)
      select array['ns' || a || '.a.example.', 'ns' || b || '.b.example.'], 'exclusive', 1000
      from generate_series(1, 5) a, generate_series(1, 8) b where a <> b or a = 5`;
      const other = await newDomain(db, me, 'other.test.', { exempt: false });
      const [shared = []] = await setsOf(other.id);
      expect(await query`select from domains where ns_sets @> '[{"exclusive": false}]'`).toHaveLength(1);
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
});

describe('swept-names', () => {
  // Names that are checked after their domains have ended, with a limited number of checks per account.
  const OURS = 'referral ns1.example.net ns2.example.net';
  let me: number;
  let they: number;
  beforeEach(async () => {
    me = await newAccount(db, 'me@example.org');
    they = await newAccount(db, 'they@example.org');
  });

  const swept = () => column<string>`select name || ' ' || account_id as row from swept_names order by name`;
  const made = async (name: string, accountId: number, said: string | undefined) => {
    const { id } = await newDomain(db, accountId, name);
    if (said !== undefined) await checkOnce(db, id, said);
    return id;
  };
  const remove = (domainId: number) => deleteDomain(db, { ...BY, domainId });
  /** Creates names that the parent delegates to the fleet, without domains. */
  const sighted = (names: readonly string[]) =>
    query`insert into ns_sightings (name, names, first_seen_at, last_seen_at)
    select n, array['ns1.example.net.'], now(), now() from unnest(${names}::text[]) n`;

  it('a delegated name is checked after its domain is deleted, or disabled by the operator', async () => {
    await remove(await made('active.example.', me, OURS));
    await remove(await made('half.example.', me, 'referral ns1.example.net ns1.elsewhere.test'));
    const off = await made('off.example.', they, OURS);
    await changeStatus(db, { ...BY, domainId: off, event: 'disable' });
    expect(await swept()).toEqual([`active.example. ${me}`, `half.example. ${me}`, `off.example. ${they}`]);
    const rows = await query<{ is_due: boolean }>`
    select due_at > now() + interval '23 hours' as is_due from swept_names`;
    expect(rows.every(({ is_due }) => is_due)).toBe(true);
  });

  it('a name that was never delegated here is not swept', async () => {
    await remove(await made('never.example.', me, undefined));
    await remove(await made('elsewhere.example.', me, 'referral ns1.elsewhere.test'));
    expect(await swept()).toEqual([]);
  });

  it('an account has at most a thousand swept names, and the oldest are dropped', async () => {
    const names = Array.from(
      { length: MOST_SWEPT_NAMES + 2 },
      (_, i) => `n${String(i).padStart(4, '0')}.example.`,
    );
    await sighted([...names, 'theirs.example.']);
    await sweepName(db, { name: 'theirs.example.', accountId: they }, new Date(0));
    await query`
    insert into swept_names (name, account_id, ended_at, due_at)
    select name, ${me}, to_timestamp((row_number() over (order by name) - 1) / 1000.0), now()
    from unnest(${names.slice(0, -3)}::text[]) name`;
    for (let i = names.length - 3; i < names.length; i++)
      await sweepName(db, { name: names[i] as string, accountId: me }, new Date(i));
    const left = await swept();
    expect(left).toHaveLength(MOST_SWEPT_NAMES + 1);
    expect(left).not.toContain(`n0001.example. ${me}`);
    expect(left).toContain(`n0002.example. ${me}`);
    expect(left).toContain(`theirs.example. ${they}`);
  });

  it('claiming and deleting another account’s name neither takes its row nor changes its due time', async () => {
    await sighted(['shop.example.']);
    await sweepName(db, { name: 'shop.example.', accountId: they }, new Date(1000));
    const due = () => query`select due_at from swept_names`;
    const before = await due();
    await sweepName(db, { name: 'shop.example.', accountId: me }, new Date(2000));
    expect(await swept()).toEqual([`shop.example. ${they}`]);
    expect(await due()).toEqual(before);
  });

  it('accounts take turns, and a name is claimed by one process', async () => {
    await sighted(['a.example.', 'b.example.', 'c.example.', 'd.example.']);
    for (const name of ['a', 'b', 'c'])
      await sweepName(db, { name: `${name}.example.`, accountId: me }, new Date(Date.now() - 3 * DAY_MS));
    await sweepName(db, { name: 'd.example.', accountId: they }, new Date(Date.now() - 2 * DAY_MS));
    const take = async () =>
      (await claimSweptNames(db, { limit: 10, after: 0 })).names.map(({ name }) => name.slice(0, 1)).sort();
    const taken = [await take(), await take(), await take(), await take()];
    expect(taken.map((names) => names.length)).toEqual([2, 1, 1, 0]);
    expect(taken.flat().sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(taken[0]).toContain('d');
  });

  it('a name that checks of a domain already cover is marked', async () => {
    await remove(await made('shop.example.', me, OURS));
    await newDomain(db, they, 'shop.example.');
    await query`update swept_names set due_at = now()`;
    const { names } = await claimSweptNames(db, { limit: 1, after: 0 });
    expect(names).toMatchObject([{ name: 'shop.example.', isChecked: true }]);
  });

  it('a name without a sighting is deleted after 90 days', async () => {
    await sighted(['kept.example.', 'gone.example.']);
    for (const name of ['kept.example.', 'gone.example.'])
      await sweepName(db, { name, accountId: me }, new Date(Date.now() - 91 * DAY_MS));
    await query`delete from ns_sightings where name = 'gone.example.'`;
    await deleteOld(db, RETENTION);
    expect(await swept()).toEqual([`kept.example. ${me}`]);
  });
});
