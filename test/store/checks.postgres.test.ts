import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import type { Evidence } from '../../src/checks/delegation/evidence.ts';
import { parseName, ROOT } from '../../src/dns/name.ts';
import { findCheckByRequest, loadCheck, waitForCheck } from '../../src/store/checks/check-runs.ts';
import { addSlotTime } from '../../src/store/checks/check-shares.ts';
import {
  type ClaimPlace,
  claimDueDomains,
  claimStatement,
} from '../../src/store/checks/claim-due-domains.ts';
import {
  giveBackManualCheck,
  hastenNames,
  hastenWaiting,
  takeManualCheck,
  undoManualCheck,
} from '../../src/store/checks/manual-check.ts';
import { takeAskedNames } from '../../src/store/checks/take-asked-names.ts';
import { loadDomainById } from '../../src/store/domains/load-domains.ts';
import { reportAskedZones } from '../../src/store/feed/report-counts.ts';
import { type Connection, connect } from '../../src/store/postgres/connection.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { asRole, databaseNow } from '../support/database/database.ts';
import { newAccount, newDomain } from '../support/database/domains.ts';
import { checkOnce, judgedCheck, judgedOrder, saveOne } from '../support/database/saved-checks.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { DS } from '../support/world/check-evidence.ts';
import { evidenceOf, makeCheck } from '../support/world/made-checks.ts';

const { db, url, query, value, column } = sharedDatabase();

