import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { PoolEvidence } from '../../src/checks/nameservers/pool-evidence.ts';
import { dsOf } from '../../src/checks/validation/roll-anchors.ts';
import type { RootKeys } from '../../src/checks/validation/root-keys.ts';
import { parseName, printName } from '../../src/dns/name.ts';
import { sweepCache } from '../../src/features/cache/job.ts';
import { CacheRegistry } from '../../src/features/cache/sql-registry.ts';
import { RETENTION_OF_FEATURES } from '../../src/features/every-feature.ts';
import { migrate } from '../../src/features/migrate.ts';
import { runDebts, runSubscriptions } from '../../src/features/money/job.ts';
import type { Rounds } from '../../src/jobs/run-rounds.ts';
import type { ObservedPool } from '../../src/resolver/nameservers/observe-pool.ts';
import { Silences } from '../../src/resolver/state/silences.ts';
import { addTerm } from '../../src/store/accounts/plans.ts';
import { listSubscriptions } from '../../src/store/accounts/subscriptions.ts';
import { setPlan } from '../../src/store/change/set-plan.ts';
import { sweepName } from '../../src/store/claims/swept-names.ts';
import { loadDomainById } from '../../src/store/domains/load-domains.ts';
import { createEdge, revokeEdge } from '../../src/store/edges/edges.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { purgeSilences } from '../../src/store/resolver/silences.ts';
import { addVantage, noteVantageSeen } from '../../src/store/vantage/vantages.ts';
import { type PublishFault, runHousekeeping } from '../../workers/rounds/housekeeping.ts';
import { shareSilences } from '../../workers/rounds/share-silences.ts';
import { sweepNames } from '../../workers/rounds/sweep-names.ts';
import { AnchorWatch } from '../../workers/rounds/watch-anchors.ts';
import { PoolWatch } from '../../workers/rounds/watch-pool.ts';
import { VantageWatch } from '../../workers/rounds/watch-vantages.ts';
import { asRole, TEST_SETTINGS } from '../support/database/database.ts';
import { newAccount, newDomain } from '../support/database/domains.ts';
import { makeKey } from '../support/dnssec/signing.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { until } from '../support/tests/until.ts';
import { evidenceOf } from '../support/world/check-evidence.ts';

const { db, url, query, value, column } = sharedDatabase();

describe('settle-debts', () => {
  /** Waits until a round has done something. */
  async function oneRound(graceDays: number) {
    const troubles: unknown[] = [];
    const settled = await new Promise<object>((resolve) => {
      const rounds = runDebts({
        db,
        graceDays,
        idleMs: 10,
        onSettled: (told) => void rounds.stop().then(() => resolve(told)),
        onTrouble: (error) => troubles.push(error),
      });
    });
    expect(troubles).toEqual([]);
    return settled;
  }

  it('rounds suspend and resume domains by the clock of Postgres, and report it', async () => {
    const accountId = await newAccount(db, 'a@example.org');
    const { id } = await newDomain(db, accountId);
    await query`
    insert into wallets (account_id, balance_rials, negative_since)
    values (${accountId}, -1, clock_timestamp() - interval '3 days')`;
    expect(await oneRound(3)).toEqual({ wallets: 1, suspended: 1, resumed: 0 });
    expect((await loadDomainById(db, id))?.suspended).toBe(true);
    await query`update wallets set balance_rials = 0, negative_since = null, suspended_at = null`;
    expect(await oneRound(3)).toEqual({ wallets: 0, suspended: 0, resumed: 1 });
    expect((await loadDomainById(db, id))?.suspended).toBe(false);
  });
});

describe('share-silences', () => {
  const running: Rounds[] = [];
  afterEach(() => Promise.all(running.splice(0).map((rounds) => rounds.stop())));

  function worker(): Silences {
    const silences = new Silences(Date.now);
    const onTrouble = (error: unknown) => expect.fail(String(error));
    running.push(shareSilences(db, silences, { onTrouble, idleMs: 5 }));
    return silences;
  }

  test('all workers, even later ones, learn what one has noticed, until an address responds to one of them', async () => {
    const [a, b] = [worker(), worker()];
    for (let i = 0; i < 3; i++) a.noteSilence('192.0.2.1');
    await until(() => b.isSilent('192.0.2.1'));
    const c = worker();
    await until(() => c.isSilent('192.0.2.1'));
    b.noteReply('192.0.2.1');
    await until(() => !a.isSilent('192.0.2.1') && !c.isSilent('192.0.2.1'));
  });

  test('old rows are deleted', async () => {
    await query`insert into resolver_silences values ('old', 3, now(), now() - interval '3 hours'), ('new', 3, now(), now())`;
    await purgeSilences(db);
    expect(await column`select key from resolver_silences`).toEqual(['new']);
  });
});

