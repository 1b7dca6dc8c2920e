// Refreshes with a primary in memory. test/resolver/transfer has the network client.

import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { createRefresher, type RefreshOutcome } from '../../../src/features/secondaries/job-refresh.ts';
import { TransferTurns } from '../../../src/features/secondaries/rules.ts';
import { claimDueSecondaries, loadSecondary, takeNotifies } from '../../../src/features/secondaries/sql.ts';
import {
  addSecondary,
  orderRetransfers,
  removeSecondary,
} from '../../../src/features/secondaries/sql-manage.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { sealTsigKey } from '../../../src/store/secrets/tsig-secrets.ts';
import { enableSigning } from '../../../src/store/signing/enable-signing.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { isExpiredMark, type ZoneRecord } from '../../../src/zone/zone.ts';
import { asRole } from '../../support/database/database.ts';
import { BY } from '../../support/database/domains.ts';
import { useSecrets } from '../../support/database/signed-zones.ts';
import { signRecords } from '../../support/dnssec/sign-records.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import { failure, linesOf, Primary } from '../../support/peers/memory-primary.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, url, query, value, column } = sharedDatabase();
let worker: Database;
beforeAll(() => {
  worker = openDatabase(asRole(url, 'zonefleet_worker'));
  return () => worker.destroy();
});
const APEX = parseName('copy.example.');
const ZONE = 'copy.example.';

let primary: Primary;
let id: number;

async function refresh(of: number = id, signal = new AbortController().signal): Promise<RefreshOutcome> {
  const run = createRefresher({
    db: worker,
    client: primary,
    turns: new TransferTurns({ octets: 2 ** 28 }),
    tsigSecrets: SECRETS,
    allowed: [],
    source: undefined,
    maxRecords: 1000,
    random: () => 0,
  });
  await query`update secondaries set due_at = now() where id = ${of} and due_at > now()`;
  return await run(of, signal);
}

const SECRETS = [{ name: 't1', secret: new Uint8Array(32).fill(7) }];
const stored = async () => (await loadZone(db, APEX))?.records ?? [];
const expectCopy = async () => expect(linesOf(await stored())).toEqual(linesOf(primary.versions.at(-1)!));
const isExpired = async () => (await stored()).some((record) => isExpiredMark(record, APEX));

beforeEach(async () => {
  primary = new Primary(ZONE);
  primary.publish(1, 'www 60 A 192.0.2.1\na.b 60 TXT x');
  await query`insert into peers (name, addresses, networks) values ('one', '{192.0.2.1,192.0.2.2}', '{}'),
    ('two', '{192.0.2.3}', '{}'), ('mute', '{}', '{192.0.2.0/24}')`;
  const added = await addSecondary(db, { zone: ZONE, from: ['one'], maxRecords: null });
  id = (added as { id: number }).id;
});

