// A name passes to another account whose set its parent shows: after two checks, in one transaction, and back in the
// same way.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { listChecks } from '../../../src/store/checks/check-runs.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { BY, expectPublished, newDomain, published, saved } from '../../support/database/domains.ts';
import { newPoolAccount, POOL } from '../../support/database/pool-accounts.ts';
import { checkOnce, DAY_MS, HOUR_MS, judgedCheck, saveOne } from '../../support/database/saved-checks.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const FOREIGN = 'referral ns1.elsewhere.test ns2.elsewhere.test';

const { db, query } = sharedDatabase();
let me: number;
let they: number;
let holder: number;
let claim: number;
let start: number;

beforeAll(() => migrate(db, POOL));
beforeEach(async () => {
  me = await newPoolAccount(db, 'me@example.org', 1);
  they = await newPoolAccount(db, 'they@example.org', 2);
  holder = (await newDomain(db, they, 'example.com.', { exempt: false })).id;
  start = Date.now();
  expect(await check(holder, await setOf(holder), 0)).toMatchObject({ transition: { to: 'active' } });
  await saved(db, holder, ['www A 192.0.2.1']);
  claim = (await newDomain(db, me, 'example.com.', { exempt: false, transfer: true })).id;
  await saved(db, claim, ['new A 192.0.2.2']);
});

const domain = async (id: number) =>
  (await loadDomainById(db, id)) as NonNullable<Awaited<ReturnType<typeof loadDomainById>>>;
const codes = async (id: number) => (await domain(id)).findings.map(({ code }) => code);
/** The parent's reply with the domain's own set. */
const setOf = async (id: number) =>
  `referral ${(await domain(id)).nameserverSets[0]?.map(printName).join(' ')}`;
const check = (id: number, said: string, seconds: number, frozen = false) =>
  checkOnce(db, id, said, { at: start + seconds * 1000, frozen });
const statuses = async () => [(await domain(holder)).status, (await domain(claim)).status];
const takeovers = () => db.selectFrom('name_takeovers').selectAll().execute();

test('two checks 60 seconds apart hand over the name with a higher serial, and only silence may come between them', async () => {
  const said = await setOf(claim);
  expect(await codes(claim)).toEqual(['APEX_ONLY']);
  await check(claim, said, 1);
  await check(claim, FOREIGN, 2); // forgets the parent's earlier replies
  // The holder's set is missing, so its apex shows the claim's. Nothing else changes before the takeover.
  const before = await domain(holder);
  expect(await codes(claim)).toContain('NAME_IN_USE');
  expect(await codes(holder)).toEqual(['NS_FOREIGN']);

  expect(await check(claim, said, 70)).not.toHaveProperty('transition');
  expect(await codes(holder)).toContain('TAKEOVER_SEEN');
  expect(await codes(claim)).toEqual(expect.arrayContaining(['NAME_IN_USE', 'TAKEOVER_WAITS']));
  expect(await query`select due_at as at from domain_checks where domain_id = ${claim}`).toEqual([
    { at: new Date(start + 130_000) },
  ]);
  await check(claim, 'timeout', 100);
  expect(await check(holder, said, 129)).not.toHaveProperty('transition');
  expect(await statuses()).toEqual(['active', 'pending']);
  expect(await domain(holder)).toMatchObject({ served: 'full', serial: before.serial });
  expect(await check(holder, said, 130)).toMatchObject({
    transition: { from: 'active', to: 'disabled' },
    others: [{ domainId: claim, from: 'pending', to: 'active' }],
  });
  const lost = await domain(holder);
  expect(lost).toMatchObject({ status: 'disabled', served: 'none', recordCount: 1 });
  expect(await codes(holder)).toContain('CLAIM_LOST');
  const won = await domain(claim);
  expect(won).toMatchObject({ status: 'active', served: 'full', findings: [] });
  expect(won.serial).toBeGreaterThan(lost.serial);
  expect((await published(db))?.slice(2)).toEqual([`@ 3600 SOA serial ${won.serial}`, 'new 300 A 192.0.2.2']);
  expect(await takeovers()).toMatchObject([
    { name: 'example.com.', at: new Date(start + 130_000), from_account_id: they, to_account_id: me },
  ]);
  const [change] = await listDomainChanges(db, claim, { limit: 1 });
  expect(change).toMatchObject({ status: { from: 'pending', to: 'active' }, serial: won.serial });
  await expectPublished(db, holder, claim);

  // After the old delegation is restored, the first check makes the former holder pending, and two more return the name
  // to it.
  const back = await setOf(holder);
  await check(claim, back, 200);
  expect(await statuses()).toEqual(['pending', 'active']);
  expect(await codes(holder)).not.toContain('CLAIM_LOST');
  await check(claim, back, 210);
  expect(await codes(claim)).toContain('TAKEOVER_SEEN');
  await check(claim, back, 270);
  expect(await statuses()).toEqual(['active', 'disabled']);
  const again = await domain(holder);
  expect(again.serial).toBeGreaterThan(won.serial);
  expect((await published(db))?.slice(2)).toEqual([
    `@ 3600 SOA serial ${again.serial}`,
    'www 300 A 192.0.2.1',
  ]);
  expect(await takeovers()).toHaveLength(2);
  await expectPublished(db, holder, claim);
});

