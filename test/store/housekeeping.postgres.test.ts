import { sql } from 'kysely';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { RETENTION_OF_FEATURES } from '../../src/features/every-feature.ts';
import { cancelTopup, creditTopup, orderTopup } from '../../src/features/money/sql-payments.ts';
import {
  digestOf,
  type KeepRules,
  runOnce,
  type StoredResponse,
} from '../../src/store/accounts/kept-answers.ts';
import { deleteDomain } from '../../src/store/change/save-domain.ts';
import { purgeOld } from '../../src/store/housekeeping/keep-house.ts';
import { purgeFeed, purgeIdempotency } from '../../src/store/housekeeping/purges.ts';
import { deleteOld, RETENTION } from '../../src/store/housekeeping/retention.ts';
import { makeLink } from '../../src/store/people/credentials.ts';
import { orderMail } from '../../src/store/people/mails.ts';
import { openSession } from '../../src/store/people/sessions.ts';
import { noteFailure, rememberDevice } from '../../src/store/people/sign-in-attempts.ts';
import { createInvite } from '../../src/store/sharing/invites.ts';
import { loadZone } from '../../src/store/zones/load-zones.ts';
import { saveZones, unloadZones } from '../../src/store/zones/save-zones.ts';
import { BY, newAccount, newDomain } from '../support/database/domains.ts';
import { smallZone } from '../support/processes/follow.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';

const { db, query, value, column } = sharedDatabase();

