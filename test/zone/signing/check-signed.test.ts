import { describe, expect, it } from 'vitest';
import { readSignature } from '../../../src/dns/dnssec/signed-octets.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { findFaults } from '../../../src/zone/signing/check-signed.ts';
import type { DenialKind } from '../../../src/zone/signing/signed-types.ts';
import { recordsByOwner } from '../../../src/zone/signing/standing.ts';
import { markOf, type ZoneRecord } from '../../../src/zone/zone.ts';
import { SignedRows } from '../../support/dnssec/signed-rows.ts';
import { dnskeyRecords, testKey } from '../../support/dnssec/zone-keys.ts';
import { name } from '../../support/world/zone-exchange.ts';
import { checkSigned } from '../../support/zone/check-signed.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const ZONE = name('zone.test');
const AT = 1_800_000_000;
const times = { inception: AT - 100, expiration: AT + 100 };
const KEY = testKey();
const OTHER = testKey();
const TEXT = `
@ 3600 SOA ns h 1 2 3 4 900
@ 3600 NS ns
ns 300 A 192.0.2.1
a.ent 300 A 192.0.2.1
a.ent 300 TXT "x"
*.w 300 TXT "y"
cut 300 NS ns.cut
cut 300 DS 1 13 2 ${'ab'.repeat(32)}
ns.cut 300 A 192.0.2.2
unsigned 300 NS ns.cut`;

function signed(denial: DenialKind): ZoneRecord[] {
  const records = [
    ...recordsOf(TEXT, 'zone.test.'),
    ...dnskeyRecords(ZONE, [KEY]),
    markOf(name('marked.zone.test')),
  ];
  const wanted = recordsByOwner(records);
  const rows = new SignedRows(ZONE);
  rows.sign(
    { apex: ZONE, denial, keys: { entry: [KEY], data: [KEY] }, remakeBefore: AT, wanted, whole: true },
    times,
  );
  return rows.records();
}

const ZONES = { nsec: signed('nsec'), nsec3: signed('nsec3') };
const told = (records: readonly ZoneRecord[], at = AT) =>
  checkSigned(ZONE, records, at).map(({ code, text }) => `${code} ${text}`);
const covers = (record: ZoneRecord, type: number) =>
  record.type === TYPE.RRSIG && readSignature(record.rdata).typeCovered === type;
const without = (records: readonly ZoneRecord[], wrong: (record: ZoneRecord) => boolean) => {
  const left = records.filter((record) => !wrong(record));
  expect(left.length).toBeLessThan(records.length);
  return left;
};
const at = (text: string) => name(`${text}.zone.test`);

describe.each(['nsec', 'nsec3'] as const)('a zone signed with %s', (kind) => {
  const zone = ZONES[kind];
  const denial = kind === 'nsec' ? TYPE.NSEC : TYPE.NSEC3;

  it('has a fault for a signature beside no set', () => {
    const gone = without(zone, ({ owner, type }) => owner === at('a.ent') && type === TYPE.TXT);
    expect(told(gone)).toContain('SIGNATURE_OF_NOTHING a.ent.zone.test. TXT is signed and not there');
    expect(told(gone).some((text) => text.startsWith('DENIAL_TYPES'))).toBe(true);
  });

  it('has a fault for a denial without a name', () => {
    const gone = without(
      zone,
      (record) => record.owner === at('ns') && record.type !== denial && !covers(record, denial),
    );
    expect(told(gone).some((text) => text.startsWith('DENIAL_OF_NOTHING'))).toBe(true);
  });

  it('has a fault for each denial with another TTL, another next or other types than it must have', () => {
    const all = zone.filter(({ type }) => type === denial);
    const ttl = told(zone.map((record) => (record.type === denial ? { ...record, ttl: 60 } : record)));
    expect(ttl.filter((text) => text.startsWith('DENIAL_TTL')).length).toBe(all.length);
    const [one, two] = all as [ZoneRecord, ZoneRecord];
    const swapped = zone.map((record) => (record === one ? { ...record, rdata: two.rdata } : record));
    expect(told(swapped).some((text) => text.startsWith('DENIAL_NEXT'))).toBe(true);
    const more = [...zone, ...recordsOf('ns 300 CAA 0 issue "x"', 'zone.test.')];
    expect(told(more)).toContainEqual(
      expect.stringMatching(/^DENIAL_TYPES .*shows "A RRSIG( NSEC)?", not "A RRSIG( NSEC)? CAA"$/),
    );
  });

  it('has no keys without a DNSKEY for zones, and no good signature with another', () => {
    expect(told(without(zone, ({ type }) => type === TYPE.DNSKEY))).toEqual([
      'NO_KEYS zone.test. has no SOA or no key',
    ]);
    const swapped = zone.map((record) =>
      record.type === TYPE.DNSKEY ? { ...record, rdata: OTHER.dnskey } : record,
    );
    const faults = told(swapped);
    expect(faults.length).toBe(zone.filter(({ type }) => type === TYPE.RRSIG).length);
    expect(faults.every((text) => text.startsWith('BAD_SIGNATURE'))).toBe(true);
    const host = Uint8Array.from(KEY.dnskey);
    host[0] = 0;
    expect(told(zone.map((r) => (r.type === TYPE.DNSKEY ? { ...r, rdata: host } : r)))).toEqual([
      'NO_KEYS zone.test. has no SOA or no key',
    ]);
  });

  it('of any size lets its caller pause', () => {
    expect([...findFaults(ZONE, zone, AT)].length).toBeGreaterThan(zone.length / 16);
  });
});