describe('claim-due-domains', () => {
  let me: number;

  beforeEach(async () => {
    me = await newAccount(db, 'me@example.org');
  });

  /** Adds this many domains of each parent. The first is due first, all within the last `seconds`. */
  const add = async (
    parents: number,
    each: number,
    seconds = 60,
    { accountId = me, suffix = '', checked = true } = {},
  ): Promise<void> => {
    await query`
      with made as (
        insert into zones (name, kind, version, mark, records)
        select 'd' || d || '.p' || lpad(p::text, 4, '0') || '.' || ${suffix}, 'domain', 0, 0, 0
        from generate_series(1, ${parents}::integer) p, generate_series(1, ${each}::integer) d
        returning id, name),
      domain as (
        insert into domains (account_id, name, unicode, zone_id, dns_mode, status, served, serial, answers_generation,
          created_at, updated_at)
        select ${accountId}::bigint, name, name, id, 'managed', 'active', 'full', 1, 1, now(), now() from made returning id, name)
      insert into domain_checks (domain_id, account_id, parent, due_at, last_run_id)
      select id, ${accountId}::bigint, substr(name, position('.' in name) + 1),
        now() - make_interval(secs => ${seconds}) + make_interval(secs => substr(split_part(name, '.', 1), 2)::integer * 0.001),
        case when ${checked}::boolean then id end
      from domain`;
  };
  const claim = async (after?: ClaimPlace, limit = 10, perParent = 3, lightOnly = false) =>
    await claimDueDomains(db, { limit, perParent, after, leaseSeconds: 120, lightOnly });
  const namesOf = (ids: readonly { readonly id: number }[]) => column<string>`
      select d.name from domains d join domain_checks c on c.domain_id = d.id
      where d.id = any(${ids.map(({ id }) => id)}::bigint[]) order by c.parent, d.name`;

  test('the earliest domain of each parent of an account is claimed in turn, until none is due', async () => {
    await add(4, 5);
    const first = await claim();
    expect(await namesOf(first.domains)).toEqual([
      ...['1', '2', '3'].map((d) => `d${d}.p0001.`),
      ...['1', '2', '3'].map((d) => `d${d}.p0002.`),
      ...['1', '2'].map((d) => `d${d}.p0003.`),
      ...['1', '2'].map((d) => `d${d}.p0004.`),
    ]);
    expect(first.after).toBeUndefined();
    expect(first.domains[0]).toEqual({ id: expect.any(Number), accountId: me, isFirst: false, slotMs: 0 });
    expect((await claim()).domains).toHaveLength(10);
    expect((await claim()).domains).toEqual([]);
  });

  test('an account with very many domains does not delay others: accounts take turns, least recent use first', async () => {
    const [small, busy] = [
      await newAccount(db, 'small@example.org'),
      await newAccount(db, 'busy@example.org'),
    ];
    await add(1, 500, 3600);
    await add(1, 3, 60, { accountId: small, suffix: 's.' });
    await add(1, 3, 7200, { accountId: busy, suffix: 'b.' });
    await addSlotTime(db, [
      { accountId: me, slotMs: 500 },
      { accountId: busy, slotMs: 30_000 },
    ]);
    const accounts = ({ domains }: Awaited<ReturnType<typeof claim>>) =>
      domains.map(({ accountId }) => accountId);
    expect(accounts(await claim(undefined, 4))).toEqual([small, me, small, me]);
    // while the queue is full, only accounts with little recent use
    expect(accounts(await claim(undefined, 6, 3, true))).toEqual([small, me, me, me]);
    expect(accounts(await claim(undefined, 600, 600)).filter((id) => id === busy)).toHaveLength(3);
  });

  test('a domain that was never checked comes before the others of its account', async () => {
    await add(3, 50, 3600);
    await add(1, 2, 1, { suffix: 'new.', checked: false });
    const { domains } = await claim(undefined, 4);
    expect(domains.map(({ isFirst }) => isFirst)).toEqual([true, true, false, false]);
    expect(
      await query`
      select count(*)::integer as firsts from domain_checks where last_run_id is null and due_at > now()`,
    ).toEqual([{ firsts: 2 }]);
  });

  test('a claim is a lease: an unsaved domain is due again when the lease ends', async () => {
    await add(1, 2);
    await add(2, 1, -3600).catch(() => {}); // the names are taken
    const before = await databaseNow(db);
    const { domains } = await claim();
    expect(domains).toHaveLength(2);
    expect(
      await query`
      select due_at between ${before}::timestamptz + interval '2 minutes' and now() + interval '2 minutes' as within
      from domain_checks`,
    ).toEqual([{ within: true }, { within: true }]);
    await query`update domain_checks set due_at = due_at - interval '3 minutes'`;
    expect((await claim()).domains).toHaveLength(2);
    await query`update domain_checks set due_at = null`;
    expect((await claim()).domains).toEqual([]);
  });

  test('each domain is claimed by one of several processes, and locked domains by none', async () => {
    await add(5, 40);
    await db.transaction().execute(async (trx) => {
      await sql`select from domain_checks c join domains d on d.id = c.domain_id where d.name = 'd1.p0001.' for update of c`.execute(
        trx,
      );
      const claimed = (
        await Promise.all(Array.from({ length: 8 }, () => claim(undefined, 500, 500)))
      ).flatMap((c) => c.domains);
      expect(claimed).toHaveLength(199);
      expect(new Set(claimed.map(({ id }) => id)).size).toBe(199);
    });
    expect(await namesOf((await claim()).domains)).toEqual(['d1.p0001.']);
  });

  test('a limited number of domains is claimed per round from very many parents', async () => {
    await add(3100, 1);
    const first = await claim(undefined, 5000);
    expect(first.domains).toHaveLength(3000);
    expect(first.after).toEqual({ accountId: me, parent: 'p3000.' });
    expect(await claim(first.after, 5000)).toMatchObject({ domains: { length: 100 }, after: undefined });
  });

  test('uses indexes and scans no table, regardless of the planner’s estimates', async () => {
    await add(40, 100, 0);
    for (const due of ['0.03', '0.00001', '1']) {
      await query`update domain_checks set due_at = now() + (random() - ${due}::float8) * interval '1 day'`;
      await query`analyze domain_checks`;
      for (const after of [undefined, { accountId: me, parent: 'p0007.' }]) {
        const rows = await query<{ 'QUERY PLAN': string }>`
          explain ${claimStatement({ limit: 500, perParent: 20, after, leaseSeconds: 120 })}`;
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).toMatch(/Index Scan using domain_checks_due_2/);
        expect(plan).toMatch(/Index (Only )?Scan using domain_checks_new/);
        // The picked ids: after a vacuum the planner may read them through a bitmap of the same index.
        expect(plan).toMatch(/Index Scan (using|on) domain_checks_pkey/);
        expect(plan).not.toMatch(/Seq Scan on domain_checks|Bitmap Index Scan on domain_checks_(due|new)/);
      }
    }
  });
});

