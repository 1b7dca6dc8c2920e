import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { forgetNodes } from '../../src/store/feed/nodes.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { listDomainChanges } from '../../src/store/records/load-changes.ts';
import { checkLargeZone } from '../../src/store/signing/check-large-zone.ts';
import {
  verifyZone,
  type ZoneToVerify,
  zonesToVerify,
} from '../../src/store/signing/check-zone-signatures.ts';
import { claimDuePieces, claimDueRefreshes, endLease } from '../../src/store/signing/claim-due-zones.ts';
import { disableSigning } from '../../src/store/signing/disable-signing.ts';
import { findUnableNodes } from '../../src/store/signing/enable-signing.ts';
import { refreshSignatures } from '../../src/store/signing/refresh-signatures.ts';
import { loadZone } from '../../src/store/zones/load-zones.ts';
import { atLater } from '../support/database/database-clock.ts';
import { BY, expectPublished, newAccount, newDomain, published, saved } from '../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../support/database/signed-zones.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { APEX } from '../support/zone/customer-records.ts';

const { db, url, query } = sharedDatabase();

test('a zone that is due repeatedly waits until all others had their turn', async () => {
  await query`
    insert into signed_zones (zone_name, goal, denial, algorithm, phase, denial_change)
    select name, 'signed', 'nsec', 13, 'waiting', 'removing' from unnest(array['a.', 'b.', 'c.']) name`;
  const seen: string[] = [];
  for (let last = 0; seen.length < 4; ) {
    const [zone] = await claimDuePieces(db, 1, last);
    if (zone === undefined) throw new Error('none is due');
    seen.push(zone.name);
    last = zone.id;
    await endLease(db, zone.id); // immediately due again
  }
  expect(seen).toEqual(['a.', 'b.', 'c.', 'a.']);
});

describe('enable-signing', () => {
  // A signed zone stays consistent after every write: each set has its signatures, and the chain is closed.
  let domainId: number;

  beforeEach(async () => {
    useSecrets(db);
    const accountId = await newAccount(db, 'a@example.org');
    domainId = (await newDomain(db, accountId)).id;
  });

  const typesOf = async () =>
    [...new Set(((await published(db)) ?? []).map((line) => line.split(' ')[2]))].sort();

  test.each([
    { denial: 'nsec', algorithm: 13, split: false },
    { denial: 'nsec3', algorithm: 15, split: true },
  ] as const)('a domain is signed completely with $denial and algorithm $algorithm, stays signed after edits, and is unsigned without a trace', async (order) => {
    await saved(db, domainId, [
      'www A 198.51.100.1',
      'x.y.z TXT "a"',
      'sub NS ns1.sub.example.com',
      'ns1.sub A 198.51.100.2',
      '* MX 10 mail.example.com',
    ]);
    const before = await published(db);
    expect((await enabled(db, { domainId }, order)).kind).toBe('signed');
    expect(await signatureFaults(db, APEX)).toEqual([]);
    expect(await typesOf()).toContain('DNSKEY');
    await saved(db, domainId, [
      'w2 A 198.51.100.3',
      'w2 HINFO "ARM64" "LINUX"',
      'w2 TYPE65280 \\# 0',
      'w2 DNAME example.net',
      'a.b.sub2 NS ns.example.org',
    ]);
    expect(await typesOf()).toEqual(expect.arrayContaining(['DNAME', 'HINFO', 'TYPE65280']));
    expect(await signatureFaults(db, APEX)).toEqual([]);
    await expectPublished(db, domainId);
    expect((await enabled(db, { domainId }, order)).kind).toBe('unchanged');
    expect(await disableSigning(db, { domainId }, BY)).toBe('unsigned');
    expect((await published(db))?.filter((line) => !/serial|w2|sub2/.test(line))).toEqual(
      before?.filter((line) => !line.includes('serial')),
    );
    await expectPublished(db, domainId);
    expect((await loadZone(db, APEX))?.records.filter(({ type }) => type === 48)).toEqual([]);
  });
});

