import { describe, expect, it } from 'vitest';
import { readSignature } from '../../../src/dns/dnssec/signed-octets.ts';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { planRefresh } from '../../../src/zone/signing/plan-refresh.ts';
import { recordsByOwner } from '../../../src/zone/signing/standing.ts';
import { SignedRows } from '../../support/dnssec/signed-rows.ts';
import { dnskeyRecords, testKey } from '../../support/dnssec/zone-keys.ts';
import { checkSigned } from '../../support/zone/check-signed.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('zone.example.');
const NOW = 1_800_000_000;
const [ksk, zsk] = [testKey(), testKey(13, 256)];
const keys = { entry: [ksk], data: [zsk] };
const TEXT = `
@ 3600 SOA ns h 1 2 3 4 900
@ 3600 NS ns
a 300 A 192.0.2.1
cut 300 NS ns.cut
ns.cut 300 A 192.0.2.2`;

function signedUntil(expiration: number): SignedRows {
  const rows = new SignedRows(APEX);
  const wanted = recordsByOwner([...recordsOf(TEXT, 'zone.example.'), ...dnskeyRecords(APEX, [ksk, zsk])]);
  const order = { apex: APEX, denial: 'nsec' as const, keys, remakeBefore: NOW, wanted, whole: true };
  rows.sign(order, { inception: NOW - 100, expiration });
  return rows;
}

describe('a refresh', () => {
  it('makes each signature anew with the key that it has, and nothing that is not signed', () => {
    const rows = signedUntil(NOW + 50);
    const plan = planRefresh(rows.records(), { apex: APEX, keys, remakeBefore: NOW + 51 });
    expect(plan.toSign.length).toBe(rows.records().filter(({ type }) => type === TYPE.RRSIG).length);
    expect(plan.toSign.filter(({ key }) => key === ksk).map(({ set }) => set.type)).toEqual([TYPE.DNSKEY]);
    rows.write(plan, { inception: NOW - 100, expiration: NOW + 5000 });
    expect(checkSigned(APEX, rows.records(), NOW + 4000)).toEqual([]);
  });

  it('leaves alone what is not due, also beside what is', () => {
    const rows = signedUntil(NOW + 50);
    expect(planRefresh(rows.records(), { apex: APEX, keys, remakeBefore: NOW + 50 }).rows([])).toEqual([]);
    const later = signedUntil(NOW + 5000).records();
    const isNsec = (rdata: Uint8Array) => readSignature(rdata).typeCovered === TYPE.NSEC;
    const mixed = [
      ...rows.records().filter(({ type, rdata }) => type !== TYPE.RRSIG || isNsec(rdata)),
      ...later.filter(({ type, rdata }) => type === TYPE.RRSIG && !isNsec(rdata)),
    ];
    const plan = planRefresh(mixed, { apex: APEX, keys, remakeBefore: NOW + 1000 });
    expect(new Set(plan.toSign.map(({ set }) => set.type))).toEqual(new Set([TYPE.NSEC]));
    for (const { owner, types, records } of plan.rows(plan.toSign.map(() => new Uint8Array(30)))) {
      expect(types).toEqual([TYPE.RRSIG]);
      const before = mixed.filter((record) => record.owner === owner && record.type === TYPE.RRSIG);
      expect(records.length).toBe(before.length);
      expect(records.filter((record) => before.some(({ rdata }) => rdata === record.rdata)).length).toBe(
        before.length - 1,
      );
    }
  });

  it('with other keys adds the signatures of a new algorithm, and drops those of the old one', () => {
    const rows = signedUntil(NOW + 5000);
    const times = { inception: NOW - 100, expiration: NOW + 5000 };
    const next = { entry: testKey(15), data: testKey(15, 256) };
    const both = { entry: [ksk, next.entry], data: [zsk, next.data] };
    const signed = () => rows.records().filter(({ type }) => type === TYPE.RRSIG).length;
    const before = signed();
    const resign = (by: typeof both) => {
      const plan = planRefresh(rows.records(), { apex: APEX, keys: by, remakeBefore: NOW });
      rows.write(plan, times);
      return plan.toSign.length;
    };
    expect(resign(both)).toBe(before);
    expect(signed()).toBe(2 * before);
    expect(checkSigned(APEX, rows.records(), NOW)).toEqual([]);
    expect(resign({ entry: [next.entry], data: [next.data] })).toBe(0);
    expect(signed()).toBe(before);
    expect(resign({ entry: [next.entry], data: [next.data] })).toBe(0);
  });
});
