import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import {
  createAccount,
  emailKeyOf,
  findAccount,
  listAccounts,
  readEmail,
} from '../../src/store/accounts/accounts.ts';
import {
  findKeyIds,
  generateKey,
  isKeyText,
  listApiKeys,
  revokeApiKey,
} from '../../src/store/accounts/api-keys.ts';
import { createFirstAdminKey, ensureAdminKey } from '../../src/store/accounts/first-admin.ts';
import { CallWindows, WINDOW_MS } from '../../src/store/accounts/rate-windows.ts';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { postgresLeases } from '../../src/store/resolver/query-leases.ts';
import { postgresTrials } from '../../src/store/resolver/silences.ts';
import { findApiKey } from '../support/database/api-keys.ts';
import { asRole } from '../support/database/database.ts';
import { scale } from '../support/tests/scale.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { until } from '../support/tests/until.ts';

const { db, url, query, value } = sharedDatabase();

describe('address-trials', () => {
  const open = () => postgresTrials(db, () => {});
  const silences = async (address: string) =>
    (
      await query<{ silences: number; open: boolean }>`
      select silences, open_until is not null as open from resolver_addresses where address = ${address}`
    )[0];

  test('only one of several processes queries an unproven address at a time, up to three times per minute', async () => {
    const workers = Array.from({ length: 4 }, open);
    const asking: number[] = [];
    for (let round = 1; round <= 4; round++) {
      const trials = await Promise.all(
        workers.flatMap((each) => [each.ask('192.0.2.1'), each.ask('192.0.2.1')]),
      );
      // The callers of a process share a result, and one of them may query.
      asking.push(new Set(trials.flatMap(({ kind }, i) => (kind === 'go' ? [i >> 1] : []))).size);
      expect(trials.every(({ kind }) => kind === 'go' || kind === 'wait')).toBe(true);
      if (round === 4) break;
      workers[0]?.report('192.0.2.1', false);
      await until(async () => (await silences('192.0.2.1'))?.open === false);
    }
    expect(asking).toEqual([1, 1, 1, 0]);
    expect(await silences('192.0.2.1')).toEqual({ silences: 3, open: false });
  });

  test('an address that has replied to one process is proven for all processes', async () => {
    const [a, b] = [open(), open()];
    expect((await a.ask('192.0.2.1')).kind).toBe('go');
    expect((await b.ask('192.0.2.1')).kind).toBe('wait');
    a.report('192.0.2.1', true);
    await until(async () => (await b.ask('192.0.2.1')).kind === 'proven');
    expect((await b.ask('192.0.2.2')).kind).toBe('go');
    await query`update resolver_addresses set replied_at = replied_at - interval '1 day', window_at = window_at - interval '1 day'`;
    expect((await a.ask('192.0.2.1')).kind).toBe('go');
  });

  test('old rows are deleted, and callers get an error while the database is unavailable', async () => {
    const trials = open();
    await trials.ask('192.0.2.1');
    await query`update resolver_addresses set window_at = now() - interval '2 days'`;
    await Promise.all(Array.from({ length: 500 }, (_, i) => trials.ask(`2001:db8::${i.toString(16)}`)));
    await until(async () => (await silences('192.0.2.1')) === undefined);
    const again = open();
    await query`alter table resolver_addresses rename to away`;
    await expect(again.ask('192.0.2.1')).rejects.toThrow();
    await query`alter table away rename to resolver_addresses`;
    expect((await again.ask('192.0.2.1')).kind).toBe('go');
  });
});

test('each generated key has the prefix and 40 new base62 characters', () => {
  const keys = Array.from({ length: 500 }, generateKey);
  expect(keys.every(isKeyText)).toBe(true);
  expect(new Set(keys).size).toBe(500);
  expect(new Set(keys.join('').replaceAll('svc_', '')).size).toBe(62);
  const wrong = [39, 41].map((length) => `svc_${'a'.repeat(length)}`);
  expect(['', 'svc_', `svc_${'-'.repeat(40)}`, ...wrong].filter(isKeyText)).toEqual([]);
});

