// A domain that is signed from the beginning is made whole, or not at all.

import { sql } from 'kysely';
import { beforeEach, expect, test } from 'vitest';
import { createDomainSigned } from '../../../src/store/dnssec/create-signed-domain.ts';
import { loadDnssec } from '../../../src/store/dnssec/load-dnssec.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { newAccount, wantedDomain } from '../../support/database/domains.ts';
import { useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();
let accountId: number;
beforeEach(async () => {
  useSecrets(database.db);
  accountId = await newAccount(database.db, 'a@example.org');
});

const wanted = (name = 'new.example.com.') => wantedDomain(accountId, name, { exempt: true });
const made = async () => {
  const { rows } = await sql<{ domains: number; keys: number; changes: number }>`
    select (select count(*)::integer from domains) as domains, (select count(*)::integer from signing_keys) as keys,
      (select count(*)::integer from domain_changes) as changes`.execute(database.db);
  return rows[0];
};

test('it has keys as they are wished, and is due to be signed', async () => {
  const created = await createDomainSigned(database.db, wanted(), { split: true, denial: 'nsec3' });
  if (created.kind !== 'created') throw new Error(created.message);
  expect(created.domain).toMatchObject({ status: 'pending', dnssecStatus: 'signing' });
  const stored = await loadDnssec(database.db, created.domain.id);
  expect(stored?.signed).toMatchObject({ goal: 'signed', denial: 'nsec3', split: true });
  expect(stored?.keys.map(({ role }) => role)).toEqual(['ksk', 'zsk']);
  expect(stored?.dueAt).not.toBeNull();
});

test('without wishes it has none', async () => {
  const created = await createDomainSigned(database.db, wanted(), undefined);
  expect(created).toMatchObject({ kind: 'created', domain: { dnssecStatus: 'off' } });
  expect(await made()).toMatchObject({ domains: 1, keys: 0 });
});

test('nothing of it is left where it cannot be signed', async () => {
  const without = openDatabase(database.url);
  try {
    const refused = await createDomainSigned(without, wanted(), {});
    expect(refused).toMatchObject({ kind: 'refused', code: 'dnssec_unavailable' });
  } finally {
    await without.destroy();
  }
  const long = `${`${'a'.repeat(60)}.`.repeat(3)}${'b'.repeat(44)}.com.`;
  expect(await createDomainSigned(database.db, wanted(long), { denial: 'nsec3' })).toMatchObject({
    kind: 'refused',
    code: 'wrong_state',
  });
  await sql`
    insert into nodes (name, instance, started_at, loaded, zones, records)
    values ('old', gen_random_uuid(), clock_timestamp(), true, 0, 0)`.execute(database.db);
  expect(await createDomainSigned(database.db, wanted(), {})).toMatchObject({ code: 'dnssec_unavailable' });
  expect(await made()).toEqual({ domains: 0, keys: 0, changes: 0 });
});

test('nor where it cannot be created', async () => {
  await createDomainSigned(database.db, wanted(), {});
  expect((await createDomainSigned(database.db, wanted(), {})).kind).toBe('taken');
  expect(await made()).toMatchObject({ domains: 1, keys: 1 });
});
