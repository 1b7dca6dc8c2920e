// While several claims wait for a name, they take turns at its apex, and its zone passes between them with an
// increasing serial.

import { beforeAll, beforeEach, expect, test } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { askForTurn } from '../../../src/store/checks/manual-check.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { BY, expectPublished, newDomain, published, saved } from '../../support/database/domains.ts';
import { newPoolAccount, POOL } from '../../support/database/pool-accounts.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { followLoaded, untilEqual } from '../../support/processes/follow.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX } from '../../support/zone/customer-records.ts';

const { db, url, query } = sharedDatabase();
let ids: number[];

beforeAll(() => migrate(db, POOL));
beforeEach(async () => {
  ids = [];
  for (const [i, email] of ['a@example.org', 'b@example.org', 'c@example.org'].entries()) {
    const account = await newPoolAccount(db, email, i + 1);
    ids.push((await newDomain(db, account, 'example.com.', { exempt: false })).id);
  }
});

const domain = async (id: number) =>
  (await loadDomainById(db, id)) as NonNullable<Awaited<ReturnType<typeof loadDomainById>>>;
const ownSet = async (id: number) => (await domain(id)).nameserverSets[0]?.map(printName) ?? [];
const shown = async () =>
  (await published(db))?.flatMap((line) => (line.includes(' NS ') ? line.split(' ').slice(-1) : []));
const serial = async () =>
  Number(
    (await published(db))
      ?.find((l) => l.includes('SOA'))
      ?.split(' ')
      .at(-1),
  );
/** Returns the claims that were answered, checked every 15 minutes. */
const turns = async (looks: number) => {
  const found: number[] = [];
  for (let i = 0; i < looks; i++) {
    const ns = [...((await shown()) ?? [])].sort().join();
    for (const id of ids) if ([...(await ownSet(id))].sort().join() === ns) found.push(ids.indexOf(id));
    await query`update domains set turn_from = turn_from - interval '15 minutes',
        turn_until = turn_until - interval '15 minutes'`;
    await checkOnce(db, ids[i % 3] as number, 'nodata');
  }
  return found;
};

test('no turn is shown while the parent shows the set of the account that holds the name', async () => {
  const holder = (await newDomain(db, await newPoolAccount(db, 'h@example.org', 8))).id;
  await checkOnce(db, holder, `referral ${(await ownSet(holder)).join(' ')}`);
  const codes = async () =>
    (await Promise.all(ids.map(domain))).map(({ findings }) =>
      findings.some(({ code }) => code === 'NS_TURN'),
    );
  expect(await codes()).toEqual([false, false, false]);
  await checkOnce(db, holder, 'referral ns1.elsewhere.test');
  expect(await codes()).toEqual([true, true, true]);
});

test('each claim gets a turn, and then the last one keeps it', async () => {
  const node = await followLoaded({ databaseUrl: url });
  const serials = [await serial()];
  expect((await domain(ids[0] as number)).nsTurn).not.toBeNull();
  for (const expected of [0, 1, 2, 2, 2]) {
    expect(await turns(1)).toEqual([expected]);
    serials.push(await serial());
    await expectPublished(db, ...ids);
    await untilEqual(node, db);
    expect(node.zones.get(APEX)?.serial).toBe(serials.at(-1));
  }
  // Two handovers, and nothing else is published.
  expect(new Set(serials).size).toBe(3);
  expect(serials).toEqual([...serials].sort((a, b) => a - b));
  const holding = await db.selectFrom('domains').select('id').where('zone_id', 'is not', null).execute();
  expect(holding).toEqual([{ id: ids[2] }]);
  await node.stop();
});

test('a claim may request another turn once per hour, and is checked when the previous turn ends', async () => {
  await turns(3);
  await askForTurn(db, ids[0] as number);
  expect(await turns(2)).toEqual([2, 2]); // it requested a turn when it was created
  await query`update domains set turn_last_asked_at = turn_last_asked_at - interval '1 hour'`;
  await askForTurn(db, ids[0] as number);
  await checkOnce(db, ids[1] as number, 'nodata');
  expect(await turns(2)).toEqual([0, 0]);
});

test('a deleted or disabled claim passes the zone to the next one, and no claim is answered completely', async () => {
  const node = await followLoaded({ databaseUrl: url });
  const [a, b, c] = ids as [number, number, number];
  await saved(db, a, ['www A 192.0.2.1']);
  await saved(db, c, ['own A 192.0.2.3']);
  const before = await serial();
  await changeStatus(db, { ...BY, domainId: a, event: 'disable' });
  expect((await shown())?.sort()).toEqual([...(await ownSet(b))].sort());
  expect((await domain(b)).served).toBe('apex');
  await changeStatus(db, { ...BY, domainId: a, event: 'enable' });
  await deleteDomain(db, { ...BY, domainId: b });
  expect((await domain(c)).served).not.toBe('full');
  await deleteDomain(db, { ...BY, domainId: a });
  // Alone, but no check has shown that the parent names no other servers.
  expect(await domain(c)).toMatchObject({ served: 'apex' });
  await checkOnce(db, c, 'nodata');
  expect(await domain(c)).toMatchObject({ served: 'full' });
  expect(await serial()).toBeGreaterThan(before);
  expect((await published(db))?.at(-1)).toBe('own 300 A 192.0.2.3');
  await expectPublished(db, a, b, c);
  await untilEqual(node, db);
  await node.stop();
});

test('a holder whose set is missing lends its apex to the claim that has the turn, and its records stay answered', async () => {
  const node = await followLoaded({ databaseUrl: url });
  const [holder, buyer, other] = ids as [number, number, number];
  await deleteDomain(db, { ...BY, domainId: other });
  await saved(db, holder, ['www A 192.0.2.1']);
  const referral = async (id: number) => `referral ${(await ownSet(id)).join(' ')}`;
  await checkOnce(db, holder, await referral(holder));
  expect((await domain(holder)).status).toBe('active');
  expect((await shown())?.sort()).toEqual([...(await ownSet(holder))].sort());
  // While the parent shows the holder's set, no other claim may change its zone.
  await askForTurn(db, buyer);
  await checkOnce(db, holder, await referral(holder));
  expect((await shown())?.sort()).toEqual([...(await ownSet(holder))].sort());

  await checkOnce(db, holder, 'nodata');
  expect((await shown())?.sort()).toEqual([...(await ownSet(buyer))].sort());
  expect(await domain(holder)).toMatchObject({ status: 'active', served: 'full' });
  expect((await published(db))?.at(-1)).toBe('www 300 A 192.0.2.1');
  await expectPublished(db, holder, buyer);
  await untilEqual(node, db);

  await checkOnce(db, holder, await referral(holder));
  expect((await shown())?.sort()).toEqual([...(await ownSet(holder))].sort());
  await checkOnce(db, holder, 'nodata');
  await deleteDomain(db, { ...BY, domainId: buyer });
  expect((await shown())?.sort()).toEqual([...(await ownSet(holder))].sort());
  await expectPublished(db, holder);
  await untilEqual(node, db);
  await node.stop();
});

test('a check of the name without news changes none of its domains', async () => {
  await checkOnce(db, ids[0] as number, 'nodata');
  const counts = async () =>
    await Promise.all(ids.map(async (id) => (await listDomainChanges(db, id, { limit: 50 })).length));
  const before = [await counts(), await serial()];
  for (const id of ids) expect(await checkOnce(db, id, 'nodata')).not.toHaveProperty('changeId');
  expect([await counts(), await serial()]).toEqual(before);
});