describe('call-windows', () => {
  // Calls at simulated times in two processes: no 60 seconds exceed the rate, and no call is rejected unnecessarily.
  /** Returns the maximum number of these times within any 60 seconds. */
  function mostInAWindow(times: readonly number[]): number {
    return Math.max(
      0,
      ...times.map((from) => times.filter((at) => at >= from && at < from + WINDOW_MS).length),
    );
  }

  let subjects = 0;

  it('no 60 seconds have more calls than the rate, and a rejected call gets the exact waiting time', async () => {
    const second = openDatabase(asRole(url, 'zonefleet_api'));
    const gaps = fc.oneof(
      fc.constantFrom(0, 1, WINDOW_MS - 1, WINDOW_MS, WINDOW_MS + 1),
      fc.nat({ max: 20_000 }),
      fc.nat({ max: 2 * WINDOW_MS }),
    );
    const list = fc.array(gaps, { minLength: 5, maxLength: 40 });
    try {
      await fc.assert(
        fc.asyncProperty(list, fc.integer({ min: 1, max: 5 }), async (waits, rate) => {
          const subject = `key:${++subjects}`;
          const processes = [new CallWindows(db, rate), new CallWindows(second, rate)];
          const admitted: number[] = [];
          let now = 1_800_000_000_000;
          for (const [i, wait] of waits.entries()) {
            now += wait;
            const live = admitted.filter((at) => at > now - WINDOW_MS);
            const taken = await processes[i % 2]?.take(subject, now);
            const isRoom = live.length < rate;
            if (isRoom) admitted.push(now);
            const [oldest = now] = live;
            expect(taken).toEqual({
              admitted: isRoom,
              used: live.length + (isRoom ? 1 : 0),
              waitMs: oldest + WINDOW_MS - now,
            });
          }
          expect(mostInAWindow(admitted)).toBeLessThanOrEqual(rate);
        }),
        { numRuns: scale(25, 10) },
      );
    } finally {
      await second.destroy();
    }
  });

  it('exactly the rate is admitted of concurrent calls', async () => {
    const windows = new CallWindows(db, 10);
    const taken = await Promise.all(Array.from({ length: 30 }, () => windows.take('key:once')));
    expect(taken.filter(({ admitted }) => admitted)).toHaveLength(10);
  });

  it('at a high rate, few entries represent many calls, and no window exceeds the rate', async () => {
    const rate = 950; // above 900, so that an entry is of several calls
    const windows = new CallWindows(db, rate);
    const admitted: number[] = [];
    const start = 1_800_000_000_000;
    for (let i = 0; i < 1150; i++) {
      const now = start + i * 55;
      const { admitted: isIn, waitMs: told } = await windows.take('key:high', now);
      const live = admitted.filter((at) => at > now - WINDOW_MS);
      if (isIn) admitted.push(now);
      else {
        const blocking = live[live.length - rate];
        const freeIn = blocking === undefined ? 0 : blocking + WINDOW_MS - now;
        expect(told).toBeGreaterThanOrEqual(freeIn);
        expect(told).toBeLessThanOrEqual(freeIn + 67);
      }
    }
    expect(mostInAWindow(admitted)).toBe(rate);
    expect(
      await value<number>`select cardinality(calls) as entries from call_windows where subject = 'key:high'`,
    ).toBeLessThanOrEqual(900);
  });

  it('a lowered rate waits until enough calls have expired, and a clock set far back blocks no caller', async () => {
    const now = 1_800_000_000_000;
    const before = new CallWindows(db, 4);
    for (const at of [0, 1000, 2000, 3000]) await before.take('key:lower', now + at);
    const after = new CallWindows(db, 2);
    const refused = await after.take('key:lower', now + 4000);
    expect(refused).toEqual({ admitted: false, used: 4, waitMs: 2000 + WINDOW_MS - 4000 });
    expect((await after.take('key:lower', now + 2000 + WINDOW_MS)).admitted).toBe(true);
    const windows = new CallWindows(db, 1);
    const at = 1_800_000_000_000;
    await windows.take('key:back', at);
    expect((await windows.take('key:back', at - 10 * WINDOW_MS)).admitted).toBe(true);
  });

  it('rows of callers without recent calls are deleted', async () => {
    const windows = new CallWindows(db, 1);
    await windows.take('key:old', Date.now() - 5 * WINDOW_MS);
    await windows.take('key:new');
    await windows.purge();
    expect(
      await query`
      select subject from call_windows where subject in ('key:old', 'key:new')`,
    ).toEqual([{ subject: 'key:new' }]);
  });
});

