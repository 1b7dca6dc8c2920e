import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { PoolEvidence } from '../../src/checks/nameservers/pool-evidence.ts';
import { dsOf } from '../../src/checks/validation/roll-anchors.ts';
import type { RootKeys } from '../../src/checks/validation/root-keys.ts';
import { parseName, printName } from '../../src/dns/name.ts';
import type { ObservedPool } from '../../src/resolver/nameservers/observe-pool.ts';
import { Silences } from '../../src/resolver/state/silences.ts';
import { addTerm } from '../../src/store/accounts/plans.ts';
import { purgeSilences } from '../../src/store/accounts/silences.ts';
import { listSubscriptions } from '../../src/store/accounts/subscriptions.ts';
import { CacheRegistry } from '../../src/store/cached/cache-registry.ts';
import { setPlan } from '../../src/store/change/set-plan.ts';
import { sweepName } from '../../src/store/claims/swept-names.ts';
import { loadDomainById } from '../../src/store/domains/load-domains.ts';
import { createEdge, revokeEdge } from '../../src/store/edges/edges.ts';
import { migrate } from '../../src/store/migrate/migrate.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { addVantage, noteVantageSeen } from '../../src/store/vantage/vantages.ts';
import { type PublishFault, runHousekeeping } from '../../workers/rounds/housekeeping.ts';
import { runSubscriptions } from '../../workers/rounds/move-subscriptions.ts';
import type { Rounds } from '../../workers/rounds/run-rounds.ts';
import { runDebts } from '../../workers/rounds/settle-debts.ts';
import { shareSilences } from '../../workers/rounds/share-silences.ts';
import { sweepCache } from '../../workers/rounds/sweep-cache.ts';
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

const database = sharedDatabase();

describe('settle-debts', () => {
  /** Until a round has done something. */
  async function oneRound(graceDays: number) {
    const troubles: unknown[] = [];
    const settled = await new Promise<object>((resolve) => {
      const rounds = runDebts({
        db: database.db,
        graceDays,
        idleMs: 10,
        onSettled: (told) => void rounds.stop().then(() => resolve(told)),
        onTrouble: (error) => troubles.push(error),
      });
    });
    expect(troubles).toEqual([]);
    return settled;
  }

  it('rounds suspend and resume by the clock of Postgres, and tell what they did', async () => {
    const { db } = database;
    const accountId = await newAccount(db, 'a@example.org');
    const { id } = await newDomain(db, accountId);
    await sql`
    insert into wallets (account_id, balance_rials, negative_since)
    values (${accountId}, -1, clock_timestamp() - interval '3 days')`.execute(db);
    expect(await oneRound(3)).toEqual({ wallets: 1, suspended: 1, resumed: 0 });
    expect((await loadDomainById(db, id))?.suspended).toBe(true);
    await sql`update wallets set balance_rials = 0, negative_since = null, suspended_at = null`.execute(db);
    expect(await oneRound(3)).toEqual({ wallets: 0, suspended: 0, resumed: 1 });
    expect((await loadDomainById(db, id))?.suspended).toBe(false);
  });
});

describe('share-silences', () => {
  const running: Rounds[] = [];
  afterEach(async () => {
    await Promise.all(running.splice(0).map((rounds) => rounds.stop()));
  });

  function worker(): Silences {
    const silences = new Silences(Date.now);
    const onTrouble = (error: unknown) => expect.fail(String(error));
    running.push(shareSilences(database.db, silences, { onTrouble, idleMs: 5 }));
    return silences;
  }

  test('what one worker has noticed all know, those that start later too, until it answers one of them', async () => {
    const [a, b] = [worker(), worker()];
    for (let i = 0; i < 3; i++) a.noteSilence('192.0.2.1');
    await until(() => b.isSilent('192.0.2.1'));
    const c = worker();
    await until(() => c.isSilent('192.0.2.1'));
    b.noteReply('192.0.2.1');
    await until(() => !a.isSilent('192.0.2.1') && !c.isSilent('192.0.2.1'));
  });

  test('rows of long ago are deleted', async () => {
    await sql`insert into resolver_silences values ('old', 3, now(), now() - interval '3 hours'), ('new', 3, now(), now())`.execute(
      database.db,
    );
    await purgeSilences(database.db);
    const { rows } = await sql<{ key: string }>`select key from resolver_silences`.execute(database.db);
    expect(rows).toEqual([{ key: 'new' }]);
  });
});