describe('a refresh', () => {
  test('transfers the zone, and then only what changed', async () => {
    expect(await refresh()).toMatchObject({
      kind: 'transferred',
      form: 'axfr',
      serial: 1,
      records: 4,
      isChanged: true,
    });
    await expectCopy();
    primary.publish(2, 'www 60 A 192.0.2.2\na.b 60 TXT x\nnew 60 A 192.0.2.9');
    primary.publish(3, 'www 60 A 192.0.2.3\nnew 90 A 192.0.2.9');
    expect(await refresh()).toMatchObject({ kind: 'transferred', form: 'ixfr', serial: 3, records: 4 });
    await expectCopy();
    const changed = await column`
      select owner from zone_records r join zones z on z.id = r.zone_id and z.version = r.version order by 1`;
    expect(changed).toEqual(['a.b.copy.example.', ZONE, 'new.copy.example.', 'www.copy.example.']);
    expect(await refresh()).toEqual({ kind: 'current', zone: ZONE, wasFailing: false });
    expect(primary.asked).toEqual(['soa 192.0.2.1', 'axfr', 'soa 192.0.2.1', 'ixfr', 'soa 192.0.2.1']);
    const [row] = await query<object>`
      select serial, form, failures, expires_at - refreshed_at = interval '1 day' as expires,
        due_at - transferred_at between interval '59 min' and interval '61 min' as due, leased_until from secondaries`;
    expect(row).toEqual({
      serial: 3,
      form: 'ixfr',
      failures: 0,
      expires: true,
      due: true,
      leased_until: null,
    });
  });

  test.each<[string, Primary['ixfr'], string | undefined]>([
    ['IXFR fails', failure('PRIMARY_REFUSED'), 'it failed: PRIMARY_REFUSED'],
    [
      'the differences begin elsewhere',
      (list) => list.map((one) => ({ ...one, removed: one.added })),
      expect.any(String),
    ],
    [
      'a removed record is missing',
      (list) =>
        list.map((one) => ({ ...one, removed: [...one.removed, ...recordsOf('no 60 A 192.0.2.1', ZONE)] })),
      expect.any(String),
    ],
    [
      'the result is not a valid zone',
      (list) => list.map((one) => ({ ...one, added: [...one.added, ...recordsOf('www 60 CNAME x', ZONE)] })),
      expect.stringContaining('CNAME'),
    ],
    [
      'a DNAME is added',
      (list) => list.map((one) => ({ ...one, added: [...one.added, ...recordsOf('b 60 DNAME x.', ZONE)] })),
      'a DNAME is added or removed',
    ],
    [
      'a record would be below a DNAME',
      (list) =>
        list.map((one) => ({ ...one, added: [...one.added, ...recordsOf('x.dname 60 A 192.0.2.1', ZONE)] })),
      expect.stringContaining('DNAME'),
    ],
  ])('transfers the whole zone in the same job if %s', async (_, ixfr, why) => {
    primary.publish(2, 'www 60 A 192.0.2.1\na.b 60 TXT x\ndname 60 DNAME else.example.');
    await refresh();
    primary.publish(3, 'www 60 A 192.0.2.2\na.b 60 TXT x\ndname 60 DNAME else.example.');
    primary.ixfr = ixfr;
    expect(await refresh()).toMatchObject({
      kind: 'transferred',
      form: 'axfr',
      serial: 3,
      notIncremental: why,
    });
    await expectCopy();
  });

  test('uses the TLS settings of the peer', async () => {
    const pins = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    await query`update peers set tls = 'strict', tls_port = 8853, tls_name = 'ns.example', tls_pins = ${pins}
      where name = 'one'`;
    primary.soa = failure('PRIMARY_TLS');
    expect(await refresh()).toMatchObject({ kind: 'failed', finding: { code: 'PRIMARY_TLS' } });
    expect(primary.tls).toEqual({ isStrict: true, port: 8853, name: 'ns.example', pins });
    await query`update peers set tls = 'opportunistic', tls_name = null, tls_pins = '{}' where name = 'one'`;
    await refresh();
    expect(primary.tls).toEqual({ isStrict: false, port: 8853, name: undefined, pins: [] });
    await query`update peers set tls = 'off' where name = 'one'`;
    await refresh();
    expect(primary.tls).toBeUndefined();
  });

  test('rejects when it is aborted, and saves nothing', async () => {
    const stopping = new AbortController();
    primary.onTransfer = async () => {
      stopping.abort(new Error('stopped'));
      throw stopping.signal.reason;
    };
    await expect(refresh(id, stopping.signal)).rejects.toThrow('stopped');
    expect(await query`select failures, serial from secondaries`).toEqual([{ failures: 0, serial: null }]);
  });

  test('accepts the whole zone as the answer to IXFR (RFC 1995 §4)', async () => {
    await refresh();
    primary.publish(2, 'www 60 A 192.0.2.2');
    primary.ixfr = 'zone';
    expect(await refresh()).toMatchObject({ form: 'axfr', serial: 2, notIncremental: undefined });
    expect(primary.asked.slice(-1)).toEqual(['ixfr']);
    await expectCopy();
  });

  test('asks the next address if one fails, and reports the failure that came furthest', async () => {
    await query`update secondaries set peers = (select array_agg(id order by name) from peers where name in ('one', 'two'))`;
    primary.soa = failure('PRIMARY_SILENT');
    const failed = await refresh();
    expect(primary.asked).toEqual(['soa 192.0.2.1', 'soa 192.0.2.2', 'soa 192.0.2.3']);
    expect(failed).toMatchObject({
      kind: 'failed',
      finding: { code: 'PRIMARY_SILENT' },
      isNew: true,
      form: undefined,
    });
    primary.soa = undefined;
    primary.axfr = failure('TRANSFER_TOO_LARGE');
    expect(await refresh()).toMatchObject({
      finding: { code: 'TRANSFER_TOO_LARGE' },
      form: 'axfr',
      isNew: true,
    });
    expect(await query`select failures, last_error, serial from secondaries`).toEqual([
      { failures: 2, last_error: 'TRANSFER_TOO_LARGE', serial: null },
    ]);
    expect(await stored()).toEqual([]);
  });

  test('does not take an older serial until a transfer is requested', async () => {
    await refresh();
    primary.publish(0xffff_fff0, 'www 60 A 192.0.2.9');
    expect(await refresh()).toMatchObject({ kind: 'failed', finding: { code: 'PRIMARY_SERIAL_BACK' } });
    expect(await orderRetransfers(db, [ZONE, 'other.example.'])).toEqual([ZONE]);
    expect(await refresh()).toMatchObject({ kind: 'transferred', form: 'axfr', serial: 0xffff_fff0 });
    await expectCopy();
    expect(await value`select is_forced from secondaries`).toBe(false);
  });

  test('keeps the old copy if the new zone is not valid or too large', async () => {
    await refresh();
    const before = linesOf(await stored());
    primary.publish(2, 'www 60 A 192.0.2.1\nwww 60 CNAME x');
    expect(await refresh()).toMatchObject({
      finding: { code: 'TRANSFER_INVALID', message: expect.stringContaining('has both CNAME and A') },
    });
    await query`update secondaries set max_records = 3`;
    primary.publish(3, 'www 60 A 192.0.2.1\nnew 60 A 192.0.2.1');
    primary.ixfr = failure('PRIMARY_SILENT');
    expect(await refresh()).toMatchObject({ finding: { code: 'TRANSFER_INVALID' } });
    expect(linesOf(await stored())).toEqual(before);
  });

  test('saves nothing if another result was saved in the meantime, and is not repeated', async () => {
    primary.onTransfer = async () => {
      primary.onTransfer = async () => {};
      await refresh();
    };
    expect(await refresh()).toEqual({ kind: 'conflict' });
    await query`update secondaries set due_at = now() + interval '1 hour'`;
    expect(await column`select version from zones`).toHaveLength(1);
    await query`delete from secondaries`;
    expect(await refresh()).toEqual({ kind: 'absent' });
  });

  test('signs queries with the key of the peer, and does not query with a key that cannot be used', async () => {
    const sealed = sealTsigKey(SECRETS, 'k.example.', Buffer.alloc(32))!;
    await query`insert into tsig_keys (name, algorithm, use, wrap, sealed)
      values ('k.example.', 'hmac-sha256', 'fetch', ${sealed.wrap}, ${sealed.sealed})`;
    await query`update peers set key_id = (select id from tsig_keys) where name = 'one'`;
    expect((await refresh()).kind).toBe('transferred');
    expect(primary.asked[0]).toBe('soa 192.0.2.1 signed');
    for (const change of ["wrap = 't2'", "wrap = 't1', revoked_at = now()"]) {
      await db.executeQuery({ sql: `update tsig_keys set ${change}`, parameters: [] } as never);
      expect(await refresh()).toMatchObject({ finding: { code: 'PRIMARY_TSIG' } });
    }
    expect(primary.asked).toHaveLength(2);
  });
});