describe('email-address', () => {
  it.each(
    "ann@shop.example admin@localhost o'neil+dns@shop.example jürgen@bücher.example".split(' '),
  )('accepts %s', (text) => expect(readEmail(` ${text} `)).toBe(text));

  it.each([
    'ann',
    '@shop.example',
    'ann@',
    'a@b@c',
    'ann@shop.example\r\nBcc: eve@evil.test',
    'Ann <ann@shop.example>',
    'a,b@shop.example',
    'ann@shop.example\u0000',
    `${'a'.repeat(65)}@shop.example`,
    `a@${'b'.repeat(253)}`,
  ])('rejects %j', (text) => {
    expect(readEmail(text)).toBeUndefined();
  });

  it('identifies one account, regardless of case and Unicode form, also beyond ASCII', async () => {
    const composed = 'Jürgen@bücher.example'.normalize('NFC');
    const decomposed = 'JÜRGEN@bücher.example'.normalize('NFD');
    expect(composed).not.toBe(decomposed);
    expect(emailKeyOf(composed)).toBe(emailKeyOf(decomposed));
    expect((await createAccount(db, { email: composed })).kind).toBe('created');
    expect((await createAccount(db, { email: decomposed })).kind).toBe('taken');
    expect(await findAccount(db, decomposed)).toMatchObject({ email: composed });
  });
});

describe('first-admin', () => {
  it('is created once with a working key, even by concurrent starts', async () => {
    const keys = await Promise.all([1, 2, 3, 4].map(() => createFirstAdminKey(db)));
    const made = keys.filter((key) => key !== undefined);
    expect(made).toHaveLength(1);
    expect(await findApiKey(db, made[0] as string)).toMatchObject({
      state: 'valid',
      account: { isAdmin: true, active: true, planSlug: 'pro' },
    });
    expect(await createFirstAdminKey(db)).toBeUndefined();
    expect(await listAccounts(db)).toHaveLength(1);
  });

  it('gets the operator’s key once, and a revoked key stays revoked', async () => {
    const key = generateKey();
    await Promise.all([ensureAdminKey(db, key), ensureAdminKey(db, key)]);
    expect(await listApiKeys(db)).toHaveLength(1);
    for (const id of await findKeyIds(db, key)) await revokeApiKey(db, id);
    await ensureAdminKey(db, key);
    expect(await findApiKey(db, key)).toMatchObject({ state: 'revoked' });
    await ensureAdminKey(db, generateKey());
    const keys = await listApiKeys(db);
    expect(keys).toHaveLength(2);
    expect(keys[1]?.accountId).toBe(keys[0]?.accountId);
    expect(await createFirstAdminKey(db)).toBeUndefined();
  });
});

describe('query-leases', () => {
  test('concurrent workers never exceed the rate in any second, and each gets a share', async () => {
    const perSecond = 50;
    const granted = new Map<number, number>();
    const workers = Array.from({ length: 6 }, () => postgresLeases(db, perSecond));
    const shares = workers.map(() => 0);
    const enough = () => shares.every((share) => share > 0) && [...granted.values()].includes(perSecond);
    await Promise.all(
      workers.map(async (worker, i) => {
        while (!enough()) {
          const lease = await worker.lease('192.0.2.1', 10);
          expect(lease.granted).toBeLessThanOrEqual(10);
          expect(lease.retryAfterMs).toBeGreaterThan(0);
          expect(lease.retryAfterMs).toBeLessThanOrEqual(1000);
          shares[i] = (shares[i] ?? 0) + lease.granted;
          const second = await rowSecond();
          granted.set(second.second, second.granted);
        }
      }),
    );
    for (const count of granted.values()) expect(count).toBeLessThanOrEqual(perSecond);
    const { second } = await rowSecond();
    const [first = second] = granted.keys();
    const total = shares.reduce((a, b) => a + b, 0);
    expect(total).toBeLessThanOrEqual(perSecond * (second - first + 1));
    expect(total).toBeGreaterThanOrEqual(perSecond); // a whole second's
  });

  const rowSecond = async () =>
    await db.selectFrom('resolver_leases').select(['second', 'granted']).executeTakeFirstOrThrow();

  test('the budget renews every second, and addresses and resolvers have separate budgets', async () => {
    const { lease } = postgresLeases(db, 4);
    await query`insert into resolver_leases values
      ('192.0.2.1', floor(extract(epoch from now())) + 1, 4, 1),
      ('resolver 192.0.2.1', floor(extract(epoch from now())) + 1, 3, 1)`;
    expect(await lease('192.0.2.1', 10)).toMatchObject({ granted: 0 });
    expect(await lease('resolver 192.0.2.1', 10)).toMatchObject({ granted: 1 });
    expect(await lease('192.0.2.2', 1)).toMatchObject({ granted: 1 });
    await query`update resolver_leases set second = floor(extract(epoch from now())) - 1`;
    expect(await lease('192.0.2.1', 10)).toMatchObject({ granted: 2 });
  });

  test('a clock that was set far back does not block queries until it has caught up', async () => {
    await query`insert into resolver_leases values ('192.0.2.1', floor(extract(epoch from now())) + 9999, 50, 1)`;
    expect(await postgresLeases(db, 50).lease('192.0.2.1', 10)).toMatchObject({ granted: 10 });
  });
});