describe('hasten-checks', () => {
  let id: number;
  beforeEach(async () => {
    ({ id } = await newDomain(db, await newAccount(db, 'a@example.org')));
  });

  /** Schedules the next check in `seconds`, with this status and number of misses. */
  async function plan(seconds: number, status = 'pending', misses = 0): Promise<void> {
    await query`update domains set status = ${status} where id = ${id}`;
    const at = sql`now() + make_interval(secs => ${seconds})`;
    await query`update domain_checks set due_at = ${at}, next_at = ${at}, miss_count = ${misses}
    where domain_id = ${id}`;
  }

  /** Returns true if the next check comes within these seconds. */
  async function comesWithin(seconds: number): Promise<boolean> {
    return (
      (await value<boolean>`
    select next_at <= now() + make_interval(secs => ${seconds}) and due_at = next_at as is
    from domain_checks where domain_id = ${id}`) === true
    );
  }

  it.each([
    ['pending', 0, true],
    ['moved', 0, true],
    ['active', 1, true],
    ['active', 0, false],
  ])('a domain that is %s with %i misses: hastened %s', async (status, misses, isHastened) => {
    await plan(3600, status, misses);
    await hastenWaiting(db, 45);
    expect(await comesWithin(45)).toBe(isHastened);
  });

  it('hastens by name in any status, but not checks that come sooner, wait or are running', async () => {
    const name = await value<string>`select name from domains where id = ${id}`;
    await plan(3600, 'active');
    await hastenNames(db, ['other.test.'], 15);
    expect(await comesWithin(3599)).toBe(false);
    await hastenNames(db, [name ?? ''], 15);
    expect(await comesWithin(15)).toBe(true);
    await plan(10);
    await hastenWaiting(db, 45);
    expect(await comesWithin(10)).toBe(true);
    await query`update domain_checks set due_at = now() + interval '1 hour', next_at = now() - interval '1 s'`;
    await hastenWaiting(db, 45);
    expect(
      await query`select 1 from domain_checks where next_at < now() and due_at > now() + interval '50 min'`,
    ).toHaveLength(1);
  });
});

describe('load-checks', () => {
  const REQUEST = '5f0c7d0a-1111-4222-8333-444455556666';
  let domainId: number;

  beforeEach(async () => {
    domainId = (await newDomain(db, await newAccount(db, 'me@example.org'))).id;
  });

  const save = async (evidence: Partial<Evidence>, request?: string) => {
    const order = await judgedCheck(db, domainId, 'timeout', {
      kind: 'manual',
      ...(request !== undefined && { request }),
    });
    const [own] = order.orders;
    const saved = await saveOne(db, {
      ...order,
      orders: [{ ...own, evidence: { ...own.evidence, ...evidence } }],
    });
    if (saved.kind !== 'saved') throw new Error(saved.kind);
    return saved.checkId;
  };

  test('loads saved evidence unchanged: any octet in a name, every outcome, a failed walk', async () => {
    const odd = parseName('\\000\\.\\255.com.');
    const { evidence } = await judgedOrder(
      db,
      domainId,
      'referral ns1.example.net +ds; timeout; refused; lame',
    );
    const full: Evidence = {
      ...evidence,
      walk: [{ zone: ROOT, servers: [odd], cached: true }],
      servers: evidence.servers.map((server, i) =>
        i === 0
          ? { ...server, ns: [odd], ds: [DS], ttl: 172_800, rcode: 0, aa: false, transport: 'tcp' as const }
          : { ...server, rttMs: undefined, error: 'no answer' },
      ),
    };
    const failed: Evidence = {
      ...evidence,
      parent: undefined,
      servers: [],
      parentAddresses: 0,
      failure: { zone: odd, reason: 'lame', message: 'none of them serves it' },
    };
    for (const seen of [full, failed]) {
      const id = await save(seen);
      expect((await loadCheck(db, domainId, id))?.evidence).toEqual(seen);
    }
  });

  test('finds a run by its request, and by id only in its domain', async () => {
    const id = await save({}, REQUEST);
    expect(await findCheckByRequest(db, REQUEST)).toMatchObject({ id, kind: 'manual', domainId });
    expect(await findCheckByRequest(db, REQUEST.replace('5', '6'))).toBeUndefined();
    expect(await loadCheck(db, domainId + 1, id)).toBeUndefined();
    expect(await loadCheck(db, domainId, id + 1)).toBeUndefined();
  });

  test('stores a limited part of what a zone sends', async () => {
    const many = Array.from({ length: 500 }, (_, i) => `ns${i}.elsewhere.test`).join(' ');
    const saved = await checkOnce(db, domainId, `referral ${many}`);
    if (saved.kind !== 'saved') throw new Error(saved.kind);
    const run = await loadCheck(db, domainId, saved.checkId);
    expect(run?.currentNs).toHaveLength(64);
    expect(run?.evidence?.servers[0]).toMatchObject({ error: '436 more names were discarded' });
    expect(run?.evidence?.servers[0]?.ns).toHaveLength(64);
    const texts = (await loadDomainById(db, domainId))?.findings.map(({ message }) => message.length) ?? [];
    expect(Math.max(...texts)).toBe(2000);
  });

  test('stores checks whose texts Postgres cannot store unchanged', async () => {
    const { evidence } = await judgedOrder(db, domainId, 'bad');
    const servers = evidence.servers.map((server) => ({ ...server, error: 'a\0b\ud800c' }));
    const id = await save({ servers });
    expect((await loadCheck(db, domainId, id))?.evidence?.servers[0]?.error).toBe('a?b?c');
  });
});