describe('housekeeping', () => {
  it('reports once a domain whose published records differ from its own, and checks all domains in turn', async () => {
    const { db } = database;
    const account = await newAccount(db, 'ann@example.org');
    for (let i = 0; i < 12; i++) await newDomain(db, account, `d${i}.example.com.`);
    const faults: PublishFault[] = [];
    const troubles: unknown[] = [];
    const running = runHousekeeping({
      db,
      onFault: (fault) => faults.push(fault),
      onTrouble: (error) => troubles.push(error),
      idleMs: 5,
    });
    const spoil = (name: string) =>
      sql`update zone_records set ttl = ttl + 1
      where type = 6 and zone_id = (select zone_id from domains where name = ${name})`.execute(db);
    const names = () => faults.map(({ domain }) => domain);
    try {
      // The rounds pass the last domain again on the way from the third to the first.
      for (const name of ['d11.example.com.', 'd3.example.com.', 'd0.example.com.']) {
        await spoil(name);
        await until(() => names().includes(name), `${name} is found`);
      }
    } finally {
      await running.stop();
    }
    expect(names()).toEqual(['d11.example.com.', 'd3.example.com.', 'd0.example.com.']);
    expect(faults[0]?.differences).toHaveLength(2);
    expect(troubles).toEqual([]);
  });

  it('reports its errors, and continues', async () => {
    const troubles: unknown[] = [];
    const running = runHousekeeping({
      db: database.db,
      onFault: () => {},
      onTrouble: (error) => troubles.push(error),
      idleMs: 5,
    });
    await sql`alter table feed rename to gone`.execute(database.db);
    await until(() => troubles.length > 1, 'it has tried again');
    await running.stop();
    await sql`alter table gone rename to feed`.execute(database.db);
  });
});

describe('move-subscriptions', () => {
  it('rounds bring a subscription from its end to free, and tell what they did', async () => {
    const { db } = database;
    const { id } = await newDomain(db, await newAccount(db, 'a@example.org'));
    const plan = await addTerm(db, 'pro', { days: 30, priceRials: 500 });
    await setPlan(db, { domainId: id, planSlug: 'pro', termId: plan?.terms.at(-1)?.id as number });
    const [own] = await listSubscriptions(db, id);
    const end = own?.expiresAt as Date;
    const troubles: unknown[] = [];
    const told: object[] = [];
    await new Promise<void>((resolve) => {
      const rounds = runSubscriptions({
        db,
        charging: { maxNegativeRials: 0 },
        clock: async () => new Date(end.getTime() + 8 * 86_400_000),
        idleMs: 10,
        onMoved: (moved) => {
          told.push(moved);
          void rounds.stop().then(resolve);
        },
        onFailed: (_, error) => troubles.push(error),
        onTrouble: (error) => troubles.push(error),
      });
    });
    expect(told).toEqual([{ renewed: 0, unpaid: 1, grace: 1, ended: 1, failed: 0 }]);
    expect(troubles).toEqual([]);
    expect((await listSubscriptions(db, id))[0]?.plan.slug).toBe('free');
  });

  it('nothing ends by the clock of Postgres that is not over', async () => {
    const { db } = database;
    const { id } = await newDomain(db, await newAccount(db, 'b@example.org'), 'b.test.', {
      planSlug: 'free',
    });
    const before = await listSubscriptions(db, id);
    const troubles: unknown[] = [];
    const rounds = runSubscriptions({
      db,
      charging: { maxNegativeRials: 0 },
      onMoved: () => {},
      onFailed: (_, error) => troubles.push(error),
      onTrouble: (error) => troubles.push(error),
    });
    await rounds.stop();
    expect([await listSubscriptions(db, id), troubles]).toEqual([before, []]);
  });
});