test('the holder’s log and next check do not reveal that another account claims its name', async () => {
  const shown = async () => {
    const { nextCheckAt, nsCheckIntervalSeconds } = await domain(holder);
    const [run, ...older] = await listChecks(db, holder, { limit: 9 });
    return [
      nextCheckAt,
      nsCheckIntervalSeconds,
      run?.repeated,
      run?.lastSeenAt,
      run?.nextCheckAt,
      older.length,
    ];
  };
  const said = await setOf(holder);
  const before = await shown();
  const planned = (before[0] as Date).getTime();
  for (const seconds of [60, 120, 180]) await check(claim, said, seconds);
  expect(await shown()).toEqual(before);
  // At the scheduled time it counts, regardless of which claim was checked.
  const at = (planned - start) / 1000;
  await check(claim, said, at);
  expect((await shown()).slice(0, 4)).toEqual([
    new Date(planned + 12 * HOUR_MS),
    43_200,
    (before[2] as number) + 1,
    new Date(planned),
  ]);
  // A new outcome is visible immediately.
  await check(claim, FOREIGN, at + 60);
  expect(await codes(holder)).toEqual(['NS_FOREIGN']);
});

test('lists other accounts’ domains inside a claim that would end with it, except for those that its records delegate', async () => {
  const told = async () =>
    (await domain(claim)).findings.find(({ code }) => code === 'INNER_DELEGATED')?.message;
  const inside = (await newDomain(db, they, 'shop.example.com.')).id;
  await newDomain(db, they, 'waiting.example.com.');
  await newDomain(db, me, 'mine.example.com.');
  await check(inside, await setOf(inside), 0);
  await check(claim, FOREIGN, 10);
  const set = (await domain(inside)).nameserverSets[0]?.map(printName).map((name) => name.slice(0, -1));
  expect(await told()).toContain(`shop.example.com NS ${set?.join(' and ')}.`);
  expect(await told()).not.toContain('waiting');
  expect(await codes(holder)).not.toContain('INNER_DELEGATED');
  await saved(db, claim, [`shop NS ${set?.[0]}.`]);
  await check(claim, FOREIGN, 20);
  expect(await told()).toBeUndefined();
});