describe('take-asked-names', () => {
  const NOTHING = { due: 0, later: 0, ignored: 0 };
  let workers: Database;
  let node: Connection;
  let accountId: number;

  beforeEach(async () => {
    workers = openDatabase(asRole(url, 'zonefleet_worker'), { maxConnections: 2 });
    node = await connect(asRole(url, 'zonefleet_node'), { applicationName: 'test' });
    accountId = await newAccount(db, 'me@example.org');
  });
  afterEach(async () => {
    await node.close();
    await workers.destroy();
  });

  /** Pending, answered completely, checked before, and not due for hours. */
  async function waiting(name: string): Promise<{ readonly id: number; readonly zoneId: number }> {
    const { id } = await newDomain(db, accountId, name);
    await query`
      update domain_checks set due_at = now() + interval '6 hours', next_at = now() + interval '6 hours'
      where domain_id = ${id}`;
    const rows = await query<{ zoneId: number }>`select zone_id as "zoneId" from domains where id = ${id}`;
    return { id, zoneId: (rows[0] as { zoneId: number }).zoneId };
  }
  const report = (...zones: readonly { readonly zoneId: number }[]) =>
    reportAskedZones(
      node,
      zones.map(({ zoneId }) => zoneId),
    );
  const take = () => takeAskedNames(workers);
  /** Returns when the check is scheduled, in seconds, and whether the scheduler would claim it. */
  async function planOf({ id }: { readonly id: number }) {
    return (
      await query<{ askedIn: number | null; isDue: boolean; isPlanned: boolean }>`
      select extract(epoch from asked_due_at - now())::float8 as "askedIn", due_at <= now() as "isDue",
        next_at <= now() as "isPlanned" from domain_checks where domain_id = ${id}`
    )[0] as { askedIn: number | null; isDue: boolean; isPlanned: boolean };
  }
  /** Simulates that the domain's check was saved this long ago. */
  const checked = ({ id }: { readonly id: number }, secondsAgo: number) =>
    query`
      update domain_checks set due_at = now() + interval '6 hours', next_at = now() + interval '6 hours',
        asked_at = now() - make_interval(secs => ${secondsAgo}) where domain_id = ${id}`;

  test('a queried name is due immediately, and only once if several nodes report it', async () => {
    const [one, other] = [await waiting('one.example.'), await waiting('other.example.')];
    expect(await report(one)).toEqual([]);
    expect(await report(one)).toEqual([]);
    expect(await take()).toEqual({ ...NOTHING, due: 1 });
    expect(await planOf(one)).toEqual({ askedIn: null, isDue: true, isPlanned: true });
    expect(await planOf(other)).toMatchObject({ isDue: false });
    expect(await take()).toEqual(NOTHING);
  });

  test('a repeated query waits half a minute, or five minutes if its account has used its share', async () => {
    const name = await waiting('one.example.');
    await checked(name, 10);
    await report(name);
    expect(await take()).toEqual({ ...NOTHING, later: 1 });
    expect((await planOf(name)).askedIn).toBeCloseTo(20, -1);
    expect(await planOf(name)).toMatchObject({ isDue: false });
    await query`update check_shares set asked_again = 100`;
    const next = await waiting('next.example.');
    await checked(next, 10);
    await report(next);
    await take();
    expect((await planOf(next)).askedIn).toBeGreaterThan(200);
    // Once its account has a share again, it is due earlier.
    await query`update check_shares set asked_again = 0`;
    await report(next);
    await take();
    expect((await planOf(next)).askedIn).toBeLessThan(30);
  });

  test('ten names of one account that are queried again get six checks', async () => {
    const names: Awaited<ReturnType<typeof waiting>>[] = [];
    for (let i = 0; i < 10; i++) names.push(await waiting(`n${i}.example.`));
    for (const name of names) await checked(name, 60);
    await report(...names);
    expect(await take()).toEqual({ ...NOTHING, due: 6, later: 4 });
    expect(await query`select asked_again as again from check_shares`).toEqual([{ again: 6 }]);
  });

  test('a scheduled check becomes due at its time', async () => {
    const name = await waiting('one.example.');
    await checked(name, 10);
    await report(name);
    await take();
    await query`update domain_checks set asked_due_at = now() where domain_id = ${name.id}`;
    expect(await take()).toEqual({ ...NOTHING, due: 1 });
  });

  test('a scheduled check is cancelled if the name is proved in the meantime', async () => {
    const name = await waiting('one.example.');
    await checked(name, 10);
    await report(name);
    await take();
    await query`update domains set status = 'active' where id = ${name.id}`;
    await query`update domain_checks set asked_due_at = now() where domain_id = ${name.id}`;
    expect(await take()).toEqual(NOTHING);
    expect(await planOf(name)).toMatchObject({ isDue: false, askedIn: null });
  });

  test('while a check waits or runs, the next one waits until it is saved', async () => {
    const name = await waiting('one.example.');
    await query`update domain_checks set next_at = now() - interval '1 second' where domain_id = ${name.id}`;
    await report(name);
    expect(await take()).toEqual(NOTHING);
    expect(await planOf(name)).toMatchObject({ isDue: false, askedIn: expect.any(Number) });
    await query`update domain_checks set next_at = now() + interval '1 minute' where domain_id = ${name.id}`;
    expect(await take()).toEqual({ ...NOTHING, due: 1 });
  });

  test('a query before the newest check causes no further check', async () => {
    const name = await waiting('one.example.');
    await report(name);
    await checked(name, -1);
    await take();
    expect(await planOf(name)).toMatchObject({ isDue: false, askedIn: null });
  });

  test('names that do not wait, or of which only the apex is answered, are ignored', async () => {
    const names = [await waiting('one.example.'), await waiting('other.example.')] as const;
    await query`update domains set status = 'active' where id = ${names[0].id}`;
    await query`update domains set served = 'apex' where id = ${names[1].id}`;
    await report(...names);
    await reportAskedZones(node, [2 ** 40]);
    expect(await take()).toEqual({ ...NOTHING, ignored: 3 });
    for (const name of names) expect(await planOf(name)).toMatchObject({ isDue: false });
  });
});