describe('expiry', () => {
  const past = () => query`update secondaries set expires_at = now() - interval '1 s'`;

  test('follows only a refresh that fails after the time, and ends with a transfer', async () => {
    await refresh();
    await past();
    expect(await isExpired()).toBe(false);
    expect((await refresh()).kind).toBe('current');
    primary.soa = failure('PRIMARY_SILENT');
    expect(await refresh()).toMatchObject({ kind: 'failed', expiry: undefined });
    await past();
    expect(await refresh()).toMatchObject({ kind: 'failed', expiry: 'expired' });
    expect([await isExpired(), await value`select records from zones`]).toEqual([true, 4]);
    expect(await refresh()).toMatchObject({ kind: 'failed', expiry: undefined });
    primary.soa = undefined;
    expect(await refresh()).toMatchObject({
      kind: 'transferred',
      form: 'axfr',
      wasExpired: true,
      isChanged: true,
    });
    expect([await isExpired(), await value`select expired_at from secondaries`]).toEqual([false, null]);
    await expectCopy();
  });

  test('is held while more than 20 zones and a tenth would expire', async () => {
    await refresh();
    await query`insert into secondaries (zone_name, peers, serial, failures, expires_at)
      select 'z' || n || '.example.', '{1}', 1, 1, now() + interval '14 min' from generate_series(1, 20) n`;
    await past();
    primary.soa = failure('PRIMARY_SILENT');
    expect(await refresh()).toMatchObject({ expiry: 'held' });
    await query`update secondaries set expires_at = now() + interval '16 min' where zone_name = 'z1.example.'`;
    expect(await refresh()).toMatchObject({ expiry: 'expired' });
  });

  test('unloads the copy if the zone is removed, which otherwise stays as an operator zone', async () => {
    await refresh();
    expect(await removeSecondary(db, ZONE, 'me')).toBe('kept');
    await expectCopy();
    await saveZones(db, [{ apex: APEX, records: primary.versions[0]! }], { source: 'test' });
    await addSecondary(db, { zone: ZONE, from: ['one'], maxRecords: null });
    await query`update secondaries set expired_at = now()`;
    expect([await removeSecondary(db, ZONE, 'me'), await stored()]).toEqual(['unloaded', []]);
    expect(await removeSecondary(db, ZONE, 'me')).toBe('absent');
  });
});

