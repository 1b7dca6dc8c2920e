import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { purgeOld } from '../../../src/store/housekeeping/keep-house.ts';
import { cancelTopup, creditTopup, orderTopup } from '../../../src/store/money/payments.ts';
import { makeLink } from '../../../src/store/people/account-links.ts';
import { rememberDevice } from '../../../src/store/people/devices.ts';
import { orderMail } from '../../../src/store/people/mails.ts';
import { openSession } from '../../../src/store/people/sessions.ts';
import { noteFailure } from '../../../src/store/people/sign-in-failures.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { createInvite } from '../../../src/store/sharing/invites.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { smallZone } from '../../support/processes/follow.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();
let db: Database;
beforeAll(() => {
  ({ db } = database);
});

it('forgets old changes at most once an hour, whoever asks', async () => {
  await saveZones(db, [smallZone('a.example.', 1)], { source: 'test' });
  await sql`update changes set at = at - interval '8 days'`.execute(db);
  const changes = async () => (await db.selectFrom('changes').selectAll().execute()).length;
  await sql`update feed set purged_at = clock_timestamp() - interval '59 minutes'`.execute(db);
  await purgeOld(db);
  expect(await changes()).toBe(1);
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await purgeOld(db);
  expect(await changes()).toBe(0);
});

it('a writer forgets nothing: no call waits for it', async () => {
  await saveZones(db, [smallZone('a.example.', 1)], { source: 'test' });
  await sql`update changes set at = at - interval '8 days'`.execute(db);
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await saveZones(db, [smallZone('b.example.', 1)], { source: 'test' });
  expect(await db.selectFrom('changes').selectAll().execute()).toHaveLength(2);
});

it('forgets sightings, rights and holders after two years, and takeovers after 90 days', async () => {
  const accountId = await newAccount(db, 'a@example.org');
  const old = '731 days';
  const young = '729 days';
  const seen = async (name: string, ago: string) => {
    await sql`insert into ns_sightings (name, names, first_seen_at, last_seen_at)
      values (${name}, '{ns1.example.net.}', now() - interval '3 years', now() - ${ago}::interval)`.execute(
      db,
    );
  };
  const right = async (name: string) => {
    await sql`insert into ns_rights (name, names, account_id, exclusive, made_at)
      values (${name}, '{ns1.example.net.,ns2.example.net.}', ${accountId}, true, now() - interval '3 years')`.execute(
      db,
    );
  };
  await seen('gone.test.', old);
  await seen('seen.test.', young);
  for (const name of ['gone.test.', 'seen.test.', 'live.test.', 'left.test.']) await right(name);
  await newDomain(db, accountId, 'live.test.');
  const left = await newDomain(db, accountId, 'left.test.');
  await deleteDomain(db, { ...BY, domainId: left.id });
  await sql`insert into name_holders (name, account_id, active_at)
    values ('a.test.', ${accountId}, now() - ${old}::interval), ('b.test.', ${accountId}, now() - ${young}::interval)`.execute(
    db,
  );
  await sql`insert into name_takeovers (name, at, from_account_id, to_account_id)
    values ('a.test.', now() - interval '91 days', 1, 2), ('b.test.', now() - interval '89 days', 1, 2)`.execute(
    db,
  );
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await purgeOld(db);
  const names = async (table: 'ns_sightings' | 'ns_rights' | 'name_holders' | 'name_takeovers') =>
    (await db.selectFrom(table).select('name').distinct().orderBy('name').execute()).map(({ name }) => name);
  expect(await names('ns_sightings')).toEqual(['seen.test.']);
  expect(await names('ns_rights')).toEqual(['left.test.', 'live.test.', 'seen.test.']);
  expect(await names('name_holders')).toEqual(['b.test.']);
  expect(await names('name_takeovers')).toEqual(['b.test.']);
});