describe('sweep-cache', () => {
  // Housekeeping of the cache registry, with the rights that workers have.
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  test('what has expired goes, and what edges had that are revoked; the counts follow', async () => {
    const url = asRole(database.url, 'zonefleet_worker');
    for (const [at, name] of ['fra', 'ber'].entries())
      await createEdge(database.db, { name, region: 'eu', v4: [`192.0.2.${at + 1}`], v6: [] });
    await sql`
    insert into cached_entries (domain_id, node, host, path, query, variant, method, hostname, store_path, key_hash, cache_key,
      l2_key, size, cached_at, expires_at)
    select d, n, 'a.test', '/', '', '', 'GET', 'a.test', '/', k, '', '', 1, now() - interval '1 hour',
      case k when 'old' then now() - interval '1 s' else now() + interval '1 hour' end
    from unnest(array[1, 2]) d, unnest(array['fra', 'ber']) n, unnest(array['old', 'new']) k`.execute(
      database.db,
    );
    await sql`insert into cached_domains (domain_id, entries) values (1, 4), (2, 4)`.execute(database.db);
    await sql`insert into cached_nodes values ('fra', now() - interval '2 hours')`.execute(database.db);
    const db = openDatabase(url);
    ends.push(() => db.destroy());
    const cacheRegistry = new CacheRegistry({ url, isElsewhere: false, maxConnections: 1 });
    ends.push(() => cacheRegistry.close());
    const onTrouble = (error: unknown) => expect.fail(String(error));
    const sweeping = sweepCache({ db, cacheRegistry, onTrouble, idleMs: 5 });
    ends.push(() => sweeping.stop());
    const left = async () => {
      const { rows } = await sql<{ entry: string }>`
      select domain_id || ' ' || node || ' ' || key_hash as entry from cached_entries order by entry`.execute(
        database.db,
      );
      return rows.map(({ entry }) => entry).join();
    };
    await until(
      async () => (await left()) === '1 ber new,1 fra new,2 ber new,2 fra new',
      'the expired are gone',
    );
    await revokeEdge(database.db, 'fra');
    await until(async () => (await left()) === '1 ber new,2 ber new', 'the edge’s are gone');
    const counts = async () => {
      const { rows } = await sql`select domain_id as id, entries from cached_domains order by id`.execute(
        database.db,
      );
      return JSON.stringify(rows) === JSON.stringify([1, 2].map((id) => ({ id, entries: 1 })));
    };
    await until(counts, 'the counts');
    await until(
      async () => (await sql`select from cached_nodes`.execute(database.db)).rows.length === 0,
      'the node',
    );
  });
});

describe('watch-vantages', () => {
  let watch: VantageWatch;
  let told: string[];
  beforeEach(async () => {
    told = [];
    watch = new VantageWatch(database.db, {
      onAway: (away) => told.push(away.join(' ')),
      onTrouble: (error) => told.push(error.message),
      idleMs: 10,
    });
  });
  afterEach(async () => {
    await watch.stop();
  });

  const add = (name: string, network: string, address: string | null = null) =>
    addVantage(database.db, { name, network, publicKey: name, address });
  const age = (minutes: number) =>
    sql`update vantages set created_at = created_at - make_interval(mins => ${minutes}),
    seen_at = seen_at - make_interval(mins => ${minutes})`.execute(database.db);

  test('a vantage that has not asked for ten minutes is told once, and again when it is back', async () => {
    await add('a', 'ams');
    await add('b', 'fra');
    for (const name of ['a', 'b']) await noteVantageSeen(database.db, name, null);
    await age(9);
    watch.start();
    await expect.poll(() => watch.state()).toEqual({ vantages: 2, voices: 2, isAsked: true, away: [] });
    expect(watch.warnings()).toEqual([]);
    await age(2);
    await expect.poll(() => watch.state().away).toEqual(['a', 'b']);
    expect(watch.warnings()).toEqual([
      'observer a has been away for over 10 minutes: zonefleet vantage list',
      'observer b has been away for over 10 minutes: zonefleet vantage list',
    ]);
    await noteVantageSeen(database.db, 'a', null);
    await expect.poll(() => watch.state().away).toEqual(['b']);
    await noteVantageSeen(database.db, 'b', null);
    await expect.poll(() => watch.warnings()).toEqual([]);
    expect(told).toEqual(['a b', 'b', '']);
  });

  test('vantages that are of one network, or turn out to stand in one, are told', async () => {
    await add('a', 'ams', '192.0.2.1');
    watch.start();
    await expect.poll(() => watch.warnings()).toEqual([expect.stringContaining('none is asked')]);
    await noteVantageSeen(database.db, 'a', null);
    await add('b', 'fra', '192.0.2.2');
    await expect.poll(() => watch.state()).toMatchObject({ vantages: 2, voices: 1, isAsked: false });
    expect(watch.warnings()).toEqual([expect.stringContaining('none is asked')]);
    await noteVantageSeen(database.db, 'b', null);
    await expect.poll(() => watch.warnings()).toEqual([expect.stringContaining('count as one voice')]);
    await add('c', 'lon', '198.51.100.1');
    await noteVantageSeen(database.db, 'c', null);
    await expect.poll(() => watch.warnings()).toEqual([]);
  });

  test('without vantages there is nothing to tell', async () => {
    watch.start();
    await expect.poll(() => watch.state()).toEqual({ vantages: 0, voices: 0, isAsked: false, away: [] });
    expect(watch.warnings()).toEqual([]);
  });
});