describe('due secondaries', () => {
  test('are claimed once per lease, healthy ones on request', async () => {
    await query`insert into secondaries (zone_name, peers, failures) values ('failing.example.', '{1}', 1)`;
    await query`insert into secondaries (zone_name, peers, due_at) values ('later.example.', '{1}', now() + interval '1 min')`;
    expect(await claimDueSecondaries(worker, 10, { healthyOnly: true })).toEqual([
      { secondaryId: id, turn: 1 },
    ]);
    expect(await claimDueSecondaries(worker, 10)).toEqual([{ secondaryId: id + 1, turn: 5 }]);
    expect(await claimDueSecondaries(worker, 10)).toEqual([]);
    await query`update secondaries set leased_until = now() - interval '1 s'`;
    expect(await claimDueSecondaries(worker, 10)).toHaveLength(2);
  });

  const notify = async (zone: string, serial: number | null) => {
    await query`insert into received_notifies (slot, zone, serial) values (1, ${zone}, ${serial})`;
    return await takeNotifies(worker);
  };
  const isDue = () => value`select due_at <= now() from secondaries`;

  test.each([
    ['a newer serial', 8, true],
    ['an unknown serial', null, true],
    ['the serial of the copy', 7, false],
    ['an older serial', 0xffff_ffff, false],
  ])('include a zone of which NOTIFY announces %s', async (_, serial, expected) => {
    await query`update secondaries set serial = 7, due_at = now() + interval '1 hour'`;
    expect(await notify(ZONE, serial)).toBe(1);
    expect([await isDue(), await value`select count(*)::integer from received_notifies`]).toEqual([
      expected,
      0,
    ]);
    expect(await notify('other.example.', serial)).toBe(1);
  });

  test('include a zone whose refresh failed, with any serial, unless each attempt costs a transfer', async () => {
    await query`update secondaries set serial = 9, due_at = now() + interval '1 hour', failures = 5, last_error = 'TRANSFER_INVALID'`;
    await notify(ZONE, 9);
    expect(await isDue()).toBe(false);
    await query`update secondaries set last_error = 'PRIMARY_SILENT'`;
    await notify(ZONE, 9);
    expect(await isDue()).toBe(true);
  });

  test('include a zone of which NOTIFY came during its refresh', async () => {
    primary.onTransfer = async () => {
      await notify(ZONE, 2);
      await orderRetransfers(db, [ZONE]);
    };
    await refresh();
    expect([await isDue(), await value`select is_forced from secondaries`]).toEqual([true, true]);
    expect(await claimDueSecondaries(worker, 10)).toHaveLength(1);
    expect((await loadSecondary(db, id))?.isDue).toBe(true);
  });
});