describe('keep-house', () => {
  /** Purges as if the last purge was this many minutes ago. */
  const purge = async (minutes = 61) => {
    await query`update feed set purged_at = clock_timestamp() - make_interval(mins => ${minutes}::integer)`;
    await purgeOld(db, RETENTION_OF_FEATURES);
  };

  it('deletes old changes at most once per hour for all processes, without making writers wait', async () => {
    await saveZones(db, [smallZone('a.example.', 1)], { source: 'test' });
    await query`update changes set at = at - interval '8 days'`;
    const changes = async () => (await db.selectFrom('changes').selectAll().execute()).length;
    await purge(59);
    expect(await changes()).toBe(1);
    await query`update feed set purged_at = clock_timestamp() - interval '61 minutes'`;
    await saveZones(db, [smallZone('b.example.', 1)], { source: 'test' });
    expect(await changes()).toBe(2);
    await purge();
    expect(await changes()).toBe(1);
  });

  it('deletes sightings, rights and holders after two years, and takeovers after 90 days', async () => {
    const accountId = await newAccount(db, 'a@example.org');
    const old = '731 days';
    const young = '729 days';
    const seen = async (name: string, ago: string) => {
      await query`insert into ns_sightings (name, names, first_seen_at, last_seen_at)
      values (${name}, '{ns1.example.net.}', now() - interval '3 years', now() - ${ago}::interval)`;
    };
    const right = async (name: string) => {
      await query`insert into ns_rights (name, names, account_id, exclusive, made_at)
      values (${name}, '{ns1.example.net.,ns2.example.net.}', ${accountId}, true, now() - interval '3 years')`;
    };
    await seen('gone.test.', old);
    await seen('seen.test.', young);
    for (const name of ['gone.test.', 'seen.test.', 'live.test.', 'left.test.']) await right(name);
    await newDomain(db, accountId, 'live.test.');
    const left = await newDomain(db, accountId, 'left.test.');
    await deleteDomain(db, { ...BY, domainId: left.id });
    await query`insert into name_holders (name, account_id, active_at)
    values ('a.test.', ${accountId}, now() - ${old}::interval), ('b.test.', ${accountId}, now() - ${young}::interval)`;
    await query`insert into name_takeovers (name, at, from_account_id, to_account_id)
    values ('a.test.', now() - interval '91 days', 1, 2), ('b.test.', now() - interval '89 days', 1, 2)`;
    await purge();
    const names = async (table: 'ns_sightings' | 'ns_rights' | 'name_holders' | 'name_takeovers') =>
      (await db.selectFrom(table).select('name').distinct().orderBy('name').execute()).map(
        ({ name }) => name,
      );
    expect(await names('ns_sightings')).toEqual(['seen.test.']);
    expect(await names('ns_rights')).toEqual(['left.test.', 'live.test.', 'seen.test.']);
    expect(await names('name_holders')).toEqual(['b.test.']);
    expect(await names('name_takeovers')).toEqual(['b.test.']);
  });

  it('deletes invites and their links 90 days after they expire, and counts of sent invites', async () => {
    const accountId = await newAccount(db, 'a@example.org');
    const { id: domainId } = await newDomain(db, accountId);
    const inviter = { sharer: { accountId, isAdmin: false }, mails: true };
    for (const email of ['old@b.example', 'new@b.example'])
      await createInvite(db, { domainId, email, role: 'viewer', inviter });
    await query`update invites set expires_at = expires_at - interval '98 days' where email = 'old@b.example'`;
    await query`update invite_windows set ends_at = clock_timestamp() where subject like 'domain:%'`;
    await purge();
    expect(
      await query`
    select array(select email from invites) as invites, (select count(*) from invite_tokens)::integer as tokens,
      (select count(*) from mails)::integer as mails,
      (select count(*) from invite_windows where subject like 'domain:%')::integer as counts,
      (select count(*) from invite_windows where subject like 'account:%')::integer as others`,
    ).toEqual([{ invites: ['new@b.example'], tokens: 1, mails: 1, counts: 0, others: 1 }]);
  });

  it('deletes only expired sessions, links, browsers, failures and mails', async () => {
    const accountId = await newAccount(db, 'a@example.org');
    const session = { accountId, carrier: 'cookie', address: '192.0.2.1', userAgent: undefined } as const;
    const count = () => value<number[]>`
      select array[(select count(*) from sessions), (select count(*) from account_links),
        (select count(*) from account_devices), (select count(*) from sign_in_failures),
        (select count(*) from mails)]::integer[] as counts`;
    for (let i = 0; i < 2; i++) {
      await openSession(db, session);
      await makeLink(db, { kind: 'reset', accountId });
      await rememberDevice(db, accountId);
      await orderMail(db, 'reset', 'a@example.org');
      await noteFailure(db, `key ${i}`, (_before, now) => ({
        count: 1,
        windowEndsAt: new Date(now.getTime() + 900_000),
        blocks: 0,
        blockedUntil: null,
      }));
    }
    const first = (table: string) => `where ctid = (select min(ctid) from ${table})`;
    for (const [table, change] of [
      ['sessions', "used_at = used_at - interval '32 days'"],
      ['account_links', "expires_at = expires_at - interval '1 hour'"],
      ['account_devices', "used_at = used_at - interval '401 days'"],
      ['sign_in_failures', "kept_until = kept_until - interval '1 hour'"],
      ['mails', "created_at = created_at - interval '2 days'"],
    ] as const)
      await sql.raw(`update ${table} set ${change} ${first(table)}`).execute(db);
    await query`update feed set purged_at = clock_timestamp() - interval '61 minutes'`;
    expect(await count()).toEqual([2, 2, 2, 2, 2]);
    await purgeOld(db, RETENTION_OF_FEATURES);
    expect(await count()).toEqual([1, 1, 1, 1, 1]);
  });

  it('deletes unpaid top-ups 90 days after they expire, and keeps paid ones', async () => {
    const accountId = await newAccount(db, 'a@example.org');
    const topup = async (expiredDays: number) => {
      const ordered = await orderTopup(db, { accountId, gateway: 'manual', amountRials: 50_000 });
      if (ordered.kind !== 'ordered') throw new Error(ordered.kind);
      const { id } = ordered.payment;
      return {
        id,
        expire: () =>
          query`
          update payments set expires_at = clock_timestamp() - make_interval(days => ${expiredDays}::integer, mins => 1)
          where id = ${id}`,
      };
    };
    const [old, young, paid, cancelled] = [
      await topup(90),
      await topup(89),
      await topup(400),
      await topup(90),
    ];
    expect((await creditTopup(db, { id: paid.id })).kind).toBe('credited');
    expect((await cancelTopup(db, { accountId, id: cancelled.id })).kind).toBe('cancelled');
    const open = await topup(-1);
    for (const each of [old, young, paid, cancelled, open]) await each.expire();
    await purge();
    expect(await column<number>`select id from payments order by id`).toEqual([young.id, paid.id, open.id]);
  });

  it('deletes tickets and their messages 400 days after they were closed, and keeps open ones', async () => {
    const accountId = await newAccount(db, 'a@example.org');
    for (const [subject, status, days] of [
      ['old', 'closed', 400],
      ['young', 'closed', 399],
      ['open', 'open', 4000],
      ['answered', 'answered', 4000],
    ] as const)
      await query`
      with made as (
        insert into tickets (account_id, subject, status, priority, updated_at, messages)
        values (${accountId}, ${subject}, ${status}, false,
          clock_timestamp() - make_interval(days => ${days}::integer, mins => 1), 1) returning id)
      insert into ticket_messages (ticket_id, is_staff, account_id, message)
      select id, false, ${accountId}, ${subject} from made`;
    await purge();
    const rows = await query`
    select array(select subject from tickets order by id) as tickets,
      array(select message from ticket_messages order by id) as messages`;
    const kept = ['young', 'open', 'answered'];
    expect(rows).toEqual([{ tickets: kept, messages: kept }]);
  });
});

