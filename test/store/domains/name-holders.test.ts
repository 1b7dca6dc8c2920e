// Every domain that enters pending waits for what the parent shows, except those that need no proof (docs/rules.md
// "Preset delegation").

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { type DomainLock, lockDomain } from '../../../src/store/change/lock-domain.ts';
import { deleteDomain, restoreDomain } from '../../../src/store/change/save-domain.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { writeDomainChange } from '../../../src/store/change/write-domain-change.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { purgeNameHolders } from '../../../src/store/domains/name-holders.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import {
  createDatabase,
  TEST_SETTINGS,
  type TestDatabase,
  testServers,
} from '../../support/database/database.ts';
import {
  BY,
  expectPublished,
  newAccount,
  newDomain,
  published,
  saved,
} from '../../support/database/domains.ts';
import { edit } from '../../support/zone/customer-records.ts';

const SETS = [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']];

interface Checking {
  status: string;
  served: string;
  preset: string;
  leaving: boolean;
  due: boolean | null;
  planned: boolean | null;
  interval: number | null;
  misses: number;
  seen: boolean;
  seq: number;
}

async function checkingOf(db: Database, id: number): Promise<Checking> {
  const { rows } = await sql<Checking>`
    select status, served, preset, leaving, seq, miss_count as misses,
      due_at between clock_timestamp() - interval '1 minute' and clock_timestamp() as due,
      next_at = due_at as planned, interval_seconds as interval,
      num_nonnulls(first_miss_at, last_miss_at, conclusive_at, conclusive_ours) > 0 as seen
    from domains join domain_checks on domain_id = id where id = ${id}`.execute(db);
  return rows[0] as Checking;
}

/** As a life of checks leaves it. */
async function age(db: Database, id: number, status: 'active' | 'moved' | 'pending'): Promise<void> {
  await sql`update domain_checks set miss_count = 2, first_miss_at = now(), last_miss_at = now(), conclusive_at = now(),
    conclusive_ours = true, ours_at = now(), due_at = now() + interval '5 hours', next_at = now() + interval '5 hours',
    interval_seconds = 43200 where domain_id = ${id}`.execute(db);
  await sql`update domains set status = ${status}, served = 'full', preset = 'clear',
    findings = '[{"code": "UNCONFIRMED", "message": "x"}]', moved_since = case when ${status} = 'moved' then now() end where id = ${id}`.execute(
    db,
  );
}

/** As a check does that finds the domain delegated to the first set. */
async function letPresetStand(db: Database, id: number): Promise<void> {
  const taken = JSON.stringify([['ns1.example.net.', 'ns2.example.net.']]);
  await inTransaction(db, async (trx) => {
    await sql`update domains set preset = 'standing', preset_taken = ${taken}::jsonb,
      findings = '[{"code": "STALE_DS", "message": "x"}, {"code": "PRESET_DELEGATION", "message": "x"}]'`.execute(
      trx,
    );
    const order = { ...BY, operation: 'status', served: 'apex', publish: 'whole' } as const;
    await writeDomainChange(trx, (await lockDomain(trx, id)) as DomainLock, order);
  });
}

describe.each(testServers())('on $name', (server) => {
  let database: TestDatabase;
  let db: Database;
  let mine: number;
  let theirs: number;

  beforeEach(async () => {
    database = await createDatabase({ server });
    ({ db } = database);
    await migrate(db, { ...TEST_SETTINGS, nameserverSets: SETS });
    mine = await newAccount(db, 'me@example.org');
    theirs = await newAccount(db, 'they@example.org');
  });
  afterEach(() => database.drop());

  const move = (domainId: number, event: Parameters<typeof changeStatus>[1]['event'], exempt = false) =>
    changeStatus(db, { ...BY, domainId, event, exempt });
  const holders = () =>
    sql<{ name: string; account_id: number }>`
    select name, account_id from name_holders order by name`
      .execute(db)
      .then(({ rows }) => rows);

  test('a new domain answers for its apex alone, whatever records it gets, and is checked at once', async () => {
    const { id, preset, served } = await newDomain(db, mine);
    expect([preset, served]).toEqual(['undecided', 'apex']);
    await saved(db, id, edit({ create: ['@ TXT x', 'www A 192.0.2.1'] }));
    expect(await published(db)).toEqual([
      '@ 0 TYPE0 \\# 0', // the mark that has all else refused
      '@ 86400 NS ns1.example.net.',
      '@ 86400 NS ns2.example.net.',
      '@ 3600 SOA serial 2',
    ]);
    await expectPublished(db, id);
    expect(await checkingOf(db, id)).toEqual({
      status: 'pending',
      served: 'apex',
      preset: 'undecided',
      leaving: false,
      due: true,
      planned: true,
      interval: 60,
      misses: 0,
      seen: false,
      seq: 0,
    });
    const { rows } = await sql`select parent from domain_checks`.execute(db);
    expect(rows).toEqual([{ parent: 'com.' }]);
  });

  test('whoever comes back is undecided again, and nothing of an earlier life counts', async () => {
    const { id } = await newDomain(db, mine);
    const undecided = {
      status: 'pending',
      served: 'apex',
      preset: 'undecided',
      leaving: false,
      due: true,
      planned: true,
      interval: 60,
      misses: 0,
      seen: false,
    };
    const off = {
      served: 'none',
      preset: 'clear',
      leaving: false,
      due: null,
      planned: null,
      interval: null,
      misses: 0,
      seen: false,
    };
    let { seq } = await checkingOf(db, id);
    const expectNow = async (wanted: Partial<Checking>) => {
      const now = await checkingOf(db, id);
      expect(now).toMatchObject(wanted);
      expect(now.seq).toBeGreaterThan(seq);
      seq = now.seq;
      await expectPublished(db, id);
    };
    await age(db, id, 'pending');
    await move(id, 'disable');
    await expectNow({ ...off, status: 'disabled' });
    await move(id, 'enable');
    await expectNow(undecided);
    expect(await loadDomainById(db, id)).toMatchObject({ findings: [] });
    await age(db, id, 'pending');
    await move(id, 'ban');
    await expectNow({ ...off, status: 'banned' });
    await move(id, 'unban');
    await expectNow(undecided);
    await age(db, id, 'pending');
    await deleteDomain(db, { ...BY, domainId: id });
    await expectNow({ due: null, planned: null, leaving: false });
    await restoreDomain(db, { ...BY, domainId: id });
    await expectNow(undecided);
    await age(db, id, 'pending');
    await updateDomain(db, { ...BY, domainId: id, set: { dnsMode: 'external' } });
    // Still served, and looked at until nobody asks any more.
    await expectNow({
      status: 'unverified',
      served: 'full',
      leaving: true,
      due: true,
      misses: 0,
      seen: false,
    });
    await updateDomain(db, { ...BY, domainId: id, set: { dnsMode: 'managed' } });
    await expectNow(undecided);
    expect(await holders()).toEqual([]);
  });

  test('the operator proves nothing, nor does anybody where there is one set', async () => {
    const clear = { status: 'pending', served: 'full', preset: 'clear', due: true };
    const { id } = await newDomain(db, mine, 'example.com.', { exempt: true });
    expect(await checkingOf(db, id)).toMatchObject(clear);
    await move(id, 'disable');
    await move(id, 'enable', true);
    expect(await checkingOf(db, id)).toMatchObject(clear);
    const back = async (exempt: boolean) => {
      await updateDomain(db, { ...BY, domainId: id, set: { dnsMode: 'external' } });
      await updateDomain(db, { ...BY, domainId: id, exempt, set: { dnsMode: 'managed' } });
      return await checkingOf(db, id);
    };
    expect(await back(true)).toMatchObject(clear);
    expect(await back(false)).toMatchObject({ served: 'apex', preset: 'undecided' });
    await deleteDomain(db, { ...BY, domainId: id });
    await restoreDomain(db, { ...BY, domainId: id, exempt: true });
    expect(await checkingOf(db, id)).toMatchObject(clear);
    await migrate(db, TEST_SETTINGS);
    expect(await newDomain(db, theirs, 'one.test.')).toMatchObject({ served: 'full', preset: 'clear' });
    await expectPublished(db, id);
  });

  test.each([
    ['disable', 'active'],
    ['disable', 'moved'],
    ['ban', 'active'],
    ['delete', 'active'],
    ['use_external', 'active'],
  ] as const)('after %s of a domain that was %s its account alone has the name back at once', async (event, status) => {
    const { id } = await newDomain(db, mine);
    await age(db, id, status);
    if (event === 'delete') await deleteDomain(db, { ...BY, domainId: id });
    else await move(id, event);
    expect(await holders()).toEqual([{ name: 'example.com.', account_id: mine }]);
    await deleteDomain(db, { ...BY, domainId: id });
    const other = await newDomain(db, theirs);
    expect(other).toMatchObject({ served: 'apex', preset: 'undecided' });
    await deleteDomain(db, { ...BY, domainId: other.id });
    expect(await newDomain(db, mine)).toMatchObject({ served: 'full', preset: 'clear' });
  });

  test('a name is kept for whoever had it active last, for 90 days', async () => {
    const first = await newDomain(db, mine);
    await age(db, first.id, 'active');
    await deleteDomain(db, { ...BY, domainId: first.id });
    const second = await newDomain(db, theirs);
    await age(db, second.id, 'active');
    await deleteDomain(db, { ...BY, domainId: second.id });
    expect(await holders()).toEqual([{ name: 'example.com.', account_id: theirs }]);
    const again = await newDomain(db, mine);
    expect(again).toMatchObject({ preset: 'undecided' });
    await deleteDomain(db, { ...BY, domainId: again.id });
    await sql`update name_holders set active_at = active_at - interval '89 days'`.execute(db);
    await purgeNameHolders(db);
    const theirsAgain = await newDomain(db, theirs);
    expect(theirsAgain).toMatchObject({ preset: 'clear' });
    await deleteDomain(db, { ...BY, domainId: theirsAgain.id });
    await sql`update name_holders set active_at = active_at - interval '1 day'`.execute(db);
    const late = await newDomain(db, theirs);
    expect(late).toMatchObject({ preset: 'undecided' });
    await purgeNameHolders(db);
    expect(await holders()).toEqual([]);
  });

  test('a domain that leaves while a preset delegation stands takes it with it, and gets nothing by it', async () => {
    const { id } = await newDomain(db, mine);
    await letPresetStand(db, id);
    await expectPublished(db, id);
    await updateDomain(db, { ...BY, domainId: id, set: { dnsMode: 'external' } });
    expect(await checkingOf(db, id)).toMatchObject({ served: 'apex', preset: 'standing', leaving: true });
    expect(await published(db)).toContain('@ 86400 NS ns1.example.org.');
    await expectPublished(db, id);
    await updateDomain(db, { ...BY, domainId: id, set: { dnsMode: 'managed' } });
    expect(await checkingOf(db, id)).toMatchObject({ served: 'apex', preset: 'undecided', leaving: false });
    expect(await published(db)).toContain('@ 86400 NS ns1.example.net.');
    await expectPublished(db, id);
    await letPresetStand(db, id);
    await move(id, 'disable');
    expect(await loadDomainById(db, id)).toMatchObject({ findings: [{ code: 'STALE_DS' }], preset: 'clear' });
    await expectPublished(db, id);
  });
});