describe('a copy', () => {
  test('is not loaded, unloaded or signed here, and does not replace what is signed here', async () => {
    useSecrets(db);
    await refresh();
    const records = primary.versions[0]!;
    const refused = 'is copied from a primary';
    await expect(saveZones(db, [{ apex: APEX, records }], { source: 'test' })).rejects.toThrow(refused);
    await expect(unloadZones(db, [APEX], { source: 'test' })).rejects.toThrow(refused);
    const order = { denial: 'nsec', algorithm: 13, split: false } as const;
    expect(await enableSigning(db, { zoneName: ZONE }, order, BY)).toMatchObject({ code: 'dnssec_verbatim' });
    const signed = recordsOf('@ 60 SOA ns h 1 2 3 4 5\n@ 60 NS ns', 'signed.example.');
    await saveZones(db, [{ apex: parseName('signed.example.'), records: signed }], { source: 'test' });
    await enableSigning(db, { zoneName: 'signed.example.' }, order, BY);
    const add = (zone: string, from: string) => addSecondary(db, { zone, from: [from], maxRecords: null });
    expect(await add('signed.example.', 'one')).toMatchObject({
      message: expect.stringContaining('dnssec disable'),
    });
    expect(await add(ZONE, 'one')).toMatchObject({ message: expect.stringContaining(refused) });
    expect(await add('x.example.', 'three')).toEqual({ kind: 'refused', message: 'no such peer: three' });
    expect(await add('x.example.', 'mute')).toMatchObject({ message: expect.stringContaining('no address') });
    await query`insert into peers (name, addresses, tls) values ('unverified', '{192.0.2.4}', 'strict')`;
    expect(await add('x.example.', 'unverified')).toMatchObject({
      message: 'the peer unverified cannot be verified: it has no --tls-name and no --tls-pin',
    });
  });

  test('that its primary signs has the time at which its first signature expires', async () => {
    const DAY = 86_400;
    const at = Math.floor(Date.now() / 1000);
    const key = makeKey(13);
    const signedFor = (days: number) => (records: ZoneRecord[]) =>
      signRecords(APEX, records, {
        key,
        time: { inception: at - DAY, expiration: at + days * DAY },
        denial: { kind: 'nsec' },
      }).sort((a, b) => Number(b.type === TYPE.SOA) - Number(a.type === TYPE.SOA));
    const days = () =>
      value`select round(extract(epoch from expires_at - now()) / 86400)::integer from signed_zones where verbatim`;
    primary.publish(2, 'www 60 A 192.0.2.1', signedFor(5));
    await refresh();
    expect(await days()).toBe(5);
    primary.publish(3, 'www 60 A 192.0.2.1', signedFor(9));
    expect(await refresh()).toMatchObject({ form: 'ixfr' });
    expect(await days()).toBe(9);
    primary.publish(4, 'www 60 A 192.0.2.1');
    expect(await refresh()).toMatchObject({ form: 'ixfr' });
    expect(await days()).toBeUndefined();
    await expectCopy();
  });
});
