// The watch over the nameserver pool, with a resolver that is told what it sees.

import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { PoolEvidence } from '../../../src/checks/nameservers/pool-evidence.ts';
import { parseName, printName } from '../../../src/dns/name.ts';
import type { ObservedPool } from '../../../src/resolver/nameservers/observe-pool.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { PoolWatch } from '../../../workers/rounds/watch-pool.ts';
import { asRole, TEST_SETTINGS } from '../../support/database/database.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';

const HOUR_MS = 3_600_000;
const database = sharedDatabase();
let worker: Database;
let watch: PoolWatch;
let now: number;
let hasFault: boolean;
const observed: ObservedPool[] = [];
const told: number[] = [];
const troubles: unknown[] = [];

beforeEach(async () => {
  worker = openDatabase(asRole(database.url, 'zonefleet_worker'));
  for (const list of [observed, told, troubles]) list.length = 0;
  hasFault = false;
  now = 0;
  watch = new PoolWatch(worker, {
    resolver: {
      async observePool(pool) {
        observed.push(pool);
        return evidenceOf(pool);
      },
    },
    onFaults: (faults) => told.push(faults.length),
    onTrouble: (error) => troubles.push(error),
    now: () => now,
    idleMs: 5,
  });
});
afterEach(async () => {
  await watch.stop();
  await worker.destroy();
});

function evidenceOf({ names }: ObservedPool): PoolEvidence {
  const hosts = names.map((name) => {
    const isA = printName(name).includes('.a.');
    const address = hasFault ? '203.0.113.1' : isA ? '192.0.2.53' : '198.51.100.53';
    return { name, addresses: [address], isAlias: false, failure: undefined };
  });
  return { hosts, glue: [], unseen: [], addresses: [] };
}

const store = (a = 'ns1.a.example.', b = 'ns[1-20].b.example.') =>
  migrate(database.db, {
    ...TEST_SETTINGS,
    nameserverPool: [[a], [b]],
    nameserverAddresses: [['192.0.2.53'], ['198.51.100.53']],
  });
/** Sets are given; the watch notices in one of its next rounds. */
async function giveUpTo(count: number): Promise<void> {
  await sql`insert into given_ns_sets (names, kind, account_id)
    select array['ns1.a.example.', 'ns' || n || '.b.example.'], 'exclusive', n from generate_series(1, ${count}::integer) n
    on conflict do nothing`.execute(database.db);
}

it('without a pool sees nothing, and asks nobody', async () => {
  watch.start();
  await store();
  await until(() => watch.state()?.faults !== undefined, 'the pool is seen');
  expect(observed).toHaveLength(1);
  await migrate(database.db, TEST_SETTINGS);
  await until(() => watch.state() === undefined, 'it is gone');
  expect(watch.warnings()).toEqual([]);
});

it('knows the share that is given, and warns from 80 % on', async () => {
  await store();
  await giveUpTo(14);
  watch.start();
  await until(() => watch.state()?.shareGiven === 14 / 18, '14 of 18 are given');
  expect(watch.warnings()).toEqual([]);
  await giveUpTo(15);
  await until(() => watch.warnings().length > 0, 'it warns');
  expect(watch.warnings()).toEqual(['83 % of the nameserver pool is given: widen a list']);
});

it('checks all names and addresses once a day, with a zone that is served', async () => {
  await newDomain(database.db, await newAccount(database.db, 'a@example.org'), 'served.example.com.');
  await store();
  watch.start();
  await until(() => watch.state()?.faults !== undefined, 'it has checked');
  expect(observed[0]).toMatchObject({
    addresses: ['192.0.2.53', '198.51.100.53'],
    served: parseName('served.example.com.'),
  });
  expect(observed[0]?.names).toHaveLength(21);
  now = 23 * HOUR_MS;
  await giveUpTo(1);
  await until(() => watch.state()?.shareGiven === 1 / 18, 'further rounds are over');
  expect(observed).toHaveLength(1);
  now = 24 * HOUR_MS;
  await until(() => observed.length === 2, 'it has checked again');
});

it('tells faults, looks for them again each round, and is quiet when they are gone', async () => {
  hasFault = true;
  await store();
  watch.start();
  await until(() => observed.length > 2, 'it looks again');
  expect(told[0]).toBe(42);
  expect(watch.warnings()).toEqual([
    'nameserver pool: ns1.a.example: it lacks 192.0.2.53 (and 41 more: zonefleet nameservers)',
  ]);
  hasFault = false;
  await until(() => watch.warnings().length === 0, 'the faults are gone');
});

it('checks a pool that has changed at once', async () => {
  await store();
  watch.start();
  await until(() => watch.state()?.faults !== undefined, 'it has checked');
  await store('ns[1-2].a.example.');
  await until(() => observed.length === 2, 'it has checked again');
  expect(observed[1]?.names).toHaveLength(22);
  expect(troubles).toEqual([]);
});

it('reports that Postgres is away, and goes on', async () => {
  await store();
  await sql`alter table given_ns_sets rename to away`.execute(database.db);
  watch.start();
  await until(() => troubles.length > 0, 'it tells');
  await sql`alter table away rename to given_ns_sets`.execute(database.db);
  await until(() => watch.state() !== undefined, 'it goes on');
});