describe('refresh-signatures', () => {
  // Signatures are renewed before they expire. Only the serial changes, and customers' logs have no entry.
  const NEVER = new AbortController().signal;

  let domainId: number;
  const later: Database[] = [];

  beforeEach(async () => {
    useSecrets(db);
    const accountId = await newAccount(db, 'a@example.org');
    domainId = (await newDomain(db, accountId)).id;
  });
  afterEach(() => Promise.all(later.splice(0).map((db) => db.destroy())));

  /** Returns the same database this many days later. */
  async function daysLater(days: number): Promise<Database> {
    const then = await atLater({ db, url }, days);
    useSecrets(then);
    later.push(then);
    return then;
  }

  const rowsBut = async (types: readonly number[]) =>
    (await loadZone(db, APEX))?.records
      .filter(({ type }) => !types.includes(type))
      .map(({ owner, type, rdata }) => `${owner} ${type} ${Buffer.from(rdata).toString('hex')}`);

  test.each([
    'nsec',
    'nsec3',
  ] as const)('a zone with %s is due after five to seven days, and is complete until its new signatures expire', async (denial) => {
    await saved(db, domainId, ['www A 198.51.100.1', 'sub NS ns.example.net']);
    const { signed } = await enabled(db, { domainId }, { denial });
    const before = await rowsBut([6, 46]);
    const changes = (await listDomainChanges(db, domainId, { limit: 99 })).length;
    expect(await claimDueRefreshes(await daysLater(4.9), 9)).toEqual([]);
    for (const days of [7.1, 14.2, 21.3]) {
      const then = await daysLater(days);
      expect(await signatureFaults(then, APEX)).toEqual([]);
      expect(await claimDueRefreshes(then, 9)).toMatchObject([{ id: signed.id, name: 'example.com.' }]);
      expect(await claimDueRefreshes(then, 9)).toEqual([]); // leased
      const { made } = await refreshSignatures(then, signed.id, NEVER);
      expect(made).toBeGreaterThan(5);
      expect(await claimDueRefreshes(then, 9)).toEqual([]);
    }
    expect(await signatureFaults(await daysLater(21.3 + 13.9), APEX)).toEqual([]);
    expect(await rowsBut([6, 46])).toEqual(before);
    await expectPublished(db, domainId);
    expect(await listDomainChanges(db, domainId, { limit: 99 })).toHaveLength(changes);
    expect(await signatureFaults(await daysLater(40), APEX)).not.toEqual([]);
  });

  test('every signature is still valid after eight days without workers', async () => {
    await enabled(db, { domainId });
    expect(await signatureFaults(await daysLater(14), APEX)).toEqual([]);
  });

  test('zones whose signatures expire first are claimed first, in that order', async () => {
    const account = await newAccount(db, 'b@example.org');
    for (let i = 0; i < 7; i++) {
      const { id } = await newDomain(db, account, `d${i}.example.org.`);
      const { signed } = await enabled(db, { domainId: id });
      const days = (i * 3) % 7;
      await query`
      update signed_zones set resign_at = now(), expires_at = now() + make_interval(days => ${days})
      where id = ${signed.id}`;
    }
    const names = (await claimDueRefreshes(db, 6)).map(({ name }) => name);
    expect(names).toEqual([0, 5, 3, 1, 6, 4].map((i) => `d${i}.example.org.`));
  });

  test('a clock that is two hours wrong makes no invalid signature', async () => {
    for (const [name, hours] of [
      ['fast.test.', 2],
      ['slow.test.', -2],
    ] as const) {
      const then = await daysLater(hours / 24);
      const { id } = await newDomain(then, await newAccount(then, `${name}@example.org`), name);
      await enabled(then, { domainId: id });
      expect(await signatureFaults(db, parseName(name))).toEqual([]);
    }
  });

  // A zone with 100 further names is refreshed in pieces that are signed without a lock.
  test.each([
    0, 100,
  ])('an edit while a zone with %i further names is refreshed takes precedence', async (names) => {
    const hosts = Array.from({ length: names }, (_, i) => `host${i} A 192.0.2.1`);
    await saved(db, domainId, ['www A 192.0.2.1', ...hosts]);
    const { signed } = await enabled(db, { domainId });
    const then = await daysLater(8);
    const refreshing = refreshSignatures(then, signed.id, NEVER);
    await Promise.all(['a', 'b', 'c'].map((name) => saved(then, domainId, [`${name} A 192.0.2.1`])));
    await refreshing;
    expect(await signatureFaults(then, APEX)).toEqual([]);
    await expectPublished(then, domainId);
  });
});