it('housekeeping reports its errors, and each domain whose published records differ once, in turn', async () => {
  const account = await newAccount(db, 'ann@example.org');
  for (let i = 0; i < 12; i++) await newDomain(db, account, `d${i}.example.com.`);
  const faults: PublishFault[] = [];
  const troubles: unknown[] = [];
  const running = runHousekeeping({
    retention: RETENTION_OF_FEATURES,
    db,
    onFault: (fault) => faults.push(fault),
    onTrouble: (error) => troubles.push(error),
    idleMs: 5,
  });
  const spoil = (name: string) =>
    query`update zone_records set ttl = ttl + 1
      where type = 6 and zone_id = (select zone_id from domains where name = ${name})`;
  const names = () => faults.map(({ domain }) => domain);
  try {
    // Between the third and the first domain, the rounds check the last one again.
    for (const name of ['d11.example.com.', 'd3.example.com.', 'd0.example.com.']) {
      await spoil(name);
      await until(() => names().includes(name), `${name} is found`);
    }
    expect(troubles).toEqual([]);
    await query`alter table feed rename to gone`;
    await until(() => troubles.length > 1, 'it has tried again');
  } finally {
    await running.stop();
    await query`alter table if exists gone rename to feed`;
  }
  expect(names()).toEqual(['d11.example.com.', 'd3.example.com.', 'd0.example.com.']);
  expect(faults[0]?.differences).toHaveLength(2);
});

it('rounds move an expired subscription to the free plan by the clock of Postgres, and report it', async () => {
  const { id } = await newDomain(db, await newAccount(db, 'a@example.org'));
  const plan = await addTerm(db, 'pro', { days: 30, priceRials: 500 });
  await setPlan(db, { domainId: id, planSlug: 'pro', termId: plan?.terms.at(-1)?.id as number });
  const before = await listSubscriptions(db, id);
  const troubles: unknown[] = [];
  const told: object[] = [];
  const options = {
    db,
    charging: { maxNegativeRials: 0 },
    idleMs: 10,
    onMoved: (moved: object) => void told.push(moved),
    onFailed: (_: unknown, error: unknown) => troubles.push(error),
    onTrouble: (error: unknown) => troubles.push(error),
  };
  await runSubscriptions(options).stop();
  expect([await listSubscriptions(db, id), told]).toEqual([before, []]);
  const at = new Date((before[0]?.expiresAt as Date).getTime() + 8 * 86_400_000);
  const rounds = runSubscriptions({ ...options, clock: async () => at });
  await until(() => told.length > 0, 'it has moved');
  await rounds.stop();
  expect(told).toEqual([{ renewed: 0, unpaid: 1, grace: 1, ended: 1, failed: 0 }]);
  expect(troubles).toEqual([]);
  expect((await listSubscriptions(db, id))[0]?.plan.slug).toBe('free');
});

// Housekeeping of the cache registry, with the rights that workers have.
test('expired entries and entries of revoked edges are deleted, and the counts follow', async () => {
  for (const [at, name] of ['fra', 'ber'].entries())
    await createEdge(db, { name, region: 'eu', v4: [`192.0.2.${at + 1}`], v6: [] });
  await query`
    insert into cached_entries (domain_id, node, host, path, query, variant, method, hostname, store_path, key_hash, cache_key,
      l2_key, size, cached_at, expires_at)
    select d, n, 'a.test', '/', '', '', 'GET', 'a.test', '/', k, '', '', 1, now() - interval '1 hour',
      case k when 'old' then now() - interval '1 s' else now() + interval '1 hour' end
    from unnest(array[1, 2]) d, unnest(array['fra', 'ber']) n, unnest(array['old', 'new']) k`;
  await query`insert into cached_domains (domain_id, entries) values (1, 4), (2, 4)`;
  await query`insert into cached_nodes values ('fra', now() - interval '2 hours')`;
  const worker = openDatabase(asRole(url, 'zonefleet_worker'));
  const cacheRegistry = new CacheRegistry({
    url: asRole(url, 'zonefleet_worker'),
    isElsewhere: false,
    maxConnections: 1,
  });
  const onTrouble = (error: unknown) => expect.fail(String(error));
  const sweeping = sweepCache({ db: worker, cacheRegistry, onTrouble, idleMs: 5 });
  const left = async () =>
    (
      await column<string>`select domain_id || ' ' || node || ' ' || key_hash from cached_entries order by 1`
    ).join();
  try {
    await until(async () => (await left()) === '1 ber new,1 fra new,2 ber new,2 fra new', 'no expired');
    await revokeEdge(db, 'fra');
    await until(async () => (await left()) === '1 ber new,2 ber new', 'none of the edge');
    const counts = async () => (await column`select entries from cached_domains`).join();
    await until(async () => (await counts()) === '1,1', 'the counts');
    await until(async () => (await query`select from cached_nodes`).length === 0, 'the node');
  } finally {
    await sweeping.stop();
    await cacheRegistry.close();
    await worker.destroy();
  }
});

