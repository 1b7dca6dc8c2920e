// A domain as a check begins with it.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { printName } from '../../../src/dns/name.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { loadCheckedDomain } from '../../../src/store/checks/load-checked-domain.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import type { Database } from '../../../src/store/postgres/database.ts';
import {
  createDatabase,
  TEST_SETTINGS,
  type TestDatabase,
  testServers,
} from '../../support/database/database.ts';
import { BY, newAccount, newDomain } from '../../support/database/domains.ts';
import { checkOnce, HOUR_MS } from '../../support/database/saved-checks.ts';

const FIRST = 'referral ns1.example.net ns2.example.net';
const SECOND = 'referral ns1.example.org ns2.example.org';
const SETS = [
  ['NS1.example.net', 'ns2.example.net'],
  ['ns1.example.org', 'ns2.example.org'],
];

describe.each(testServers())('on $name', (server) => {
  let database: TestDatabase;
  let db: Database;
  let domainId: number;

  beforeEach(async () => {
    database = await createDatabase({ server });
    ({ db } = database);
    await migrate(db, { ...TEST_SETTINGS, nameserverSets: SETS });
    domainId = (await newDomain(db, await newAccount(db, 'me@example.org'))).id;
  });
  afterEach(() => database.drop());

  const load = async () => await loadCheckedDomain(db, domainId);
  const sets = async () => {
    const { expected } = (await load()) ?? {};
    return [expected?.sets, expected?.allSets].map((list) => list?.map((set) => printName(set[0] as never)));
  };

  test('a new one is due, undecided, and may have every set, by folded names', async () => {
    const domain = await load();
    expect(domain).toMatchObject({
      id: domainId,
      state: { status: 'pending', misses: undefined, conclusive: undefined, preset: { kind: 'undecided' } },
      lastVerdict: undefined,
      parentText: 'com.',
    });
    const { pending_since } = await db
      .selectFrom('domains')
      .select('pending_since')
      .executeTakeFirstOrThrow();
    expect(domain?.state.since).toBe(pending_since?.getTime());
    expect(domain?.nextCheckAt).toBe(pending_since?.getTime());
    expect(await sets()).toEqual([
      ['ns1.example.net.', 'ns1.example.org.'],
      ['ns1.example.net.', 'ns1.example.org.'],
    ]);
  });

  test('what one check remembers is what the next begins with', async () => {
    const at = Date.now();
    await checkOnce(db, domainId, FIRST, { at });
    const standing = await load();
    expect(standing?.state.preset).toEqual({
      kind: 'standing',
      taken: [standing?.expected.allSets[0]],
    });
    expect(standing).toMatchObject({
      state: { conclusive: { at, oursShown: true } },
      lastVerdict: 'match',
      nextCheckAt: at + 60_000,
    });
    expect(await sets()).toEqual([['ns1.example.org.'], ['ns1.example.net.', 'ns1.example.org.']]);
    await checkOnce(db, domainId, SECOND, { at: at + 1 });
    expect(await sets()).toEqual([
      ['ns1.example.org.', 'ns1.example.net.'],
      ['ns1.example.net.', 'ns1.example.org.'],
    ]);
    await checkOnce(db, domainId, 'nxdomain', { at: at + 2 });
    await checkOnce(db, domainId, 'nxdomain', { at: at + HOUR_MS });
    expect(await load()).toMatchObject({
      state: {
        status: 'active',
        misses: { count: 2, firstAt: at + 2, lastAt: at + HOUR_MS },
        conclusive: { at: at + HOUR_MS, oursShown: false },
        preset: { kind: 'clear' },
      },
      lastVerdict: 'unregistered',
      nextCheckAt: at + 2 * HOUR_MS,
    });
  });

  test('a leaving one is checked too; one that is off, gone, external or without a name is not', async () => {
    await checkOnce(db, domainId, SECOND);
    await checkOnce(db, domainId, FIRST);
    await updateDomain(db, { ...BY, domainId, set: { dnsMode: 'external' } });
    const { leaving_since } = await db
      .selectFrom('domains')
      .select('leaving_since')
      .executeTakeFirstOrThrow();
    expect(await load()).toMatchObject({ state: { status: 'leaving', since: leaving_since?.getTime() } });
    expect((await load())?.nextCheckAt).toBeUndefined();
    await checkOnce(db, domainId, 'nodata');
    expect(await load()).toBeUndefined();
    await updateDomain(db, { ...BY, domainId, set: { dnsMode: 'managed' } });
    expect(await load()).toMatchObject({
      state: { status: 'pending', misses: undefined, conclusive: undefined },
    });
    await changeStatus(db, { ...BY, domainId, event: 'ban' });
    expect(await load()).toBeUndefined();
    await changeStatus(db, { ...BY, domainId, event: 'unban' });
    expect(await load()).toBeDefined();
    await deleteDomain(db, { ...BY, domainId });
    expect(await load()).toBeUndefined();
    expect(await loadCheckedDomain(db, 4711)).toBeUndefined();
  });
});