describe('check-large-zone', () => {
  // The result is the same in a small zone, of which all names are verified.
  test.each([
    ['nsec', 47],
    ['nsec3', 50],
  ] as const)('reports a wrong signature and a missing denial record of a zone with %s', async (denial, type) => {
    useSecrets(db);
    const { id } = await newDomain(db, await newAccount(db, 'a@example.org'));
    await saved(db, id, [
      'www A 192.0.2.1',
      'a.b A 192.0.2.2',
      'sub NS ns.sub.example.com',
      'ns.sub A 192.0.2.3',
    ]);
    await enabled(db, { domainId: id }, { denial });
    const [zone] = await query<{ id: number }>`select id from zones`;
    const faults = () => checkLargeZone(db, { id: zone?.id as number, apex: APEX });
    expect(await faults()).toEqual([]);
    await query`
      update zone_records set rdata = set_byte(rdata, 40, get_byte(rdata, 40) # 1)
      where type = 46 and owner = 'www.example.com.' and get_byte(rdata, 1) = 1`;
    expect(await faults()).toEqual([
      expect.stringMatching(/^www.example.com. A: the signature of key \d+ is/),
    ]);
    await query`delete from zone_records where ctid in (select ctid from zone_records where type = ${type} limit 1)`;
    expect((await faults()).join()).toContain('does not point to the next one');
  });

  it('reports no faults of a zone that is unsigned during the check', async () => {
    useSecrets(db);
    const { id } = await newDomain(db, await newAccount(db, 'a@example.org'));
    await saved(db, id, ['www A 192.0.2.1']);
    await enabled(db, { domainId: id });
    const [zone] = await zonesToVerify(db, 0);
    await query`update zones set records = 6000; delete from zone_records where type = 46 and owner like 'www.%'`;
    expect(await zonesToVerify(db, 0)).toEqual([]);
    const faults = () => verifyZone(db, zone as ZoneToVerify);
    expect(await faults()).toContain('www.example.com. A has no signature');
    await query`update signed_zones set phase = 'unsigning'`;
    expect(await faults()).toEqual([]);
  });
});

describe('unable-nodes', () => {
  async function node(
    name: string,
    { abilities = ['dnssec'], silentDays = 0, used = 10, hasLeft = false } = {},
  ): Promise<void> {
    await query`
    insert into nodes (name, instance, started_at, seen_at, left_at, abilities, image_octets, image_capacity)
    values (${name}, gen_random_uuid(), now(), now() - make_interval(days => ${silentDays}::integer),
      ${hasLeft ? sql`now()` : null}, ${abilities}, ${used}, 100)`;
  }

  it('every node of this version can, and nodes that left or are silent for longer than signatures live do not count', async () => {
    expect(await findUnableNodes(db)).toBeUndefined();
    await node('a');
    await node('left', { abilities: [], hasLeft: true });
    await node('long-gone', { abilities: [], silentDays: 19 });
    expect(await findUnableNodes(db)).toBeUndefined();
  });

  it('an older node is named until it is forgotten, which is rejected while it reports', async () => {
    await node('a');
    await node('old', { abilities: [], silentDays: 17 });
    await node('older', { abilities: [], silentDays: 0 });
    expect(await findUnableNodes(db)).toMatch(/^old, older: too old/);
    expect(await forgetNodes(db, ['old', 'older', 'none'])).toEqual([
      { name: 'old', outcome: 'forgotten' },
      { name: 'older', outcome: 'live' },
      { name: 'none', outcome: 'absent' },
    ]);
    expect(await forgetNodes(db, ['old'])).toEqual([{ name: 'old', outcome: 'unchanged' }]);
    expect(await findUnableNodes(db)).toMatch(/^older: too old/);
  });

  it('an image that is nearly full has no space for signatures', async () => {
    await node('a', { used: 85 });
    expect(await findUnableNodes(db)).toBeUndefined();
    await node('full', { used: 86 });
    expect(await findUnableNodes(db)).toBe('full: not enough space for signatures (IMAGE_BYTES)');
  });
});