describe('purge-feed', () => {
  const BY = { source: 'test' } as const;

  async function age(days: number): Promise<void> {
    await query`update changes set at = at - make_interval(days => ${days})`;
    await query`update zones set deleted_at = deleted_at - make_interval(days => ${days})`;
  }

  test('deletes changes, tombstones and deleted zones older than the retention, and stores the purge positions', async () => {
    await saveZones(db, [smallZone('a.example.', 1, 'x A 192.0.2.1'), smallZone('b.example.', 1)], BY);
    const [old] = await saveZones(db, [smallZone('a.example.', 1)], BY);
    await unloadZones(db, [parseName('b.example.')], BY);
    await age(8);
    const [young] = await saveZones(db, [smallZone('a.example.', 1, 'y A 192.0.2.1')], BY);
    const [gone] = await saveZones(db, [smallZone('a.example.', 1)], BY);
    expect(await purgeFeed(db, 7)).toEqual({ changes: 4 });
    const left = await db.selectFrom('changes').select('id').orderBy('id').execute();
    expect(left.map((row) => row.id)).toEqual([young?.version, gone?.version]);
    expect(await query`select version from zone_records where removed`).toEqual([{ version: gone?.version }]);
    const zones = await db.selectFrom('zones').select(['name', 'complete_since']).execute();
    expect(zones).toEqual([{ name: 'a.example.', complete_since: old?.version }]);
    expect(
      await query`
      select purged_xid > '0'::xid8 and purged_xid < (select min(xid::text::bigint)::text::xid8 from changes) as ok
      from feed`,
    ).toEqual([{ ok: true }]);
    expect((await loadZone(db, parseName('a.example.')))?.records).toHaveLength(3);
  });

  test('a purge does not wait for a writer, and deletes nothing that the writer revives', async () => {
    await saveZones(db, [smallZone('a.example.', 1, 'x A 192.0.2.1')], BY);
    await saveZones(db, [smallZone('a.example.', 1)], BY);
    await age(8);
    await db.transaction().execute(async (trx) => {
      await sql`select from zones for update`.execute(trx);
      await purgeFeed(db, 7);
    });
    expect(
      await db.selectFrom('zone_records').selectAll().where('removed', '=', true).execute(),
    ).toHaveLength(1);
    await saveZones(db, [smallZone('a.example.', 1, 'x A 192.0.2.1')], BY);
    await age(8);
    await purgeFeed(db, 7);
    expect((await loadZone(db, parseName('a.example.')))?.records).toHaveLength(4);
  });
});

