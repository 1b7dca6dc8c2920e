import { describe, expect, it } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { recordsOfZone } from '../../src/zone/records-of-zone.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { signRecords } from '../support/dnssec/sign-records.ts';
import { makeKey } from '../support/dnssec/signing.ts';
import { zoneOfRecords } from '../support/zone/sign-zone.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const APEX = parseName('example.');
const TEXT = `@ 60 SOA ns h 1 2 3 4 30\n@ 60 NS ns\nns 30 A 192.0.2.1\ncut 60 NS ns.cut\nns.cut 60 A 192.0.2.2\n*.a.b 60 TXT x\n`;
const NSEC3 = { kind: 'nsec3', iterations: 1, salt: Uint8Array.of(1), optOut: false } as const;
const SIGNED = signRecords(APEX, recordsOf(TEXT, 'example.'), {
  key: makeKey(13),
  time: { inception: 1, expiration: 2 },
  denial: NSEC3,
});
const IDLE = recordsOf(
  '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom 30 NSEC3 1 0 0 - 2T7B4G4VSA5SMI47K61MV5BV1A22BOJR A',
  'example.',
);

const built = (records: readonly ZoneRecord[]) => zoneOfRecords(APEX, records);

describe('the records of a zone', () => {
  it.each([
    ['unsigned', recordsOf(TEXT, 'example.')],
    ['signed', SIGNED],
    ['signed, with another chain that is idle', [...SIGNED, ...IDLE]],
  ])('make the same zone again when it is %s', (_, records) => {
    const zone = built(records);
    const again = [...recordsOfZone(zone)];
    expect(built(again)).toEqual(zone);
    expect(again).toHaveLength(zone.records);
    expect(zone.records).toBe(records.length);
  });

  it('have the TTL that is served', () => {
    const signature = 'ns 900 RRSIG A 13 2 30 20300101000000 20200101000000 1 example. AAAA';
    const lower = recordsOf('ns 20 A 192.0.2.3', 'example.');
    const records = [...recordsOf(`${TEXT}${signature}`, 'example.'), ...lower];
    const owner = parseName('ns.example.');
    expect(
      [...recordsOfZone(built(records))].filter((one) => one.owner === owner).map(({ ttl }) => ttl),
    ).toEqual([20, 20, 20]);
  });
});