describe('take-manual-check', () => {
  // One check per hour, for one of several concurrent callers.
  const HOUR_MS = 3_600_000;
  let id: number;

  beforeEach(async () => {
    ({ id } = await newDomain(db, await newAccount(db, 'a@example.org')));
  });

  const last = async () => (await loadDomainById(db, id))?.lastManualNsCheckAt ?? null;

  test('the next check may be taken an hour later', async () => {
    const begun = new Date('2026-05-01T12:00:00.123Z');
    const takeAt = (ms: number) => takeManualCheck(db, id, new Date(begun.getTime() + ms));
    expect(await takeAt(0)).toEqual({ kind: 'taken', taken: begun, previous: null });
    expect(await last()).toEqual(begun);
    expect(await takeAt(1)).toEqual({ kind: 'limited', retryAfterSeconds: 3600 });
    expect(await takeAt(HOUR_MS - 1)).toEqual({ kind: 'limited', retryAfterSeconds: 1 });
    expect(await takeAt(HOUR_MS)).toMatchObject({ kind: 'taken', previous: begun });
  });

  test('only one of several concurrent callers gets it, by the database’s clock', async () => {
    const before = await databaseNow(db);
    const taken = await Promise.all(Array.from({ length: 8 }, () => takeManualCheck(db, id)));
    const [won, ...rest] = taken.filter(({ kind }) => kind === 'taken');
    expect(rest).toEqual([]);
    expect(
      await query`
      select ${won?.kind === 'taken' ? won.taken : null} 
        between date_trunc('milliseconds', ${before}::timestamptz) and now() as is`,
    ).toEqual([{ is: true }]);
    const waits = taken.flatMap((one) => (one.kind === 'limited' ? [one.retryAfterSeconds] : []));
    expect(waits).toHaveLength(7);
    expect(waits.every((seconds) => seconds > 3500 && seconds <= 3600)).toBe(true);
  });

  test('a refunded check can be taken again immediately, but a later check is not refunded by an earlier caller', async () => {
    const first = await takeManualCheck(db, id);
    if (first.kind !== 'taken') throw new Error(first.kind);
    await giveBackManualCheck(db, id, first);
    expect(await last()).toBeNull();
    const at = new Date(first.taken.getTime() + 5);
    expect(await takeManualCheck(db, id, at)).toMatchObject({ kind: 'taken', previous: null });
    await giveBackManualCheck(db, id, first);
    expect(await last()).toEqual(at);
    const third = await takeManualCheck(db, id, new Date(at.getTime() + HOUR_MS));
    if (third.kind !== 'taken') throw new Error(third.kind);
    await giveBackManualCheck(db, id, third);
    expect(await last()).toEqual(at);
  });

  test('is refunded without a limit if no worker received it', async () => {
    for (let i = 0; i < 5; i++) {
      const taken = await takeManualCheck(db, id);
      if (taken.kind !== 'taken') throw new Error(taken.kind);
      await undoManualCheck(db, id, taken);
      expect(await last()).toBeNull();
    }
  });

  test('is refunded twice per day', async () => {
    const begun = new Date('2026-05-01T12:00:00.000Z').getTime();
    const tryAt = async (ms: number) => {
      const taken = await takeManualCheck(db, id, new Date(begun + ms));
      if (taken.kind !== 'taken') return taken.kind;
      await giveBackManualCheck(db, id, taken);
      return (await last())?.getTime() === taken.taken.getTime() ? 'kept' : 'given back';
    };
    expect([await tryAt(0), await tryAt(1000), await tryAt(2000), await tryAt(3000)]).toEqual([
      'given back',
      'given back',
      'kept',
      'limited',
    ]);
    expect(await tryAt(20 * HOUR_MS)).toBe('kept');
    expect([await tryAt(25 * HOUR_MS), await tryAt(25 * HOUR_MS + 1), await tryAt(25 * HOUR_MS + 2)]).toEqual(
      ['given back', 'given back', 'kept'],
    );
  });
});

describe('wait-for-check', () => {
  let domainId: number;
  beforeEach(async () => {
    domainId = (await newDomain(db, await newAccount(db, 'ann@shop.example'))).id;
  });

  const never = new AbortController().signal;
  const make = (request: string) =>
    makeCheck(db, { domainId, request }, (domain) => evidenceOf(domain, 'nxdomain'));

  it('returns only the run that was saved with the request', async () => {
    const request = randomUUID();
    await make(randomUUID());
    const waited = waitForCheck(db, request, { timeoutMs: 20_000, signal: never });
    await make(randomUUID());
    const mine = await make(request);
    expect(mine.kind).toBe('saved');
    expect(await waited).toMatchObject({
      domainId,
      verdict: 'unregistered',
      id: mine.kind === 'saved' && mine.checkId,
    });
  });
});