test('a name that changed accounts four times within a day waits six hours', async () => {
  for (let i = 1; i <= 4; i++)
    await query`insert into name_takeovers (name, at, from_account_id, to_account_id)
        values ('example.com.', now() - make_interval(hours => ${i}), ${me}, ${they})`;
  const said = await setOf(claim);
  await check(claim, said, 0);
  await check(claim, said, 60);
  await check(claim, said, (6 * HOUR_MS) / 1000 - 1);
  expect(await statuses()).toEqual(['active', 'pending']);
  await check(claim, said, (6 * HOUR_MS) / 1000);
  expect(await statuses()).toEqual(['disabled', 'active']);
});

test.each([
  ['external', { status: 'active', served: 'none' }, ['CLAIM_LOST']],
  ['leaving', { status: 'unverified', served: 'full' }, ['NS_FOREIGN', 'CLAIM_LOST']],
])('a domain that is %s loses its name in the same way', async (kind, before, found) => {
  if (kind === 'leaving') await updateDomain(db, { ...BY, domainId: holder, set: { dnsMode: 'external' } });
  else {
    await query`update domains set dns_mode = 'external' where id = ${holder}`;
    await query`update domain_checks set due_at = null, next_at = null where domain_id = ${holder}`;
  }
  const said = await setOf(claim);
  await check(claim, said, 0);
  expect(await domain(holder)).toMatchObject(before);
  await check(claim, said, 60);
  expect(await domain(claim)).toMatchObject({ status: 'active', served: 'full' });
  expect(await domain(holder)).toMatchObject({ status: 'disabled', served: 'none' });
  expect(await codes(holder)).toEqual(found);
  expect(await takeovers()).toMatchObject([{ from_account_id: they, to_account_id: me }]);
  await expectPublished(db, holder, claim);
});

test('a concurrent change of the holder invalidates the whole check', async () => {
  const said = await setOf(claim);
  await check(claim, said, 0);
  const order = await judgedCheck(db, claim, said, { at: start + 60_000 });
  await changeStatus(db, { ...BY, domainId: holder, event: 'disable' });
  expect(await saveOne(db, order)).toEqual({ kind: 'conflict' });
  expect(await takeovers()).toEqual([]);
  // Then no account holds the name, and a check that shows the claim's set proves it.
  await check(claim, said, 120);
  expect(await statuses()).toEqual(['disabled', 'active']);
  expect(await takeovers()).toEqual([]);
});

describe('a domain that the checker disabled', () => {
  const endIt = async () => {
    for (const hours of [1, 2, 26]) await check(holder, FOREIGN, hours * 3600);
    expect((await domain(holder)).status).toBe('moved');
    await check(holder, FOREIGN, (30 * DAY_MS) / 1000);
    expect(await domain(holder)).toMatchObject({ status: 'disabled', served: 'none' });
  };

  test('recovers automatically if its exclusive set is seen within 90 days', async () => {
    const said = await setOf(holder);
    await endIt();
    expect(
      await query`
        select due_at is not null as "isDue" from domain_checks where domain_id = ${holder}`,
    ).toEqual([{ isDue: true }]);
    const found = await codes(holder);
    await check(holder, 'nodata', (31 * DAY_MS) / 1000);
    expect([(await domain(holder)).status, await codes(holder)]).toEqual(['disabled', found]);
    expect(await check(holder, said, (32 * DAY_MS) / 1000)).toMatchObject({
      transition: { to: 'pending' },
    });
    expect((await domain(holder)).status).toBe('pending');
    expect(await codes(holder)).toEqual(['CAME_BACK', 'APEX_ONLY']);
    await check(holder, said, (32 * DAY_MS) / 1000 + 60);
    expect(await domain(holder)).toMatchObject({ status: 'active', served: 'full' });
    await expectPublished(db, holder, claim);
  });

  test('does not recover after 90 days', async () => {
    const said = await setOf(holder);
    await endIt();
    await query`update domains set ended_at = now() - interval '62 days' where id = ${holder}`;
    await check(holder, said, (31 * DAY_MS) / 1000);
    expect((await domain(holder)).status).toBe('disabled');
  });
});