describe('sweep-names', () => {
  // The sweep of names whose domains have ended, with a resolver that is told what it sees, and the rights of a worker.
  const DAY_MS = 86_400_000;
  let worker: Database;
  let me: number;
  let rounds: Rounds;
  const asked: string[] = [];
  const troubles: unknown[] = [];
  let said: string;

  beforeEach(async () => {
    worker = openDatabase(asRole(database.url, 'zonefleet_worker'));
    me = await newAccount(database.db, 'me@example.org');
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
    await sql`insert into name_holders (name, account_id, active_at) values (${name}, ${me}, now())`.execute(
      database.db,
    );
    await sweepName(database.db, { name, accountId: me }, new Date(Date.now() - days * DAY_MS));
  };
  const sightings = async () =>
    (
      await sql<{
        name: string;
        names: string[];
      }>`select name, names from ns_sightings order by name`.execute(database.db)
    ).rows;
  /** In how many days the name is due; undefined: it is not looked at any more. */
  const dueIn = async (name: string) => {
    const { rows } = await sql<{ days: number }>`
    select round(extract(epoch from due_at - now()) / 86400)::integer as days from swept_names where name = ${name}`.execute(
      database.db,
    );
    return rows[0]?.days;
  };

  it('a name that still points here leaves a sighting, and is looked at again a day later', async () => {
    said = 'referral ns1.example.net ns9.elsewhere.test';
    await ended('shop.example.', 2);
    await until(async () => (await dueIn('shop.example.')) === 1, 'the name was looked at');
    expect(asked).toEqual(['shop.example.']);
    expect(await sightings()).toEqual([{ name: 'shop.example.', names: ['ns1.example.net.'] }]);
  });

  it('after 90 days a name is looked at weekly while it points here, and no more when it does not', async () => {
    said = 'referral ns1.example.net';
    await ended('shop.example.', 91);
    await until(async () => (await dueIn('shop.example.')) === 7, 'it is due in a week');
    said = 'nodata';
    await sql`update swept_names set due_at = now()`.execute(database.db);
    await until(async () => (await dueIn('shop.example.')) === undefined, 'it is forgotten');
    expect(asked).toHaveLength(2);
  });

  it('a silent parent changes nothing', async () => {
    said = 'timeout';
    await ended('shop.example.', 2);
    await until(async () => (await dueIn('shop.example.')) === 1, 'the name was looked at');
    expect(await sightings()).toEqual([]);
  });

  it('a name that is a domain’s again is looked at by that domain’s checks alone', async () => {
    said = 'referral ns1.example.net';
    await newDomain(database.db, me, 'shop.example.');
    await ended('shop.example.', 2);
    await until(async () => (await dueIn('shop.example.')) === 1, 'the name was passed over');
    expect(asked).toEqual([]);
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
      db: database.db,
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
    return {
      anchors,
      clock,
      told,
      troubles,
      looks,
      tags,
      see: (next: RootKeys | Error | undefined) => (seen = next),
    };
  }

  it('a key that was seen for 30 days is trusted, and one that was revoked is not', async () => {
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
    } finally {
      await anchors.stop();
    }
  });

  it('another worker trusts what one has seen', async () => {
    const first = watch();
    first.anchors.start();
    await until(() => first.told.length === 2, 'it has looked');
    first.see({ present: undefined, revoked: [OLD.rdata] });
    first.clock.now += DAY;
    await until(() => first.tags().length === 0, 'the key is revoked');
    await first.anchors.stop();
    const second = watch();
    second.see(undefined);
    second.anchors.start();
    await until(() => second.tags().length === 0, 'the other knows');
    await second.anchors.stop();
  });

  it('looks once a day, and again when nothing validated', async () => {
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

  it('follows nothing without anchors', async () => {
    const { anchors, looks, tags } = watch([]);
    anchors.start();
    await new Promise((resolve) => setTimeout(resolve, 30));
    await anchors.stop();
    expect([looks, tags()]).toEqual([[], []]);
  });
});

describe('watch-pool', () => {
  // The watch over the nameserver pool, with a resolver that is told what it sees.
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
    await migrate(database.db, TEST_SETTINGS);
    worker = openDatabase(asRole(database.url, 'zonefleet_worker'));
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
});