describe('watch-vantages', () => {
  let watch: VantageWatch;
  let told: string[];
  beforeEach(async () => {
    told = [];
    watch = new VantageWatch(db, {
      onAway: (away) => told.push(away.join(' ')),
      onTrouble: (error) => told.push(error.message),
      idleMs: 10,
    });
  });
  afterEach(() => watch.stop());

  const add = (name: string, network: string, address: string | null = null) =>
    addVantage(db, { name, network, publicKey: name, address });
  const age = (minutes: number) =>
    query`update vantages set created_at = created_at - make_interval(mins => ${minutes}),
    seen_at = seen_at - make_interval(mins => ${minutes})`;

  test('a vantage that has not requested jobs for ten minutes is reported once, and again when it is back', async () => {
    await add('a', 'ams');
    await add('b', 'fra');
    for (const name of ['a', 'b']) await noteVantageSeen(db, name, null);
    await age(9);
    watch.start();
    await expect.poll(() => watch.state()).toEqual({ vantages: 2, voices: 2, isAsked: true, away: [] });
    expect(watch.warnings()).toEqual([]);
    await age(2);
    await expect.poll(() => watch.state().away).toEqual(['a', 'b']);
    expect(watch.warnings()).toEqual([
      'observer a has been unavailable for over 10 minutes: see zonefleet vantage list',
      'observer b has been unavailable for over 10 minutes: see zonefleet vantage list',
    ]);
    await noteVantageSeen(db, 'a', null);
    await expect.poll(() => watch.state().away).toEqual(['b']);
    await noteVantageSeen(db, 'b', null);
    await expect.poll(() => watch.warnings()).toEqual([]);
    expect(told).toEqual(['a b', 'b', '']);
  });

  test('vantages in one network, from the start or later, are reported', async () => {
    watch.start();
    await expect.poll(() => watch.state()).toEqual({ vantages: 0, voices: 0, isAsked: false, away: [] });
    expect(watch.warnings()).toEqual([]);
    await add('a', 'ams', '192.0.2.1');
    await expect.poll(() => watch.warnings()).toEqual([expect.stringContaining('none is asked')]);
    await noteVantageSeen(db, 'a', null);
    await add('b', 'fra', '192.0.2.2');
    await expect.poll(() => watch.state()).toMatchObject({ vantages: 2, voices: 1, isAsked: false });
    expect(watch.warnings()).toEqual([expect.stringContaining('none is asked')]);
    await noteVantageSeen(db, 'b', null);
    await expect.poll(() => watch.warnings()).toEqual([expect.stringContaining('count as one voice')]);
    await add('c', 'lon', '198.51.100.1');
    await noteVantageSeen(db, 'c', null);
    await expect.poll(() => watch.warnings()).toEqual([]);
  });
});

