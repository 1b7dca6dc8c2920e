import { describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { idOfSet, type RegionSets, rdataOfSet } from '../../../src/zone/edge-sets.ts';
import { edgeMarkOf, type RecordSet, type ZoneNode, type ZoneRecord } from '../../../src/zone/zone.ts';
import { signRecords } from '../../support/dnssec/sign-records.ts';
import { makeKey, signSet } from '../../support/dnssec/signing.ts';
import { regionalSet } from '../../support/reference/regional-set.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('example.');
const WWW = parseName('www.example.');
const KEY = makeKey(15);
const TIME = { inception: 1_000, expiration: 2_000 };
const AT = 1_500;
const REGION: RegionSets = { region: 'eu', v4: [['192.0.2.1'], ['192.0.2.2']], v6: [] };
const RECORDS = recordsOf('@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns\nwww 60 A 198.51.100.1', 'example.');

function mark(addresses: readonly string[], { ttl = 60, key = KEY, time = TIME } = {}): ZoneRecord {
  const rdata = rdataOfSet(TYPE.A, addresses);
  const signature = signSet({ owner: WWW, type: TYPE.A, ttl, rdata }, key, { zone: APEX, time });
  return { ...edgeMarkOf(WWW), rdata: Uint8Array.from([...idOfSet(TYPE.A, rdata), ...signature]) };
}

function given(marks: readonly ZoneRecord[]): string[] {
  const records = signRecords(APEX, RECORDS, { key: KEY, time: TIME, denial: { kind: 'nsec' } });
  const zone = zoneOfRecords(APEX, [...records, ...marks]);
  const node = zone.nodes.get(WWW) as ZoneNode;
  const set = regionalSet(zone, node, node.sets.get(TYPE.A) as RecordSet, { region: REGION, at: AT });
  return set.rdata.map((one) => one.join('.'));
}

describe('the set of a region in a signed zone', () => {
  const [newest, before] = REGION.v4 as [string[], string[]];
  const ended = mark(newest, { time: { inception: 1, expiration: AT } });
  const [otherTtl, otherKey] = [mark(newest, { ttl: 61 }), mark(newest, { key: makeKey(15) })];
  test.each([
    ['the newest if it is signed', [mark(newest), mark(before)], ['192.0.2.1']],
    ['the one before, until the newest is signed', [mark(before)], ['192.0.2.2']],
    ["the edge's if none is signed", [edgeMarkOf(WWW)], ['198.51.100.1']],
    ['none whose signature has expired', [ended], ['198.51.100.1']],
    ['none that was signed with another TTL', [otherTtl], ['198.51.100.1']],
    ['none that was signed by a key no longer in use', [otherKey], ['198.51.100.1']],
  ])('is %s', (_, marks, wanted) => {
    expect(given(marks)).toEqual(wanted);
  });
});
