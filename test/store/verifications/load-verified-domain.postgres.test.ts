// What a verification begins with, and which answers of our own servers prove nothing.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseName, printName } from '../../../src/dns/name.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import { findUntrusted, loadVerifiedDomain } from '../../../src/store/verifications/load-verified-domain.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { txtEvidenceOf } from '../../support/world/made-verifications.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const OURS = ['ns1.example.net.', 'ns2.example.net.'];

let database: TestDatabase;
let db: Database;
let mine: number;
beforeAll(async () => {
  database = await createDatabase();
  ({ db } = database);
  mine = await newAccount(db, 'me@example.org');
});
afterAll(() => database.drop());

test('a domain in external mode is loaded while there is something to be proved', async () => {
  const { id, verification } = await newDomain(db, mine, 'outside.com.', { dnsMode: 'external' });
  const loaded = await loadVerifiedDomain(db, id);
  expect(loaded).toMatchObject({
    id,
    name: parseName('outside.com.'),
    host: parseName('_svc-challenge.outside.com.'),
    value: verification?.value,
    seq: 0,
    state: {
      startedAt: verification?.startedAt.getTime(),
      expiresAt: verification?.expiresAt.getTime(),
      attempts: 0,
    },
    nextAt: (verification?.startedAt.getTime() ?? 0) + 60_000,
  });
  expect([...(loaded?.ownServers ?? [])].map(printName)).toEqual(OURS);
  await changeStatus(db, { ...BY, domainId: id, event: 'ban' });
  expect(await loadVerifiedDomain(db, id)).toBeUndefined();
  await changeStatus(db, { ...BY, domainId: id, event: 'unban' });
  expect(await loadVerifiedDomain(db, id)).toBeDefined();
  await changeStatus(db, { ...BY, domainId: id, event: 'use_managed' });
  expect(await loadVerifiedDomain(db, id)).toBeUndefined();
});

describe('an answer of our own servers', () => {
  const own = new Set(OURS.map((name) => parseName(name)));
  const isTrusted = async (host: string, nameservers: readonly string[] = OURS) => {
    const { links } = txtEvidenceOf(parseName(host), { servers: [['x'], ['x']], nameservers });
    return (await findUntrusted(db, links, own)).size === 0;
  };

  test('proves something from a zone of the operator’s, or of a customer to whom it is delegated', async () => {
    await saveZones(
      db,
      [
        {
          apex: parseName('lab.'),
          records: recordsOf('@ SOA ns.lab. h.lab. 1 2 3 4 5\n@ NS ns.lab.', 'lab.'),
        },
      ],
      {
        source: 'test',
        actor: 'me',
      },
    );
    expect(await isTrusted('_svc-challenge.team.lab.')).toBe(true);
    const { id } = await newDomain(db, mine, 'proved.com.', { exempt: true });
    await checkOnce(db, id, `referral ${OURS.join(' ')}`);
    expect(await isTrusted('_svc-challenge.proved.com.')).toBe(true);
    await sql`update domains set status = 'moved', moved_since = now() where id = ${id}`.execute(db);
    expect(await isTrusted('_svc-challenge.proved.com.')).toBe(true);
  });

  test('proves nothing from a mere claim, of whomever and however deep', async () => {
    await newDomain(db, mine, 'claimed.com.', { exempt: true });
    expect(await isTrusted('_svc-challenge.claimed.com.')).toBe(false);
    const { id } = await newDomain(db, mine, 'around.com.', { exempt: true });
    await checkOnce(db, id, `referral ${OURS.join(' ')}`);
    await newDomain(db, mine, 'deep.around.com.', { exempt: true });
    expect(await isTrusted('_svc-challenge.around.com.')).toBe(true);
    expect(await isTrusted('_svc-challenge.deep.around.com.')).toBe(false);
    expect(await isTrusted('_svc-challenge.nobody.com.')).toBe(false);
  });

  test('proves nothing from a zone that is served until its delegation has left', async () => {
    const { id } = await newDomain(db, mine, 'leaving.com.', { exempt: true });
    await checkOnce(db, id, `referral ${OURS.join(' ')}`);
    await changeStatus(db, { ...BY, domainId: id, event: 'use_external' });
    expect(await isTrusted('_svc-challenge.leaving.com.')).toBe(false);
  });

  test('counts wherever one of them is among the servers, or delegates; the servers of others always do', async () => {
    expect(await isTrusted('_svc-challenge.nobody.com.', ['ns1.other.test.', 'NS2.Example.NET.'])).toBe(
      false,
    );
    expect(await isTrusted('_svc-challenge.nobody.com.', ['ns1.other.test.', 'ns2.other.test.'])).toBe(true);
    const { links } = txtEvidenceOf(parseName('_svc-challenge.below.nobody.com.'), {
      servers: [['x']],
      above: OURS,
    });
    expect(await findUntrusted(db, links, own)).toEqual(own);
  });

  test('is known by the SOA where the delegation gives our servers other names', async () => {
    await newDomain(db, mine, 'vanity.com.', { exempt: true });
    const { links } = txtEvidenceOf(parseName('_svc-challenge.vanity.com.'), {
      servers: [['x']],
      nameservers: ['ns1.vanity.com.'],
      primaries: ['NS1.example.net.'],
    });
    expect(await findUntrusted(db, links, own)).toEqual(own);
  });
});
