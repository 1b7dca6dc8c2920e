// 0070: what is in a database from before is found in the new columns, by what the ledger and the invites say.

import { Migrator, sql } from 'kysely';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrations } from '../../../../src/store/migrate/migrations.ts';
import type { Database } from '../../../../src/store/postgres/database.ts';
import { createDatabase, type TestDatabase } from '../../../support/database/database.ts';

const BEFORE = '0069-debts';
const IT = '0070-money-back';

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createDatabase({ empty: true });
  ({ db } = database);
  await migrateTo(BEFORE);
});
afterEach(() => database.drop());

async function migrateTo(name: string): Promise<void> {
  const provider = { getMigrations: async () => migrations };
  const { error } = await new Migrator({ db, provider }).migrateTo(name);
  expect(error).toBeUndefined();
}

async function idOf(query: ReturnType<typeof sql>): Promise<number> {
  const { rows } = await sql<{ id: number }>`${query} returning id`.execute(db);
  return (rows[0] as { id: number }).id;
}

async function account(email: string, providerId: number | null = null, isReseller = false): Promise<number> {
  const id = await idOf(sql`
      insert into accounts (email, provider_id, is_reseller) values (${email}, ${providerId}, ${isReseller})`);
  await sql`insert into wallets (account_id) values (${id})`.execute(db);
  return id;
}
const domain = (accountId: number, name: string) =>
  idOf(sql`insert into domains (account_id, name, unicode, dns_mode, status, served, serial, answers_generation,
        ns_sets, created_at, updated_at)
      values (${accountId}, ${`${name}.`}, ${name}, 'managed', 'pending', 'none', 1, 1, '[]', now(), now())`);
const subscription = (domainId: number, accountId: number) =>
  idOf(sql`insert into subscriptions (domain_id, account_id, plan_id, status, started_at, quota_reset_days)
      select ${domainId}, ${accountId}, id, 'active', now(), 30 from plans where slug = 'pro'`);

type Side = readonly [account: number | null, rials: number];
/** Two rows of the ledger. */
async function move(
  [from, to]: readonly [Side, Side],
  { type, about, at }: { readonly type: string; readonly about: number; readonly at: string },
): Promise<number> {
  const { rows } = await sql<{ id: number }>`select nextval('movement_id') as id`.execute(db);
  const { id } = rows[0] as { id: number };
  await db.transaction().execute(async (trx) => {
    for (const [accountId, rials] of [from, to])
      await sql`
          insert into ledger (movement_id, account_id, outside, amount_rials, balance_rials, ref_type, ref_id, description, created_at)
          values (${id}, ${accountId}, ${accountId === null ? 'sales' : null}, ${rials}, ${accountId === null ? null : 0},
            ${type}, ${about}, 'x', ${at})`.execute(trx);
  });
  return id;
}

interface Bought {
  readonly buyer: number;
  readonly about: { readonly domainId: number; readonly subscriptionId: number };
  readonly price: number;
  readonly at: string;
  /** What a reseller added, and which. */
  readonly funded?: readonly [reseller: number, rials: number];
}

/** As the version before bought: the reseller's share first, then the price, then the invoice. Gives its id. */
async function bought({ buyer, about, price, at, funded }: Bought): Promise<number> {
  const { domainId, subscriptionId } = about;
  if (funded !== undefined) {
    const [reseller, rials] = funded;
    await move(
      [
        [reseller, -rials],
        [buyer, rials],
      ],
      { type: 'reseller_autofund', about: subscriptionId, at },
    );
  }
  const movement = await move(
    [
      [buyer, -price],
      [null, price],
    ],
    { type: 'subscription', about: subscriptionId, at },
  );
  const { rows } = await sql<{ id: number }>`
      select issue_invoice(${buyer}, ${domainId}, ${subscriptionId}, ${movement}, '[]'::jsonb, ${price}::bigint,
        ${at}::timestamptz, ${at}::timestamptz + interval '30 days', ${at}::timestamptz) as id`.execute(db);
  return (rows[0] as { id: number }).id;
}

async function fundedOf(invoiceId: number) {
  const { rows } = await sql<{ by: number | null; rials: number; seller: string | null }>`
      select funded_by as by, funded_rials as rials, seller from invoices where id = ${invoiceId}`.execute(
    db,
  );
  return rows[0];
}