describe('purge-idempotency', () => {
  const RULES: KeepRules = { answerBytes: 1000, accountBytes: 4000 };
  const PURGE = { keptDays: 30, accountBytes: RULES.accountBytes, rows: 1000 };

  let accountId: number;
  let done: string[];

  beforeEach(async () => {
    accountId = await newAccount(db, 'a@example.org');
    done = [];
  });

  const ask = (
    key: string,
    response: Partial<StoredResponse & { rest: unknown }> = {},
    account = accountId,
  ) =>
    runOnce(
      db,
      { accountId: account, key, method: 'POST', path: '/', bodyHash: new Uint8Array(32) },
      async () => {
        done.push(key);
        return { status: 200, headers: { 'X-Change-Id': '7' }, body: { key }, ...response };
      },
      RULES,
    );
  const text = (bytes: number) => 'x'.repeat(bytes);

  /** Returns the stored bytes, and checks the account's total. */
  async function keptBytes(account = accountId): Promise<number> {
    const rows = await query<{ stored: number; noted: number; total: number }>`
      select coalesce(sum(octet_length(response::text)) filter (where octets > 0), 0)::bigint as stored,
        coalesce(sum(octets), 0)::bigint as noted,
        coalesce((select octets from idempotency_octets where account_id = ${account}), 0) as total
      from idempotency_keys where account_id = ${account}`;
    const { stored, noted, total } = rows[0] as { stored: number; noted: number; total: number };
    expect([stored, noted]).toEqual([total, total]);
    return total;
  }

  test('a large response is stored as digest, change and the data to rebuild it', async () => {
    const body = { list: text(1000) };
    expect(await ask('a', { body, rest: { n: 1 } })).toMatchObject({ kind: 'response', replayed: false });
    expect(await keptBytes()).toBeLessThan(200);
    expect(await ask('a')).toEqual({
      kind: 'condensed',
      response: {
        status: 200,
        headers: { 'X-Change-Id': '7' },
        changeId: 7,
        rest: { n: 1 },
        digest: Buffer.from(digestOf(body)),
      },
    });
    await ask('b', { body, rest: text(1000) });
    expect(await ask('b')).toMatchObject({ kind: 'condensed', response: { changeId: 7 } });
    expect(done).toEqual(['a', 'b']);
  });

  test('an account over its limit stores only keys, and other accounts are not affected', async () => {
    const other = await newAccount(db, 'b@example.org');
    for (let i = 0; i < 20; i++) await ask(`k${i}`, { body: text(900) });
    expect(await keptBytes()).toBeLessThanOrEqual(RULES.accountBytes);
    for (let i = 0; i < 20; i++) expect((await ask(`k${i}`)).kind).toBe(i < 4 ? 'response' : 'condensed');
    expect(done).toHaveLength(20);
    expect(await ask('k0', { body: text(900) }, other)).toMatchObject({ replayed: false });
    expect(await ask('k0', {}, other)).toMatchObject({ kind: 'response', replayed: true });
  });

  test('concurrent requests never exceed an account’s limit', async () => {
    await Promise.all(Array.from({ length: 30 }, (_, i) => ask(`k${i}`, { body: text(900) })));
    expect(await keptBytes()).toBeLessThanOrEqual(RULES.accountBytes);
    expect(done).toHaveLength(30);
  });

  test('the oldest responses are replaced by digests, and no work is repeated', async () => {
    const bodies = [1, 2, 3, 4].map((i) => `${i}${text(850)}é"\\u0041\n`);
    for (const [i, body] of bodies.entries()) await ask(`k${i}`, { body });
    expect(await purgeIdempotency(db, PURGE)).toEqual({ forgotten: 0, shrunk: 1, isMore: true });
    expect(await keptBytes()).toBeLessThanOrEqual(RULES.accountBytes * 0.8);
    expect(await purgeIdempotency(db, PURGE)).toEqual({ forgotten: 0, shrunk: 0, isMore: false });
    const first = await ask('k0');
    expect(first).toMatchObject({ kind: 'condensed', response: { status: 200, changeId: 7 } });
    // The server's digest covers the same bytes as that of JavaScript.
    expect(first.kind === 'condensed' && first.response.digest).toEqual(Buffer.from(digestOf(bodies[0])));
    expect(await ask('k1')).toMatchObject({ kind: 'response', replayed: true });
    await ask('k4', { body: text(850) });
    expect((await ask('k4')).kind).toBe('response');
    expect(done).toHaveLength(5);
  });

  test('stored parts of large responses are removed too', async () => {
    for (let i = 0; i < 6; i++) await ask(`k${i}`, { body: text(1000), rest: text(880) });
    expect((await purgeIdempotency(db, PURGE)).shrunk).toBeGreaterThan(0);
    expect(await keptBytes()).toBeLessThanOrEqual(RULES.accountBytes * 0.8);
  });

  test('keys older than 30 days are deleted in batches with their bytes, and newer ones stay', async () => {
    for (let i = 0; i < 4; i++) await ask(`k${i}`, { body: text(500) });
    await query`update idempotency_keys set created_at = now() - interval '30 days 1 minute' where key <> 'k3'`;
    await query`update idempotency_keys set created_at = now() - interval '29 days 23 hours' where key = 'k3'`;
    const pieces = { ...PURGE, rows: 2 };
    expect(await purgeIdempotency(db, pieces)).toEqual({ forgotten: 2, shrunk: 0, isMore: true });
    expect(await purgeIdempotency(db, pieces)).toEqual({ forgotten: 1, shrunk: 0, isMore: false });
    expect(await keptBytes()).toBeLessThan(700);
    expect(await ask('k3')).toMatchObject({ replayed: true });
    expect(await ask('k0')).toMatchObject({ replayed: false });
  });

  test('one process purges at a time, and finds old rows without reading all', async () => {
    await ask('a');
    await query`update idempotency_keys set created_at = now() - interval '31 days'`;
    const both = await Promise.all([1, 2].map(() => purgeIdempotency(db, PURGE)));
    expect(both.reduce((sum, { forgotten }) => sum + forgotten, 0)).toBe(1);
    await db.connection().execute(async (connection) => {
      await sql`set enable_seqscan = off`.execute(connection);
      const { rows } = await sql<{ 'QUERY PLAN': string }>`
        explain select from idempotency_keys where created_at < now() and not for_ever order by created_at limit 5`.execute(
        connection,
      );
      expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('idempotency_keys_created');
    });
  });

  test('a long path is stored as its digest, and still distinguished from others', async () => {
    const asked = (path: string) =>
      runOnce(
        db,
        { accountId, key: 'long', method: 'DELETE', path, bodyHash: new Uint8Array(32) },
        async () => ({ status: 200, headers: {}, body: 1 }),
      );
    const path = `/?ids=${'1,'.repeat(5000)}`;
    expect(await asked(path)).toMatchObject({ replayed: false });
    expect(await asked(path)).toMatchObject({ replayed: true });
    expect(await asked(`${path}2`)).toEqual({ kind: 'mismatch' });
    expect(await value<number>`select length(path) as length from idempotency_keys`).toBeLessThan(100);
  });
});