describe('sweep-names', () => {
  // The sweep of names whose domains have ended, with the rights of a worker and a resolver controlled by the test.
  const DAY_MS = 86_400_000;
  let worker: Database;
  let me: number;
  let rounds: Rounds;
  const asked: string[] = [];
  const troubles: unknown[] = [];
  let said: string;

  beforeEach(async () => {
    worker = openDatabase(asRole(url, 'zonefleet_worker'));
    me = await newAccount(db, 'me@example.org');
    asked.length = 0;
    troubles.length = 0;
    rounds = sweepNames({
      db: worker,
      resolver: {
        observeDelegation: async (domain) => {
          asked.push(printName(domain));
          return evidenceOf(`${said}; ${said}`, { domain, finishedAt: Date.now() });
        },
      },
      onTrouble: (error) => troubles.push(error),
      idleMs: 5,
      random: () => 0.5,
    });
  });
  afterEach(async () => {
    await rounds.stop();
    await worker.destroy();
    expect(troubles).toEqual([]);
  });

  const ended = async (name: string, days: number) => {
    await query`insert into name_holders (name, account_id, active_at) values (${name}, ${me}, now())`;
    await sweepName(db, { name, accountId: me }, new Date(Date.now() - days * DAY_MS));
  };
  const sightings = () => query`select name, names from ns_sightings order by name`;
  /** Days until the name is due. Undefined if it is no longer checked. */
  const dueIn = (name: string) => value<number>`
    select round(extract(epoch from due_at - now()) / 86400)::integer from swept_names where name = ${name}`;

  it('a name that still points to the fleet is recorded, and checked again a day later', async () => {
    said = 'referral ns1.example.net ns9.elsewhere.test';
    await ended('shop.example.', 2);
    await until(async () => (await dueIn('shop.example.')) === 1, 'the name was looked at');
    expect(asked).toEqual(['shop.example.']);
    expect(await sightings()).toEqual([{ name: 'shop.example.', names: ['ns1.example.net.'] }]);
  });

  it('after 90 days, a name is checked weekly while it points to the fleet, and no longer otherwise', async () => {
    said = 'referral ns1.example.net';
    await ended('shop.example.', 91);
    await until(async () => (await dueIn('shop.example.')) === 7, 'it is due in a week');
    said = 'nodata';
    await query`update swept_names set due_at = now()`;
    await until(async () => (await dueIn('shop.example.')) === undefined, 'it is forgotten');
    expect(asked).toHaveLength(2);
  });

  it('a silent parent changes nothing, and a name with a domain again is left to its checks', async () => {
    said = 'timeout';
    await newDomain(db, me, 'again.example.');
    for (const name of ['again.example.', 'shop.example.']) {
      await ended(name, 2);
      await until(async () => (await dueIn(name)) === 1, 'a round has had the name');
    }
    expect([asked, await sightings()]).toEqual([['shop.example.'], []]);
  });
});

describe('watch-anchors', () => {
  const DAY = 86_400_000;
  const [OLD, NEW] = [makeKey(13), makeKey(13)];
  const CONFIGURED = [dsOf(OLD.rdata)];

  function watch(configured: readonly Uint8Array[] = CONFIGURED) {
    const clock = { now: 1_700_000_000_000 };
    const told: string[] = [];
    const troubles: unknown[] = [];
    const looks: (RootKeys | undefined)[] = [];
    let seen: RootKeys | undefined | Error = { present: [OLD.rdata, NEW.rdata], revoked: [] };
    const anchors = new AnchorWatch({
      db,
      configured,
      observe: async () => {
        if (seen instanceof Error) throw seen;
        looks.push(seen);
        return seen;
      },
      onChange: ({ keyTag, from, to }) => told.push(`${keyTag === OLD.tag ? 'old' : 'new'} ${from} ${to}`),
      onTrouble: (error) => troubles.push(error),
      now: () => clock.now,
      idleMs: 5,
    });
    const tags = () => anchors.current().map((ds) => ((ds[0] as number) << 8) | (ds[1] as number));
    const see = (next: RootKeys | Error | undefined) => (seen = next);
    return { anchors, clock, told, troubles, looks, tags, see };
  }

  it('a key observed for 30 days is trusted, and a revoked one is not, by other workers too', async () => {
    const { anchors, clock, told, tags, see } = watch();
    anchors.start();
    try {
      await until(() => told.length === 2, 'it has looked');
      expect(told.sort()).toEqual(['new new pending', 'old new valid']);
      expect(tags()).toEqual([OLD.tag]);
      clock.now += 30 * DAY;
      await until(() => tags().length === 2, 'the new key is trusted');
      see({ present: [NEW.rdata], revoked: [OLD.rdata] });
      clock.now += DAY;
      await until(() => tags().length === 1, 'the old key is not trusted any more');
      expect(tags()).toEqual([NEW.tag]);
      expect(told.slice(2)).toEqual(['new pending valid', 'old valid revoked']);
      const other = watch();
      other.see(undefined);
      other.anchors.start();
      await until(() => other.tags().join() === String(NEW.tag), 'the other knows');
      await other.anchors.stop();
    } finally {
      await anchors.stop();
    }
  });

  it('queries once a day, and again if nothing validated', async () => {
    const { anchors, looks, see, troubles } = watch();
    see({ present: undefined, revoked: [] });
    anchors.start();
    await until(() => looks.length > 2, 'it looks again');
    see(new Error('no network'));
    await until(() => troubles.length > 0, 'a fault is told');
    const { length } = looks;
    see({ present: [OLD.rdata], revoked: [] });
    await until(() => looks.length > length, 'it looks again');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(looks).toHaveLength(length + 1);
    await anchors.stop();
  });

  it('does nothing without anchors', async () => {
    const { anchors, looks, tags } = watch([]);
    anchors.start();
    await new Promise((resolve) => setTimeout(resolve, 30));
    await anchors.stop();
    expect([looks, tags()]).toEqual([[], []]);
  });
});