test('an invoice knows what a reseller had added to its price, and no other', async () => {
  const reseller = await account('reseller@example.org', null, true);
  const client = await account('client@example.org', reseller);
  const alone = await account('alone@example.org');
  const make = async (accountId: number, name: string) => {
    const domainId = await domain(accountId, name);
    return { domainId, subscriptionId: await subscription(domainId, accountId) };
  };
  const [one, two, own] = [
    await make(client, 'one.test'),
    await make(client, 'two.test'),
    await make(alone, 'own.test'),
  ];
  const at = '2026-03-01T00:00:00.123Z';
  const whole = await bought({ buyer: client, about: one, price: 900, at, funded: [reseller, 900] });
  // In the same millisecond, for another subscription.
  const part = await bought({ buyer: client, about: two, price: 900, at, funded: [reseller, 250] });
  const renewed = await bought({ buyer: client, about: one, price: 900, at: '2026-03-28T00:00:00Z' });
  // More than the price: it paid a debt of the client's too.
  const debt = await bought({
    buyer: client,
    about: one,
    price: 900,
    at: '2026-04-28T00:00:00Z',
    funded: [reseller, 1300],
  });
  const owners = await bought({ buyer: alone, about: own, price: 900, at });
  await migrateTo(IT);
  const none = { by: null, rials: 0, seller: null };
  expect(await fundedOf(whole)).toEqual({ by: reseller, rials: 900, seller: null });
  expect(await fundedOf(part)).toEqual({ by: reseller, rials: 250, seller: null });
  expect(await fundedOf(renewed)).toEqual(none);
  expect(await fundedOf(debt)).toEqual({ by: reseller, rials: 900, seller: null });
  expect(await fundedOf(owners)).toEqual(none);
  await expect(sql`update invoices set total_rials = 1`.execute(db)).rejects.toThrow('never changed');
});

test('a charge and the next in one millisecond are told apart by the numbers of their movements', async () => {
  const reseller = await account('reseller@example.org', null, true);
  const client = await account('client@example.org', reseller);
  const domainId = await domain(client, 'one.test');
  const about = { domainId, subscriptionId: await subscription(domainId, client) };
  const at = '2026-03-01T00:00:00Z';
  const first = await bought({ buyer: client, about, price: 900, at, funded: [reseller, 100] });
  const second = await bought({ buyer: client, about, price: 900, at, funded: [reseller, 200] });
  const third = await bought({ buyer: client, about, price: 900, at });
  await migrateTo(IT);
  const rials = await Promise.all([first, second, third].map(fundedOf));
  expect(rials.map((each) => each?.rials)).toEqual([100, 200, 0]);
});

test('who made a member is known by the last invite that it accepted, else it was the reseller of a client', async () => {
  const reseller = await account('reseller@example.org', null, true);
  const client = await account('client@example.org', reseller);
  const owner = await account('owner@example.org');
  const [invited, given] = [await account('invited@example.org'), await account('given@example.org')];
  const [of, free] = [await domain(client, 'client.test'), await domain(owner, 'own.test')];
  for (const domainId of [of, free])
    for (const accountId of [invited, given])
      await sql`insert into memberships (domain_id, account_id, role) values (${domainId}, ${accountId}, 'viewer')`.execute(
        db,
      );
  const invite = async (domainId: number, inviter: number, ended: string) =>
    await sql`
        insert into invites (domain_id, email, email_key, role, invited_by, status, accepted_by, created_at, expires_at, ended_at)
        values (${domainId}, 'invited@example.org', 'invited@example.org', 'viewer', ${inviter}, 'accepted',
          ${invited}, '2026-01-01', '2026-01-08', ${ended})`.execute(db);
  await invite(of, reseller, '2026-01-02');
  await invite(of, owner, '2026-01-03');
  await invite(free, owner, '2026-01-02');
  await migrateTo(IT);
  const { rows } = await sql<{ domain: number; account: number; by: number | null }>`
      select domain_id as domain, account_id as account, granted_by as by from memberships order by 1, 2`.execute(
    db,
  );
  expect(rows.map(({ domain: on, account: whose, by }) => [on, whose, by])).toEqual([
    [of, invited, owner],
    [of, given, reseller],
    [free, invited, owner],
    [free, given, null],
  ]);
});