// Incidents are deleted after ninety days, and suspicions without an incident after one.
it('retention deletes old incidents and suspicions, and keeps open ones', async () => {
  const account = await newAccount(db, 'ann@uptime.test');
  const ids: number[] = [];
  for (const name of ['a.test.', 'b.test.', 'c.test.']) ids.push((await newDomain(db, account, name)).id);
  const [a, b, c] = ids;
  await query`
    insert into uptime_incidents (domain_id, started_at, ended_at, requests, failures) values
      (${a}, now() - interval '91 days', now() - interval '90 days', 1, 1),
      (${a}, now() - interval '89 days', now() - interval '88 days', 2, 2),
      (${b}, now() - interval '200 days', null, 3, 3)`;
  const minute = (days: number) => Math.floor(Date.now() / 60_000) - days * 1440;
  await query`
    insert into uptime_states (domain_id, judged, state) values
      (${a}, ${minute(2)}, '{"kind": "run"}'), (${b}, ${minute(200)}, '{"kind": "incident"}'),
      (${c}, ${minute(0)}, '{"kind": "run"}')`;
  await deleteOld(db, { ...RETENTION, ...RETENTION_OF_FEATURES });
  expect(await column`select requests from uptime_incidents order by 1`).toEqual([2, 3]);
  expect(await column`select domain_id from uptime_states order by 1`).toEqual([b, c]);
});
