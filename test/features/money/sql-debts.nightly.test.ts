import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SettledDebts, settleDebts } from '../../../src/features/money/sql-debts.ts';
import { moveMoney } from '../../../src/features/money/sql-wallet.ts';
import { setProvider, setReseller } from '../../../src/store/accounts/accounts.ts';
import { handOver } from '../../../src/store/change/hand-over.ts';
import { restoreDomain } from '../../../src/store/change/restore-domain.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { setSuspended } from '../../../src/store/change/update-domain.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { loadEdgeConfigs } from '../../../src/store/edges/load-edge-configs.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { asRole } from '../../support/database/database.ts';
import { BY, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { edit } from '../../support/zone/customer-records.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 2, 1);
const on = (days: number) => new Date(START + days * DAY);
const { db, url, query } = keptDatabase();
/** The role of the rounds. */
let worker: Database;
let names = 0;
let [reseller, client, stranger] = [0, 0, 0];
let [own, clients, strangers] = [0, 0, 0];

beforeAll(async () => {
  worker = openDatabase(asRole(url, 'zonefleet_worker'));
});
afterAll(() => worker.destroy());
beforeEach(async () => {
  await query`update wallets set negative_since = null, suspended_at = null, balance_rials = 0`;
  await query`delete from domains`;
  reseller = await account();
  await setReseller(db, reseller, true);
  client = await account();
  await setProvider(db, client, reseller);
  stranger = await account();
  [own, clients, strangers] = [await domain(reseller), await domain(client), await domain(stranger)];
});

const account = () => newAccount(db, `account${++names}@example.org`);
const domain = async (accountId: number) => (await newDomain(db, accountId, `d${++names}.test.`)).id;
const pay = (accountId: number, rials: number, at = on(0)) =>
  inTransaction(db, (trx) =>
    moveMoney(trx, {
      from: rials < 0 ? { accountId, floorRials: -1_000_000 } : { outside: 'operator' },
      to: rials < 0 ? { outside: 'sales' } : { accountId },
      amountRials: Math.abs(rials),
      refType: 'adjustment',
      description: 'test',
      at,
    }),
  );

async function settle(days: number, limit?: number) {
  const sum = { wallets: 0, suspended: 0, resumed: 0 };
  let more: SettledDebts;
  do {
    more = await settleDebts(worker, { at: on(days), graceDays: 7, ...(limit && { limit }) });
    for (const key of ['wallets', 'suspended', 'resumed'] as const) sum[key] += more[key];
  } while (more.isMore);
  return Object.values(sum).join(' ');
}
const by = async (...ids: number[]) =>
  Promise.all(ids.map(async (id) => (await loadDomainById(db, id))?.suspendedBy.join('+') ?? 'absent'));
const auditOf = (domainId: number) => query`select actor_kind, before, after from audit_log
      where domain_id = ${domainId} and action = 'domain.suspend' order by id`;

it('suspends all domains of a reseller and its clients exactly when the grace period ends, and resumes them at zero', async () => {
  await pay(reseller, -100);
  await pay(reseller, -1, on(6));
  expect(await settle(7 - 1 / DAY)).toBe('0 0 0');
  expect(await settle(7)).toBe('1 2 0');
  expect(await settle(7)).toBe('0 0 0');
  expect(await by(own, clients, strangers)).toEqual(['debt', 'debt', '']);
  expect(await loadDomainById(db, clients)).toMatchObject({
    suspended: true,
    suspendedAt: on(7),
    served: 'full',
  });
  await pay(reseller, 100, on(8));
  expect(await settle(9)).toBe('0 0 0');
  await pay(reseller, 1, on(9));
  expect(await settle(9)).toBe('0 0 2');
  expect(await by(own, clients, strangers)).toEqual(['', '', '']);
  expect(await auditOf(clients)).toEqual([
    {
      actor_kind: 'system',
      before: { suspended: false, suspended_by: [] },
      after: { suspended: true, suspended_by: ['debt'] },
    },
    {
      actor_kind: 'system',
      before: { suspended: true, suspended_by: ['debt'] },
      after: { suspended: false, suspended_by: [] },
    },
  ]);
});

describe('a domain that joins or leaves during a debt', () => {
  beforeEach(async () => {
    await pay(reseller, -100);
    await settle(7);
  });

  it('is suspended if it is created, restored or handed over to an account in debt', async () => {
    const created = await domain(client);
    await handOver(db, { ...BY, domainId: strangers, accountId: client });
    expect(await settle(8)).toBe('0 2 0');
    expect(await by(created, strangers)).toEqual(['debt', 'debt']);
    await deleteDomain(db, { ...BY, domainId: created });
    await pay(reseller, 100, on(9));
    expect(await settle(9)).toBe('0 0 4');
    await pay(reseller, -100, on(10));
    expect(await settle(17)).toBe('1 3 0');
    expect((await restoreDomain(db, { ...BY, domainId: created, exempt: true })).kind).toBe('restored');
    expect(await settle(17)).toBe('0 1 0');
    expect(await by(created)).toEqual(['debt']);
  });

  it('is announced to edges in both directions', async () => {
    const free = await domain(client);
    const apex = (await loadDomainById(db, free))?.name;
    await saved(db, free, edit({ create: ['www A 198.51.100.2 ; proxied'] }, apex));
    const told = async () => {
      const rows = await query<{ name: string; version: string }>`
        select e.name, e.version from edge_changes e join domains d using (name) where d.id = ${free}`;
      const { name, version } = rows[0] as (typeof rows)[0];
      return { version, suspended: (await loadEdgeConfigs(db, [name])).get(name)?.config.suspended };
    };
    const first = await told();
    await settle(8);
    const second = await told();
    await pay(reseller, 100, on(8));
    await settle(8);
    const third = await told();
    expect([first, second, third].map(({ suspended }) => suspended)).toEqual([false, true, false]);
    expect(new Set([first, second, third].map(({ version }) => version)).size).toBe(3);
  });
});

it('skips locked domains, and processes thousands in batches', async () => {
  await query`
    insert into domains (account_id, name, unicode, status, dns_mode, served, serial, answers_generation, created_at,
      updated_at)
    select ${client}, 'many' || n || '.test.', 'many', 'disabled', 'managed', 'none', 1, 1, now(), now()
    from generate_series(1, 2000) n`;
  await pay(reseller, -100);
  await inTransaction(db, async (trx) => {
    await sql`select from domains where id = ${clients} for update`.execute(trx);
    expect(await settle(7, 150)).toBe('1 2001 0');
  });
  expect(await settle(7, 150)).toBe('0 1 0');
  await pay(reseller, 100, on(8));
  expect(await settle(8, 150)).toBe('0 0 2002');
});

it('concurrent rounds, purchases and adjustments never deadlock', async () => {
  const ids = [own, clients, ...(await Promise.all(Array.from({ length: 8 }, () => domain(client))))];
  await pay(reseller, -100);
  const rounds = Array.from({ length: 3 }, async () => {
    for (let i = 0; i < 30; i++) await settleDebts(worker, { at: on(7), graceDays: 7, limit: 4 });
  });
  const hands = ids.map(async (domainId) => {
    for (let i = 0; i < 10; i++) await setSuspended(db, { domainId, suspended: i % 2 === 0 });
  });
  const payers = [0, 1].map(async () => {
    for (let i = 0; i < 30; i++) {
      await pay(reseller, 100);
      await pay(reseller, -100);
    }
  });
  await Promise.all([...rounds, ...hands, ...payers]);
  await settle(7);
  expect(new Set((await by(...ids)).map((word) => word.includes('debt')))).toEqual(new Set([true]));
});
