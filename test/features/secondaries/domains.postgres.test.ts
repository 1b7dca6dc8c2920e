// Domains of customers that are copies: each writer of a domain's zone leaves the copy as it is while the domain is
// answered whole.

import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { publishTarget } from '../../../src/features/aname/sql-publish.ts';
import { writeChallenges } from '../../../src/features/certificates/sql-challenges.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { createRefresher } from '../../../src/features/secondaries/job-refresh.ts';
import { limitOf, TransferTurns } from '../../../src/features/secondaries/rules.ts';
import { claimDueSecondaries, loadSecondary, takeNotifies } from '../../../src/features/secondaries/sql.ts';
import { endCopy, loadCopiedDomain, replacePrimaries } from '../../../src/features/secondaries/sql-domain.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { handOver } from '../../../src/store/change/hand-over.ts';
import { lockDomain } from '../../../src/store/change/lock-domain.ts';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { enableDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { loadDomainById } from '../../../src/store/domains/load-domains.ts';
import { setServedRegions } from '../../../src/store/edges/edge-regions.ts';
import { inTransaction } from '../../../src/store/postgres/transaction.ts';
import { importScanned } from '../../../src/store/scans/import-scanned.ts';
import { enableSigning } from '../../../src/store/signing/enable-signing.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { isExpiredMark, isMark, isUnprovenMark } from '../../../src/zone/zone.ts';
import { BY, expectPublished, listed, newDomain, published, saved } from '../../support/database/domains.ts';
import { newPoolAccount, POOL } from '../../support/database/pool-accounts.ts';
import { checkOnce } from '../../support/database/saved-checks.ts';
import { useSecrets } from '../../support/database/signed-zones.ts';
import { failure, linesOf, Primary } from '../../support/peers/memory-primary.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { until } from '../../support/tests/until.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';

const ZONE = 'example.com.';
const ONE = { address: '9.9.9.9', port: 53, keyId: null };
const { db, query, value } = sharedDatabase();
let ann: number;
let bob: number;
let id: number;
let primary: Primary;

beforeAll(() => migrate(db, POOL));
beforeEach(async () => {
  ann = await newPoolAccount(db, 'ann@example.org', 1);
  bob = await newPoolAccount(db, 'bob@example.org', 2);
  ({ id } = await newDomain(db, ann, ZONE));
  await saved(db, id, ['own A 192.0.2.1', 'flat ANAME target.example.']);
  primary = new Primary(ZONE);
  primary.publish(5, '@ 60 TXT x\nwww 30 A 192.0.2.9\n*.deep 60 A 192.0.2.9');
});

const put = (...primaries: (typeof ONE)[]) => replacePrimaries(db, { id, accountId: ann }, primaries);
async function refresh(maxRecords = 1000) {
  const run = createRefresher({
    db,
    client: primary,
    turns: new TransferTurns(limitOf(1000)),
    ...{ tsigSecrets: [], allowed: [], source: undefined, maxRecords, random: () => 0 },
  });
  await query`update secondaries set due_at = now() where due_at > now()`;
  return await run(
    (await value<number>`select max(id) from secondaries`) as number,
    new AbortController().signal,
  );
}
/** Makes the domain a copy that was transferred. */
async function copy() {
  expect(await put(ONE)).toEqual({ kind: 'replaced' });
  expect(await refresh()).toMatchObject({ kind: 'transferred' });
}
const records = async () => (await loadZone(db, APEX))?.records ?? [];
const marks = async () => (await records()).filter(isMark);
const domain = async () => (await loadDomainById(db, id))!;
const serial = async () => (await domain()).serial;
const version = () => value<number>`select version from zones where name = ${ZONE}`;
const state = async () => (await loadCopiedDomain(db, id)).copy;
async function expectCopy() {
  expect(linesOf((await records()).filter((record) => !isMark(record)))).toEqual(
    linesOf(primary.versions.at(-1)!),
  );
  await expectPublished(db, id);
}
const activate = () => checkOnce(db, id, 'referral ns1.a.example ns1.b.example');
const expectOwn = async (...own: string[]) => {
  const zone = (await published(db))?.filter((line) => !/ (SOA|TYPE0) |^@ \d+ NS /.test(line));
  expect(zone).toEqual(own);
  await expectPublished(db, id);
};

describe('a domain with primaries', () => {
  test('keeps its own zone until the first transfer, which replaces all of it', async () => {
    const before = await version();
    await put(ONE);
    expect([await version(), (await state())?.state]).toEqual([before, 'waiting']);
    primary.axfr = failure('PRIMARY_REFUSED');
    expect(await refresh()).toMatchObject({ kind: 'failed' });
    expect(await version()).toBe(before);
    primary.axfr = undefined;
    expect(await refresh()).toMatchObject({ kind: 'transferred', form: 'axfr', serial: 5 });
    await expectCopy();
    expect([await serial(), (await state())?.state]).toEqual([5, 'current']);
    primary.publish(6, '@ 60 TXT x\nwww 30 A 192.0.2.8');
    expect(await refresh()).toMatchObject({ form: 'ixfr', serial: 6 });
    await expectCopy();
    expect(await value`select count(*)::integer from signed_zones`).toBe(0);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a check that proves the domain', activate],
    ['changed settings', () => migrate(db, { ...POOL, soaRname: 'other.example.' })],
    ['the choice of edges', () => setServedRegions(db, id, ['eu'])],
    [
      'addresses of an ANAME',
      () => publishTarget(db, parseName('target.example.'), new AbortController().signal),
    ],
    [
      'external mode after the domain was active',
      async () => {
        await activate();
        await updateDomain(db, { ...BY, domainId: id, set: { dnsMode: 'external' } });
      },
    ],
  ])('is not written by %s', async (_, write) => {
    await copy();
    await query`update aname_targets set v4_addresses = '{198.51.100.1}', ttl = 60`;
    await write();
    await expectCopy();
    expect([await serial(), (await state())?.serial]).toEqual([5, 5]);
    await migrate(db, POOL);
    await expectCopy();
  });

  test('has the mark of an unproven domain only while it is unproven, and another one while it is expired', async () => {
    await copy();
    expect((await marks()).every((mark) => isUnprovenMark(mark, APEX))).toBe(true);
    primary.publish(6, 'www 30 A 192.0.2.9');
    await refresh();
    expect(await marks()).toHaveLength(1);
    await query`update secondaries set expires_at = now() - interval '1 s'`;
    primary.soa = failure('PRIMARY_SILENT');
    expect(await refresh()).toMatchObject({ expiry: 'expired' });
    await activate();
    expect((await marks()).map((mark) => isExpiredMark(mark, APEX))).toEqual([true]);
    primary.soa = undefined;
    expect(await refresh()).toMatchObject({ kind: 'transferred', wasExpired: true });
    expect(await marks()).toEqual([]);
    await expectCopy();
  });

  test('loses an unproven mark when it becomes active', async () => {
    await copy();
    const before = await version();
    await activate();
    expect([await marks(), (await version())! > before!]).toEqual([[], true]);
    await expectCopy();
  });

  test('keeps its own apex until it is answered whole, and has it again when that ends', async () => {
    const rival = (await newDomain(db, bob, ZONE, { exempt: false })).id;
    await put(ONE);
    expect([(await domain()).served, await refresh()]).toEqual(['apex', { kind: 'absent' }]);
    expect(await claimDueSecondaries(db, 10)).toEqual([]);
    await deleteDomain(db, { ...BY, domainId: rival });
    expect((await domain()).served).toBe('full');
    await expectOwn();
    expect((await marks()).map(({ ttl }) => ttl)).toEqual([0]);
    expect(await claimDueSecondaries(db, 10)).toHaveLength(1);
    await refresh();
    await expectCopy();
    await newDomain(db, bob, ZONE, { exempt: false });
    expect((await domain()).served).toBe('apex');
    await expectOwn();
    expect(await state()).toMatchObject({ state: 'waiting', serial: null });
  });

  test('does not save a transfer that ends after the domain is no longer answered whole', async () => {
    await put(ONE);
    primary.onTransfer = () => newDomain(db, bob, ZONE, { exempt: false });
    expect(await refresh()).toEqual({ kind: 'conflict' });
    await expectOwn();
  });

  test('is transferred again after it was disabled', async () => {
    await copy();
    await changeStatus(db, { ...BY, domainId: id, event: 'disable' });
    expect([await records(), (await state())?.serial]).toEqual([[], null]);
    await changeStatus(db, { ...BY, domainId: id, event: 'enable', exempt: true });
    expect(await refresh()).toMatchObject({ kind: 'transferred', form: 'axfr' });
    await expectCopy();
  });

  test('refuses records, scans, nameservers, challenges and signatures', async () => {
    useSecrets(db);
    await copy();
    const refused = { kind: 'refused', code: 'domain_secondary' };
    const create = edit({ create: ['new A 192.0.2.1'] });
    expect(await saveEdit(db, { ...BY, domainId: id, edit: create })).toMatchObject(refused);
    const scanned = [
      { name: parseName('s.example.com.'), type: 1, ttl: 60, rdata: Uint8Array.of(9, 9, 9, 9) },
    ];
    const scan = { domainId: id, records: scanned, by: BY.by, narrowing: null };
    expect(await importScanned(db, scan)).toMatchObject(refused);
    const nameservers = (await domain()).nameserverSets[0]!;
    expect(await updateDomain(db, { ...BY, domainId: id, set: { nameservers } })).toMatchObject(refused);
    const challenge = [{ name: '_acme-challenge.example.com', value: 'x' }];
    const written = inTransaction(db, async (trx) =>
      writeChallenges(trx, (await lockDomain(trx, id))!, challenge),
    );
    expect(await written).toEqual({ kind: 'not_served' });
    expect(await enableDnssec(db, { ...BY, domainId: id })).toMatchObject({ code: 'wrong_state' });
    const order = { denial: 'nsec', algorithm: 13, split: false } as const;
    expect(await enableSigning(db, { domainId: id }, order, BY)).toMatchObject({ code: 'dnssec_verbatim' });
    await expectCopy();
  });

  test('may not be signed by the fleet before', async () => {
    useSecrets(db);
    await activate();
    await enableDnssec(db, { ...BY, domainId: id });
    expect(await put(ONE)).toEqual({ kind: 'signed' });
    expect(await value`select count(*)::integer from peers`).toBe(0);
  });

  test('may have only as many records as its plan allows', async () => {
    await query`update domains set plan_overrides = '{"max_records": 4}'`;
    await put(ONE);
    expect((await loadSecondary(db, (await value<number>`select id from secondaries`)!))?.maxRecords).toBe(4);
    expect(await refresh()).toMatchObject({ kind: 'failed', finding: { code: 'TRANSFER_INVALID' } });
    await query`update domains set plan_overrides = null`;
    expect(await refresh(4)).toMatchObject({ kind: 'failed' });
    expect(await refresh()).toMatchObject({ kind: 'transferred' });
  });

  test('discards a transfer from primaries that were replaced, and keeps the row of a primary that remains', async () => {
    await put(ONE, { ...ONE, port: 5353 });
    const [, kept] = (await loadCopiedDomain(db, id)).primaries;
    primary.onTransfer = () => put({ ...ONE, port: 5353 });
    expect(await refresh()).toEqual({ kind: 'conflict' });
    expect((await loadCopiedDomain(db, id)).primaries).toEqual([kept]);
    expect(await value`select count(*)::integer from peers`).toBe(1);
  });

  test('receives NOTIFY if it has the zone of its name', async () => {
    await copy();
    await query`update secondaries set due_at = now() + interval '1 h'`;
    const notify = async () => {
      await query`insert into received_notifies (slot, zone) values (1, ${ZONE})`;
      await takeNotifies(db);
      return (await state())!.dueAt.getTime() <= Date.now() + 1000;
    };
    expect(await notify()).toBe(true);
    expect(await query`select zone from secondary_zones`).toEqual([{ zone: ZONE }]);
  });
});

describe('the end of a copy', () => {
  const end = () => endCopy(db, { id, accountId: ann }, BY);

  test('makes its records those of the domain, with a newer serial', async () => {
    primary.publish(
      3_000_000_000,
      'www 30 A 192.0.2.9\n@ 60 MX 10 mail\nsub 60 NS ns.else.\nold 60 NSEC . A\nwww 30 RRSIG A 13 3 30 20300101000000 20200101000000 1 example.com. AAAA',
    );
    await copy();
    const ended = await end();
    expect(ended).toMatchObject({ kind: 'ended', kept: 3, dropped: 2, serial: 3_000_000_001 });
    expect(await listed(db, id)).toEqual([
      '@ 60 MX 10 mail.example.com',
      'sub 60 NS ns.else',
      'www 60 A 192.0.2.9',
    ]);
    await expectOwn('@ 60 MX 10 mail.example.com.', 'sub 60 NS ns.else.', 'www 60 A 192.0.2.9');
    expect(await query`select from peers union all select from secondaries`).toEqual([]);
    expect(await end()).toEqual({ kind: 'no_copy' });
    await saved(db, id, ['new A 192.0.2.1']);
  });

  test('publishes the own records of a domain that was not transferred yet', async () => {
    await put(ONE);
    expect(await end()).toMatchObject({ kept: 0, dropped: 0 });
    expect(await listed(db, id)).toHaveLength(2);
    await expectPublished(db, id);
  });

  test('leaves no name of the copy if no record of it can be kept', async () => {
    primary.publish(6, 'www 60 NSEC . A');
    await copy();
    expect(await end()).toMatchObject({ kept: 0, dropped: 1 });
    await expectOwn();
  });

  test('is refused if the plan allows fewer records', async () => {
    await copy();
    await query`update domains set plan_overrides = '{"max_records": 1}'`;
    expect(await end()).toMatchObject({ kind: 'refused', saved: { problems: [{ code: 'plan_limit' }] } });
    await expectCopy();
    expect(await listed(db, id)).toHaveLength(2);
  });

  test('comes with another owner, for whom the own records of the domain are answered again', async () => {
    await copy();
    await handOver(db, { ...BY, domainId: id, accountId: bob });
    expect(await query`select from peers union all select from secondaries`).toEqual([]);
    expect((await published(db))?.some((line) => line.startsWith('own '))).toBe(true);
    await expectPublished(db, id);
    expect(await serial()).toBeGreaterThan(5);
  });
});

describe('domains of one account', () => {
  beforeEach(async () => {
    for (let i = 0; i < 6; i++) {
      const one = await newDomain(db, ann, `d${i}.example.`);
      await replacePrimaries(db, { id: one.id, accountId: ann }, [ONE]);
    }
  });

  test('are claimed four at a time, apart from those of other accounts', async () => {
    const other = await newDomain(db, bob, 'bobs.example.');
    await replacePrimaries(db, { id: other.id, accountId: bob }, [ONE]);
    expect(await claimDueSecondaries(db, 10)).toHaveLength(5);
    expect(await claimDueSecondaries(db, 10)).toEqual([]);
    await query`update secondaries set leased_until = null, due_at = now() + interval '1 h'
      where id in (select id from secondaries where leased_until is not null order by id limit 3)`;
    expect(await claimDueSecondaries(db, 10)).toHaveLength(2);
  });

  test('are refreshed four at a time, even if their leases have ended', async () => {
    const { rows } = await sql<{ id: number }>`select id from secondaries order by id`.execute(db);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let asked = 0;
    const querySoa = async () => {
      asked++;
      await released;
      return failure('PRIMARY_SILENT');
    };
    const client = { querySoa, transferZone: primary.transferZone };
    const run = createRefresher({
      ...{ db, client, turns: new TransferTurns(limitOf(1000)), tsigSecrets: [], allowed: [] },
      ...{ source: undefined, maxRecords: 1000 },
    });
    const { signal } = new AbortController();
    const first = rows.slice(0, 4).map((row) => run(row.id, signal));
    await until(() => asked === 4);
    expect(await run(rows[4]!.id, signal)).toEqual({ kind: 'early' });
    release();
    expect((await Promise.all(first)).map(({ kind }) => kind)).toEqual(Array(4).fill('failed'));
    expect(await run(rows[4]!.id, signal)).toMatchObject({ kind: 'failed' });
  });
});
