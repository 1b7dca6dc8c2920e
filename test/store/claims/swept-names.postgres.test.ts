// Which names are looked at after their domains have ended, and that nobody buys more looks than a bounded number.

import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { MOST_SWEPT_NAMES } from '../../../src/checks/claims/sweep.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { claimSweptNames, purgeSweptNames, sweepName } from '../../../src/store/claims/swept-names.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { checkOnce, DAY_MS } from '../../support/database/saved-checks.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const OURS = 'referral ns1.example.net ns2.example.net';
const database = sharedDatabase();
let db: Database;
let me: number;
let they: number;
beforeEach(async () => {
  ({ db } = database);
  me = await newAccount(db, 'me@example.org');
  they = await newAccount(db, 'they@example.org');
});

const swept = async () =>
  (
    await sql<{
      row: string;
    }>`select name || ' ' || account_id as row from swept_names order by name`.execute(db)
  ).rows.map(({ row }) => row);
const made = async (name: string, accountId: number, said: string | undefined) => {
  const { id } = await newDomain(db, accountId, name);
  if (said !== undefined) await checkOnce(db, id, said);
  return id;
};
const remove = (domainId: number) => deleteDomain(db, { ...BY, domainId });
/** Names that the parent shows with a name of ours, without domains. */
const sighted = (names: readonly string[]) =>
  sql`insert into ns_sightings (name, names, first_seen_at, last_seen_at)
    select n, array['ns1.example.net.'], now(), now() from unnest(${names}::text[]) n`.execute(db);

it('a name that was delegated here is looked at after its domain is deleted, or disabled by the operator', async () => {
  await remove(await made('active.example.', me, OURS));
  await remove(await made('half.example.', me, 'referral ns1.example.net ns1.elsewhere.test'));
  const off = await made('off.example.', they, OURS);
  await changeStatus(db, { ...BY, domainId: off, event: 'disable' });
  expect(await swept()).toEqual([`active.example. ${me}`, `half.example. ${me}`, `off.example. ${they}`]);
  const { rows } = await sql<{ is_due: boolean }>`
    select due_at > now() + interval '23 hours' as is_due from swept_names`.execute(db);
  expect(rows.every(({ is_due }) => is_due)).toBe(true);
});

it('a name that was never delegated here buys nothing', async () => {
  await remove(await made('never.example.', me, undefined));
  await remove(await made('elsewhere.example.', me, 'referral ns1.elsewhere.test'));
  expect(await swept()).toEqual([]);
});

it('an account has a thousand names at most: those that ended first are given up', async () => {
  const names = Array.from(
    { length: MOST_SWEPT_NAMES + 2 },
    (_, i) => `n${String(i).padStart(4, '0')}.example.`,
  );
  await sighted([...names, 'theirs.example.']);
  await sweepName(db, { name: 'theirs.example.', accountId: they }, new Date(0));
  await sql`
    insert into swept_names (name, account_id, ended_at, due_at)
    select name, ${me}, to_timestamp((row_number() over (order by name) - 1) / 1000.0), now()
    from unnest(${names.slice(0, -3)}::text[]) name`.execute(db);
  for (let i = names.length - 3; i < names.length; i++)
    await sweepName(db, { name: names[i] as string, accountId: me }, new Date(i));
  const left = await swept();
  expect(left).toHaveLength(MOST_SWEPT_NAMES + 1);
  expect(left).not.toContain(`n0001.example. ${me}`);
  expect(left).toContain(`n0002.example. ${me}`);
  expect(left).toContain(`theirs.example. ${they}`);
});

it('who claims and deletes a name of another account can neither take its row nor hasten or delay the looks', async () => {
  await sighted(['shop.example.']);
  await sweepName(db, { name: 'shop.example.', accountId: they }, new Date(1000));
  const due = async () => (await sql`select due_at from swept_names`.execute(db)).rows;
  const before = await due();
  await sweepName(db, { name: 'shop.example.', accountId: me }, new Date(2000));
  expect(await swept()).toEqual([`shop.example. ${they}`]);
  expect(await due()).toEqual(before);
});

it('accounts take turns, and a name is taken by one process', async () => {
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

it('a name that a domain’s own checks look at is told apart', async () => {
  await remove(await made('shop.example.', me, OURS));
  await newDomain(db, they, 'shop.example.');
  await sql`update swept_names set due_at = now()`.execute(db);
  const { names } = await claimSweptNames(db, { limit: 1, after: 0 });
  expect(names).toMatchObject([{ name: 'shop.example.', isChecked: true }]);
});

it('a name without a sighting is forgotten after 90 days', async () => {
  await sighted(['kept.example.', 'gone.example.']);
  for (const name of ['kept.example.', 'gone.example.'])
    await sweepName(db, { name, accountId: me }, new Date(Date.now() - 91 * DAY_MS));
  await sql`delete from ns_sightings where name = 'gone.example.'`.execute(db);
  await purgeSweptNames(db);
  expect(await swept()).toEqual([`kept.example. ${me}`]);
});