describe('watch-pool', () => {
  // The watch of the nameserver pool, with a resolver controlled by the test.
  const HOUR_MS = 3_600_000;
  let worker: Database;
  let watch: PoolWatch;
  let now: number;
  let hasFault: boolean;
  const observed: ObservedPool[] = [];
  const told: number[] = [];
  const troubles: unknown[] = [];

  beforeEach(async () => {
    // Without a pool, a domain's account is not given a set.
    await migrate(db, TEST_SETTINGS);
    worker = openDatabase(asRole(url, 'zonefleet_worker'));
    for (const list of [observed, told, troubles]) list.length = 0;
    hasFault = false;
    now = 0;
    watch = new PoolWatch(worker, {
      resolver: {
        async observePool(pool) {
          observed.push(pool);
          return poolEvidenceOf(pool);
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

  function poolEvidenceOf({ names }: ObservedPool): PoolEvidence {
    const hosts = names.map((name) => {
      const isA = printName(name).includes('.a.');
      const address = hasFault ? '203.0.113.1' : isA ? '192.0.2.53' : '198.51.100.53';
      return { name, addresses: [address], isAlias: false, failure: undefined };
    });
    return { hosts, glue: [], unseen: [], addresses: [] };
  }

  const store = (a = 'ns1.a.example.', b = 'ns[1-20].b.example.') =>
    migrate(db, {
      ...TEST_SETTINGS,
      nameserverPool: [[a], [b]],
      nameserverAddresses: [['192.0.2.53'], ['198.51.100.53']],
    });
  /** Assigns sets. The watch notices them in one of its next rounds. */
  async function giveUpTo(count: number): Promise<void> {
    await query`insert into given_ns_sets (names, kind, account_id)
    select array['ns1.a.example.', 'ns' || n || '.b.example.'], 'exclusive', n from generate_series(1, ${count}::integer) n
    on conflict do nothing`;
  }

  it('queries nothing without a pool', async () => {
    watch.start();
    await store();
    await until(() => watch.state()?.faults !== undefined, 'the pool is seen');
    expect(observed).toHaveLength(1);
    await migrate(db, TEST_SETTINGS);
    await until(() => watch.state() === undefined, 'it is gone');
    expect(watch.warnings()).toEqual([]);
  });

  it('reports the assigned fraction, and warns from 80 % on', async () => {
    await store();
    await giveUpTo(14);
    watch.start();
    await until(() => watch.state()?.shareGiven === 14 / 18, '14 of 18 are given');
    expect(watch.warnings()).toEqual([]);
    await giveUpTo(15);
    await until(() => watch.warnings().length > 0, 'it warns');
    expect(watch.warnings()).toEqual(['83 % of the nameserver pool is assigned: extend a list']);
  });

  it('checks all names and addresses once a day, with a zone that is served', async () => {
    await newDomain(db, await newAccount(db, 'a@example.org'), 'served.example.com.');
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

  it('reports faults, checks them again in each round, and stops reporting repaired ones', async () => {
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

  it('checks a changed pool immediately, and reports that Postgres is unavailable', async () => {
    await store();
    watch.start();
    await until(() => watch.state()?.faults !== undefined, 'it has checked');
    await store('ns[1-2].a.example.');
    await until(() => observed.length === 2, 'it has checked again');
    expect(observed[1]?.names).toHaveLength(22);
    expect(troubles).toEqual([]);
    await query`alter table given_ns_sets rename to away`;
    await until(() => troubles.length > 0, 'it tells');
    await query`alter table away rename to given_ns_sets`;
    await store('ns1.a.example.');
    await until(() => observed.length === 3, 'it goes on');
  });
});
