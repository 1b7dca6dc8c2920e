import { expect, test } from 'vitest';
import { judgeBreaker } from '../../../src/checks/delegation/breaker.ts';
import {
  addCheckCounts,
  type BreakerTrip,
  endTrips,
  freezeMoves,
  hasDomainsUnder,
  isHolding,
  listTrips,
  loadBreaker,
  loadRegistryHours,
  releaseTrip,
  tripBreaker,
} from '../../../src/store/checks/breaker-store.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const { db, query } = sharedDatabase();

test('counts of several workers are added, by parent, over 15 minutes', async () => {
  const one = [
    { parent: 'com.', checked: 10, turned: 1, off: 1 },
    { parent: 'org.', checked: 5, turned: 0, off: 0 },
    { parent: 'com.', checked: 1, turned: 1, off: 1 },
  ];
  await addCheckCounts(db, []);
  await Promise.all(Array.from({ length: 10 }, () => addCheckCounts(db, one)));
  await query`insert into check_counts values (now() - interval '16 minutes', 'com.', 1000, 1000, 1000),
      (now() - interval '14 minutes', 'net.', 7, 0, 0), (now() - interval '2 hours', 'com.', 1, 1, 1)`;
  const { counts, trips } = await loadBreaker(db);
  expect(counts).toEqual([
    { parent: 'com.', checked: 110, turned: 20, off: 20 },
    { parent: 'net.', checked: 7, turned: 0, off: 0 },
    { parent: 'org.', checked: 50, turned: 0, off: 0 },
  ]);
  expect(trips).toEqual([]);
  expect(judgeBreaker(counts).map(({ parent }) => parent)).toEqual(['', 'com.']);
  await endTrips(db, []);
  expect(await query`select from check_counts where minute < now() - interval '1 hour'`).toEqual([]);
});

test('hourly counts are kept for a day, and zones from which most domains left come first', async () => {
  await addCheckCounts(db, [
    { parent: 'com.', checked: 10, turned: 0, off: 0 },
    { parent: 'org.', checked: 2, turned: 1, off: 1 },
  ]);
  await addCheckCounts(db, [{ parent: 'com.', checked: 1, turned: 0, off: 1 }]);
  await query`insert into check_hours values
      (date_trunc('hour', now()) - interval '3 hours', 'org.', 8, 4, 0),
      (date_trunc('hour', now()) - interval '3 hours', 'net.', 1, 0, 0),
      (date_trunc('hour', now()) - interval '24 hours', 'com.', 100, 100, 100),
      (date_trunc('hour', now()) - interval '26 hours', 'com.', 100, 100, 100)`;
  const counted = (await loadRegistryHours(db, { parents: 2 })).map(({ parent, hours }) => [
    parent,
    hours.map(({ checked, turned, off }) => [checked, turned, off]),
  ]);
  expect(counted).toEqual([
    [
      'org.',
      [
        [8, 4, 0],
        [2, 1, 1],
      ],
    ],
    ['com.', [[11, 0, 1]]],
  ]);
  await endTrips(db, []);
  expect(await query`select from check_hours where hour < now() - interval '25 hours'`).toEqual([]);
});

test('a trip opens once, keeps its worst figures, and ends with its condition', async () => {
  const overall = { parent: '', checked: 100, turned: 30, off: 30 };
  const com = { parent: 'com.', checked: 90, turned: 30, off: 30 };
  expect(await tripBreaker(db, [])).toEqual([]);
  const opened = (await Promise.all(Array.from({ length: 4 }, () => tripBreaker(db, [overall, com])))).flat();
  expect(opened.map(({ parent }) => parent).sort()).toEqual(['', 'com.']);
  expect(await tripBreaker(db, [{ ...com, checked: 120, turned: 50 }])).toEqual([]);
  expect(await tripBreaker(db, [{ ...com, checked: 130, turned: 21 }])).toEqual([]);
  expect((await loadBreaker(db)).trips).toMatchObject([
    { parent: '', turned: 30, endedAt: null },
    { parent: 'com.', checked: 120, turned: 50, releasedAt: null },
  ]);
  expect(await endTrips(db, ['com.'])).toMatchObject([{ parent: '', endedAt: expect.any(Date) }]);
  expect((await loadBreaker(db)).trips.map(({ parent }) => parent)).toEqual(['com.']);
  expect((await endTrips(db, [])).map(({ parent }) => parent)).toEqual(['com.']);
  expect(await tripBreaker(db, [com])).toHaveLength(1); // another one
  expect(await listTrips(db, { limit: 9 })).toHaveLength(3);
  expect((await listTrips(db, { limit: 1 }))[0]).toMatchObject({ parent: 'com.', endedAt: null });
});

