// A claim without any sign of our servers at its parent gives way after 72 hours to another account (docs/rules.md
// "Domain names").

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { createDomain, deleteDomain, restoreDomain } from '../../../src/store/change/save-domain.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { findDomain, loadDomainById } from '../../../src/store/domains/load-domains.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import { createDatabase, type TestDatabase, testServers } from '../../support/database/database.ts';
import {
  BY,
  expectPublished,
  newAccount,
  newDomain,
  published,
  saved,
  wantedDomain,
} from '../../support/database/domains.ts';
import { followLoaded, untilEqual } from '../../support/processes/follow.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';

describe.each(testServers())('on $name', (server) => {
  let database: TestDatabase;
  let db: Database;
  let mine: number;
  let theirs: number;
  let others: number;

  beforeEach(async () => {
    database = await createDatabase({ server });
    ({ db } = database);
    mine = await newAccount(db, 'me@example.org');
    theirs = await newAccount(db, 'they@example.org');
    others = await newAccount(db, 'others@example.org');
  });
  afterEach(() => database.drop());

  const create = async (accountId: number) =>
    (await createDomain(db, wantedDomain(accountId, 'example.com.'))).kind;
  const move = (domainId: number, event: 'enable' | 'disable') =>
    changeStatus(db, { ...BY, domainId, event });
  /** All that a domain remembers is so much older. */
  const pass = async (hours: number) => {
    await sql`update domain_changes set at = at - make_interval(hours => ${hours})`.execute(db);
    await sql`update domain_verifications set started_at = started_at - make_interval(hours => ${hours})`.execute(
      db,
    );
    await sql`update domains set pending_since = pending_since - make_interval(hours => ${hours}),
      created_at = created_at - make_interval(hours => ${hours})`.execute(db);
  };

  test.each([
    'managed',
    'external',
  ] as const)('a %s one is taken until 72 hours are over, and lost then with one change', async (dnsMode) => {
    const node = await followLoaded({ databaseUrl: database.url });
    const old = await newDomain(db, theirs, 'example.com.', { dnsMode });
    await saved(db, old.id, edit({ create: ['old A 192.0.2.1'] }));
    await pass(71);
    expect(await create(mine)).toBe('taken');
    await pass(2);
    expect(await create(theirs)).toBe('taken');
    const domain = await newDomain(db, mine);
    expect(domain).toMatchObject({ status: 'pending', served: 'full', recordCount: 0 });
    const lost = await loadDomainById(db, old.id);
    expect(lost).toMatchObject({ status: 'disabled', served: 'none', nextCheckAt: null, pendingSince: null });
    expect(lost?.findings.map(({ code }) => code)).toEqual(['CLAIM_LOST']);
    expect(lost?.findings[0]?.message).not.toMatch(/me@|example\.org/);
    const { rows } = await sql`
        select disabled_by, zone_id, due_at, seq > 0 as bumped from domains join domain_checks on domain_id = id
        where id = ${old.id}`.execute(db);
    expect(rows).toEqual([{ disabled_by: 'checker', zone_id: null, due_at: null, bumped: true }]);
    const [change, ...before] = await listDomainChanges(db, old.id, { limit: 9 });
    expect(change).toMatchObject({
      actor: { kind: 'system' },
      source: 'status',
      status: { from: dnsMode === 'managed' ? 'pending' : 'unverified', to: 'disabled' },
    });
    expect(before).toHaveLength(2);
    expect(domain.serial).toBeGreaterThan(lost?.serial as number);
    expect(await published(db)).toEqual([
      '@ 86400 NS ns1.example.net.',
      '@ 86400 NS ns2.example.net.',
      `@ 3600 SOA serial ${domain.serial}`,
    ]);
    await expectPublished(db, old.id, domain.id);
    await untilEqual(node, db);
    expect(node.zones.get(APEX)?.serial).toBe(domain.serial);
    await node.stop();
  });

  test('of two that want it at once one wins', async () => {
    await newDomain(db, theirs);
    await pass(73);
    const kinds = await Promise.all([mine, others, mine, others].map(create));
    expect(kinds.sort()).toEqual(['created', 'taken', 'taken', 'taken']);
    const holding = await db.selectFrom('domains').select('id').where('zone_id', 'is not', null).execute();
    expect(holding).toHaveLength(1);
  });

  test('a sign of our servers, or of its owner, keeps it', async () => {
    const { id } = await newDomain(db, theirs);
    await pass(1000);
    await sql`update domain_checks set ours_at = now() - interval '900 hours'`.execute(db);
    expect(await create(mine)).toBe('taken');
    await sql`update domain_checks set ours_at = null`.execute(db);
    await updateDomain(db, { ...BY, domainId: id, set: { dnsMode: 'external' } });
    await pass(1000);
    await sql`update domain_verifications set verified_at = now()`.execute(db);
    expect(await create(mine)).toBe('taken');
    await sql`update domain_verifications set verified_at = null`.execute(db);
    await sql`update domains set status = 'active'`.execute(db);
    expect(await create(mine)).toBe('taken');
    await deleteDomain(db, { ...BY, domainId: id });
    expect(await create(mine)).toBe('created');
  });

  test('going to the other mode and back does not renew a claim, being enabled does', async () => {
    const { id } = await newDomain(db, theirs);
    await pass(73);
    await updateDomain(db, { ...BY, domainId: id, set: { dnsMode: 'external' } });
    await updateDomain(db, { ...BY, domainId: id, set: { dnsMode: 'managed' } });
    const other = await newDomain(db, mine);
    await deleteDomain(db, { ...BY, domainId: other.id });
    await sql`update domain_checks set ours_at = now() where domain_id = ${id}`.execute(db);
    await move(id, 'enable');
    expect(await loadDomainById(db, id)).toMatchObject({ status: 'pending', findings: [] });
    expect(await create(mine)).toBe('taken');
    await pass(73); // what was seen of its earlier life is no sign
    expect(await create(mine)).toBe('created');
  });

  test('to enable or restore a domain does not take a name from anybody, however old their claim is', async () => {
    const { id } = await newDomain(db, theirs);
    await pass(73);
    const other = await newDomain(db, mine);
    await pass(73);
    expect(await move(id, 'enable')).toMatchObject({ kind: 'refused', code: 'taken' });
    await deleteDomain(db, { ...BY, domainId: id });
    expect(await restoreDomain(db, { ...BY, domainId: id })).toMatchObject({ kind: 'taken' });
    expect(await findDomain(db, APEX)).toMatchObject({ id: other.id, status: 'pending' });
  });

  test('a name that is taken for another reason is lost by nobody', async () => {
    const { id } = await newDomain(db, theirs, 'a.example.com.');
    await newDomain(db, others);
    await sql`update domains set status = 'active' where name = 'example.com.'`.execute(db);
    await pass(73);
    expect((await createDomain(db, wantedDomain(mine, 'a.example.com.'))).kind).toBe('taken');
    expect(await loadDomainById(db, id)).toMatchObject({ status: 'pending', findings: [] });
  });
});
