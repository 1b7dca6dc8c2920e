// The operator ends a preset delegation, and nothing else.

import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { approveDomain } from '../../../src/store/change/approve-domain.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { listDomainChanges } from '../../../src/store/records/load-changes.ts';
import {
  createDatabase,
  TEST_SETTINGS,
  type TestDatabase,
  testServers,
} from '../../support/database/database.ts';
import { expectPublished, newAccount, newDomain, published, saved } from '../../support/database/domains.ts';
import { edit } from '../../support/zone/customer-records.ts';

const SETS = [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']];
const CLI = { by: { kind: 'cli', name: 'root' }, source: 'cli' } as const;

describe.each(testServers())('on $name', (server) => {
  let database: TestDatabase;
  let db: Database;
  let accountId: number;
  let id: number;

  beforeEach(async () => {
    database = await createDatabase({ server });
    ({ db } = database);
    await migrate(db, { ...TEST_SETTINGS, nameserverSets: SETS });
    accountId = await newAccount(db, 'a@example.org');
    ({ id } = await newDomain(db, accountId));
    await saved(db, id, edit({ create: ['www A 192.0.2.1'] }));
  });
  afterEach(() => database.drop());

  const approve = (domainId = id) => approveDomain(db, { ...CLI, domainId });

  test('one that stands: the sets are given back, the zone is served whole, and a check is due', async () => {
    const taken = JSON.stringify(SETS.slice(0, 1).map((set) => set.map((name) => `${name}.`)));
    await sql`update domains set preset = 'standing', preset_taken = ${taken}::jsonb, chosen_ns = null,
      findings = '[{"code": "PRESET_DELEGATION", "message": "x"}, {"code": "STALE_DS", "message": "x"}]'`.execute(
      db,
    );
    await sql`update domain_checks set due_at = now() + interval '1 hour', next_at = now() + interval '1 hour'`.execute(
      db,
    );
    const approved = await approve();
    expect(approved).toMatchObject({
      kind: 'updated',
      domain: {
        status: 'pending',
        served: 'full',
        preset: 'clear',
        serial: 3,
        findings: [{ code: 'STALE_DS' }],
      },
    });
    if (approved.kind !== 'updated') return;
    expect(approved.domain.nameserverSets).toHaveLength(2);
    expect(approved.domain.findings).toHaveLength(1);
    expect(await published(db)).toEqual([
      '@ 86400 NS ns1.example.net.',
      '@ 86400 NS ns2.example.net.',
      '@ 3600 SOA serial 3',
      'www 300 A 192.0.2.1',
    ]);
    const { rows } = await sql`
      select due_at <= clock_timestamp() and next_at = due_at as due, seq > 0 as bumped from domain_checks`.execute(
      db,
    );
    expect(rows).toEqual([{ due: true, bumped: true }]);
    const [change] = await listDomainChanges(db, id, { limit: 1 });
    expect(change).toMatchObject({
      id: approved.changeId,
      actor: CLI.by,
      source: 'cli',
      operation: 'status',
      status: { from: 'pending', to: 'pending' },
    });
    await expectPublished(db, id);
  });

  test('one that no check has seen yet, once: then there is nothing to approve', async () => {
    expect(await approve()).toMatchObject({
      domain: { served: 'full', preset: 'clear' },
      changeId: expect.any(Number),
    });
    expect(await approve()).toMatchObject({ kind: 'updated', changeId: undefined, domain: { serial: 3 } });
    await expectPublished(db, id);
  });

  test('a domain inside another account’s is not served by it', async () => {
    const inner = await newDomain(db, await newAccount(db, 'b@example.org'), 'in.example.com.');
    expect(await approve(inner.id)).toMatchObject({ domain: { served: 'none', preset: 'clear' } });
    await expectPublished(db, inner.id);
  });

  test('a domain that is gone is not there', async () => {
    await deleteDomain(db, { ...CLI, domainId: id });
    expect(await approve()).toEqual({ kind: 'absent' });
    expect(await approve(4711)).toEqual({ kind: 'absent' });
  });
});