it('forgets invites 90 days after their time, with their links, and counts of what was sent', async () => {
  const accountId = await newAccount(db, 'a@example.org');
  const { id: domainId } = await newDomain(db, accountId);
  const inviter = { sharer: { accountId, isAdmin: false }, mails: true };
  for (const email of ['old@b.example', 'new@b.example'])
    await createInvite(db, { domainId, email, role: 'viewer', inviter });
  await sql`update invites set expires_at = expires_at - interval '98 days' where email = 'old@b.example'`.execute(
    db,
  );
  await sql`update invite_windows set ends_at = clock_timestamp() where subject like 'domain:%'`.execute(db);
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await purgeOld(db);
  const { rows } = await sql`
    select array(select email from invites) as invites, (select count(*) from invite_tokens)::integer as tokens,
      (select count(*) from mails)::integer as mails,
      (select count(*) from invite_windows where subject like 'domain:%')::integer as counts,
      (select count(*) from invite_windows where subject like 'account:%')::integer as others`.execute(db);
  expect(rows).toEqual([{ invites: ['new@b.example'], tokens: 1, mails: 1, counts: 0, others: 1 }]);
});

it('forgets sessions, links, browsers, failures and mails that are over, and no others', async () => {
  const accountId = await newAccount(db, 'a@example.org');
  const session = { accountId, carrier: 'cookie', address: '192.0.2.1', userAgent: undefined } as const;
  const count = async () => {
    const { rows } = await sql<{ counts: number[] }>`
      select array[(select count(*) from sessions), (select count(*) from account_links),
        (select count(*) from account_devices), (select count(*) from sign_in_failures),
        (select count(*) from mails)]::integer[] as counts`.execute(db);
    return rows[0]?.counts;
  };
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
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  expect(await count()).toEqual([2, 2, 2, 2, 2]);
  await purgeOld(db);
  expect(await count()).toEqual([1, 1, 1, 1, 1]);
});

it('forgets top-ups that nobody paid 90 days after their time, and keeps those that are paid', async () => {
  const accountId = await newAccount(db, 'a@example.org');
  const topup = async (expiredDays: number) => {
    const ordered = await orderTopup(db, { accountId, gateway: 'manual', amountRials: 50_000 });
    if (ordered.kind !== 'ordered') throw new Error(ordered.kind);
    const { id } = ordered.payment;
    return {
      id,
      expire: () =>
        sql`
          update payments set expires_at = clock_timestamp() - make_interval(days => ${expiredDays}::integer, mins => 1)
          where id = ${id}`.execute(db),
    };
  };
  const [old, young, paid, cancelled] = [await topup(90), await topup(89), await topup(400), await topup(90)];
  expect((await creditTopup(db, { id: paid.id })).kind).toBe('credited');
  expect((await cancelTopup(db, { accountId, id: cancelled.id })).kind).toBe('cancelled');
  const open = await topup(-1);
  for (const each of [old, young, paid, cancelled, open]) await each.expire();
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await purgeOld(db);
  const { rows } = await sql<{ id: number }>`select id from payments order by id`.execute(db);
  expect(rows.map(({ id }) => id)).toEqual([young.id, paid.id, open.id]);
});

it('forgets tickets 400 days after they were closed, with their messages, and none that is open', async () => {
  const accountId = await newAccount(db, 'a@example.org');
  for (const [subject, status, days] of [
    ['old', 'closed', 400],
    ['young', 'closed', 399],
    ['open', 'open', 4000],
    ['answered', 'answered', 4000],
  ] as const)
    await sql`
      with made as (
        insert into tickets (account_id, subject, status, priority, updated_at, messages)
        values (${accountId}, ${subject}, ${status}, false,
          clock_timestamp() - make_interval(days => ${days}::integer, mins => 1), 1) returning id)
      insert into ticket_messages (ticket_id, is_staff, account_id, message)
      select id, false, ${accountId}, ${subject} from made`.execute(db);
  await sql`update feed set purged_at = clock_timestamp() - interval '61 minutes'`.execute(db);
  await purgeOld(db);
  const { rows } = await sql`
    select array(select subject from tickets order by id) as tickets,
      array(select message from ticket_messages order by id) as messages`.execute(db);
  const kept = ['young', 'open', 'answered'];
  expect(rows).toEqual([{ tickets: kept, messages: kept }]);
});