test('an operator allows status changes until the trip ends, and the row names the operator', async () => {
  const [{ id }] = (await tripBreaker(db, [{ parent: 'com.', checked: 90, turned: 30, off: 30 }])) as [
    BreakerTrip,
  ];
  expect(await releaseTrip(db, id + 1, 'ops')).toBeUndefined();
  const released = await releaseTrip(db, id, 'ops');
  expect(released).toMatchObject({ parent: 'com.', releasedBy: 'ops', releasedAt: expect.any(Date) });
  expect(await releaseTrip(db, id, 'somebody else')).toEqual(released);
  await tripBreaker(db, [{ parent: 'com.', checked: 95, turned: 40, off: 40 }]);
  expect((await loadBreaker(db)).trips).toMatchObject([{ parent: 'com.', turned: 40, releasedBy: 'ops' }]);
  await endTrips(db, []);
  await tripBreaker(db, [{ parent: 'com.', checked: 90, turned: 30, off: 30 }]);
  expect((await loadBreaker(db)).trips).toMatchObject([{ releasedBy: null }]);
  expect((await listTrips(db, { limit: 9 })).map(({ releasedBy }) => releasedBy)).toEqual([null, 'ops']);
  expect(await releaseTrip(db, id, 'late')).toBeUndefined();
});

test('an operator’s freeze exists next to trips, is not ended by counts, and ends when it is released', async () => {
  const com = { parent: 'com.', checked: 90, turned: 30, off: 30 };
  await addCheckCounts(db, [com, { parent: 'org.', checked: 10, turned: 1, off: 1 }]);
  const byHand = { reason: 'The registry said so.', by: 'ops', until: undefined };
  const all = await freezeMoves(db, { parent: '', ...byHand });
  const frozen = await freezeMoves(db, { parent: 'com.', ...byHand });
  expect(all).toMatchObject({ parent: '', checked: 100, turned: 31, endedAt: null, frozenUntil: null });
  expect(frozen).toMatchObject({
    parent: 'com.',
    checked: 90,
    turned: 30,
    frozenBy: 'ops',
    reason: 'The registry said so.',
    endedAt: null,
  });
  expect(await tripBreaker(db, [com])).toMatchObject([{ parent: 'com.', frozenBy: null, reason: null }]);
  expect(await endTrips(db, [])).toHaveLength(1);
  expect((await loadBreaker(db)).trips).toEqual([all, frozen]);
  expect((await listTrips(db, { limit: 1 })).map(({ id }) => id)).toEqual([frozen.id + 1, frozen.id, all.id]);
  const released = await releaseTrip(db, frozen.id, 'ann');
  expect(released).toMatchObject({ releasedBy: 'ann', endedAt: expect.any(Date), reason: frozen.reason });
  expect(await releaseTrip(db, frozen.id, 'bob')).toBeUndefined();
  expect((await loadBreaker(db)).trips).toEqual([all]);
});

test('a freeze ends at its time, and a second one for the same zone changes the first', async () => {
  const until = new Date(Date.now() + 3_600_000);
  const first = await freezeMoves(db, { parent: 'com.', reason: 'one', by: 'ann', until });
  expect(first).toMatchObject({ frozenUntil: until, endedAt: null });
  const second = await freezeMoves(db, { parent: 'com.', reason: 'two', by: 'bob', until: undefined });
  expect(second).toEqual({ ...first, reason: 'two', frozenBy: 'bob', frozenUntil: null });
  await freezeMoves(db, { parent: 'com.', reason: 'three', by: 'bob', until });
  await query`update breaker_trips set ended_at = clock_timestamp()`;
  expect((await loadBreaker(db)).trips).toEqual([]);
  expect((await listTrips(db, { limit: 9 })).map(isHolding)).toEqual([false]);
  expect(await releaseTrip(db, first.id, 'ann')).toBeUndefined();
  expect((await freezeMoves(db, { parent: 'com.', reason: 'four', by: 'ann', until })).id).not.toBe(first.id);
});

test('workers of the previous version neither end nor trip over a freeze, and a zone is known by the checks below it', async () => {
  await freezeMoves(db, { parent: 'com.', reason: 'one', by: 'ann', until: undefined });
  expect(await query`select from breaker_trips where ended_at is null`).toEqual([]);
  expect(await hasDomainsUnder(db, 'com.')).toBe(false);
  await addCheckCounts(db, [{ parent: 'com.', checked: 1, turned: 0, off: 0 }]);
  expect(await hasDomainsUnder(db, 'com.')).toBe(true);
  expect(await hasDomainsUnder(db, 'om.')).toBe(false);
});
