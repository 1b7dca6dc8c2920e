// A signed zone stays whole whatever is written to it: each set has its signatures, and the ring closes.

import { beforeEach, describe, expect, test } from 'vitest';
import { DnssecUnavailable } from '../../../src/store/keys/dnssec-unavailable.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { disableSigning } from '../../../src/store/signing/disable-signing.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import {
  BY,
  expectPublished,
  newAccount,
  newDomain,
  published,
  saved,
} from '../../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';

const database = sharedDatabase();
let domainId: number;

beforeEach(async () => {
  useSecrets(database.db);
  const accountId = await newAccount(database.db, 'a@example.org');
  domainId = (await newDomain(database.db, accountId)).id;
});

const typesOf = async () => {
  const lines = (await published(database.db)) ?? [];
  return [...new Set(lines.map((line) => line.split(' ')[2]))].sort();
};

describe.each([
  { denial: 'nsec', algorithm: 13, split: false },
  { denial: 'nsec3', algorithm: 15, split: true },
] as const)('with $denial, algorithm $algorithm', (order) => {
  test('a domain is signed whole, edits keep it so, and it is unsigned again as if nothing had been', async () => {
    const { db } = database;
    await saved(
      db,
      domainId,
      edit({
        create: [
          'www A 198.51.100.1',
          'x.y.z TXT "a"',
          'sub NS ns1.sub.example.com',
          'ns1.sub A 198.51.100.2',
          '* MX 10 mail.example.com',
        ],
      }),
    );
    const before = await published(db);
    expect((await enabled(db, { domainId }, order)).kind).toBe('signed');
    expect(await signatureFaults(db, APEX)).toEqual([]);
    expect(await typesOf()).toContain('DNSKEY');
    await saved(db, domainId, edit({ create: ['w2 A 198.51.100.3', 'a.b.sub2 NS ns.example.org'] }));
    expect(await signatureFaults(db, APEX)).toEqual([]);
    await expectPublished(db, domainId);
    expect((await enabled(db, { domainId }, order)).kind).toBe('unchanged');
    expect(await disableSigning(db, { domainId }, BY)).toBe('unsigned');
    const after = await published(db);
    expect(after?.filter((line) => !/serial|w2|sub2/.test(line))).toEqual(
      before?.filter((line) => !line.includes('serial')),
    );
    await expectPublished(db, domainId);
    const tags = (await loadZone(db, APEX))?.records.filter(({ type }) => type === 48);
    expect(tags).toEqual([]);
  });
});

test('a process without secrets writes no signed zone, and no unsigned one in its place', async () => {
  const { db, url } = database;
  await enabled(db, { domainId });
  const before = await published(db);
  const without = openDatabase(url);
  try {
    const change = edit({ create: ['www A 198.51.100.1'] });
    await expect(saved(without, domainId, change)).rejects.toThrow(DnssecUnavailable);
    expect(await published(db)).toEqual(before);
  } finally {
    await without.destroy();
  }
});
