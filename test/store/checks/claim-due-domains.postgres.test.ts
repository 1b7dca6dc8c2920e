// Which domains are claimed for a check: those that are due, of every account and every parent alike, each by one process.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { addSlotTime } from '../../../src/store/checks/check-shares.ts';
import {
  type ClaimPlace,
  claimDueDomains,
  claimStatement,
} from '../../../src/store/checks/claim-due-domains.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { databaseNow } from '../../support/database/database.ts';
import { newAccount } from '../../support/database/domains.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();
let db: Database;
let me: number;

beforeEach(async () => {
  ({ db } = database);
  me = await newAccount(db, 'me@example.org');
});

/** So many domains of each parent; the first of them is due first, all of them by `seconds` ago. */
const add = async (
  parents: number,
  each: number,
  seconds = 60,
  { accountId = me, suffix = '', checked = true } = {},
): Promise<void> => {
  await sql`
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
      from domain`.execute(db);
};
const claim = async (after?: ClaimPlace, limit = 10, perParent = 3, lightOnly = false) =>
  await claimDueDomains(db, { limit, perParent, after, leaseSeconds: 120, lightOnly });
const namesOf = async (ids: readonly { readonly id: number }[]) => {
  const { rows } = await sql<{ name: string }>`
      select d.name from domains d join domain_checks c on c.domain_id = d.id
      where d.id = any(${ids.map(({ id }) => id)}::bigint[]) order by c.parent, d.name`.execute(db);
  return rows.map(({ name }) => name);
};

test('of one account the earliest of each parent, one after the other, until none is due', async () => {
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

test('an account with very many domains delays no other: each has its turn, the least used first', async () => {
  const [small, busy] = [await newAccount(db, 'small@example.org'), await newAccount(db, 'busy@example.org')];
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
  // while the queue is full, only those who use little
  expect(accounts(await claim(undefined, 6, 3, true))).toEqual([small, me, me, me]);
  expect(accounts(await claim(undefined, 600, 600)).filter((id) => id === busy)).toHaveLength(3);
});

test('a domain that was never checked goes before the others of its account', async () => {
  await add(3, 50, 3600);
  await add(1, 2, 1, { suffix: 'new.', checked: false });
  const { domains } = await claim(undefined, 4);
  expect(domains.map(({ isFirst }) => isFirst)).toEqual([true, true, false, false]);
  const { rows } = await sql<{ firsts: number }>`
      select count(*)::integer as firsts from domain_checks where last_run_id is null and due_at > now()`.execute(
    db,
  );
  expect(rows).toEqual([{ firsts: 2 }]);
});

test('a claim is a lease: what nobody saves is due again, and nothing before its time', async () => {
  await add(1, 2);
  await add(2, 1, -3600).catch(() => {}); // the names are taken
  const before = await databaseNow(db);
  const { domains } = await claim();
  expect(domains).toHaveLength(2);
  const { rows } = await sql<{ within: boolean }>`
      select due_at between ${before}::timestamptz + interval '2 minutes' and now() + interval '2 minutes' as within
      from domain_checks`.execute(db);
  expect(rows).toEqual([{ within: true }, { within: true }]);
  await sql`update domain_checks set due_at = due_at - interval '3 minutes'`.execute(db);
  expect((await claim()).domains).toHaveLength(2);
  await sql`update domain_checks set due_at = null`.execute(db);
  expect((await claim()).domains).toEqual([]);
});

test('several processes at once: each domain is claimed by one, and one that is locked by none', async () => {
  await add(5, 40);
  await db.transaction().execute(async (trx) => {
    await sql`select from domain_checks c join domains d on d.id = c.domain_id where d.name = 'd1.p0001.' for update of c`.execute(
      trx,
    );
    const claimed = (await Promise.all(Array.from({ length: 8 }, () => claim(undefined, 500, 500)))).flatMap(
      (c) => c.domains,
    );
    expect(claimed).toHaveLength(199);
    expect(new Set(claimed.map(({ id }) => id)).size).toBe(199);
  });
  expect(await namesOf((await claim()).domains)).toEqual(['d1.p0001.']);
});

test('of very many parents so many at a time', async () => {
  await add(3100, 1);
  const first = await claim(undefined, 5000);
  expect(first.domains).toHaveLength(3000);
  expect(first.after).toEqual({ accountId: me, parent: 'p3000.' });
  const second = await claim(first.after, 5000);
  expect(second).toMatchObject({ domains: { length: 100 }, after: undefined });
});

test('goes along the indexes: no table is read through, whatever the planner expects', async () => {
  await add(40, 100, 0);
  for (const due of ['0.03', '0.00001', '1']) {
    await sql`update domain_checks set due_at = now() + (random() - ${due}::float8) * interval '1 day'`.execute(
      db,
    );
    await sql`analyze domain_checks`.execute(db);
    for (const after of [undefined, { accountId: me, parent: 'p0007.' }]) {
      const { rows } = await sql<{ 'QUERY PLAN': string }>`
          explain ${claimStatement({ limit: 500, perParent: 20, after, leaseSeconds: 120 })}`.execute(db);
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      expect(plan).toMatch(/Index Scan using domain_checks_due_2/);
      expect(plan).toMatch(/Index (Only )?Scan using domain_checks_new/);
      // The ids that were picked: after a vacuum the planner may read them through a bitmap of the same index.
      expect(plan).toMatch(/Index Scan (using|on) domain_checks_pkey/);
      expect(plan).not.toMatch(/Seq Scan on domain_checks|Bitmap Index Scan on domain_checks_(due|new)/);
    }
  }
});
