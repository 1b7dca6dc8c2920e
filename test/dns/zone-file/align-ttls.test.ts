import { expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { alignTtls } from '../../../src/dns/zone-file/align-ttls.ts';

const NO_OCTETS = new Uint8Array();
const [A_NAME, B_NAME] = [parseName('a.example.'), parseName('b.example.')];

it('gives every record of a set the TTL of its first, and leaves other sets alone', () => {
  const records = [
    { owner: A_NAME, type: TYPE.A, ttl: 60, rdata: NO_OCTETS },
    { owner: B_NAME, type: TYPE.A, ttl: 300, rdata: NO_OCTETS },
    { owner: A_NAME, type: TYPE.TXT, ttl: 120, rdata: NO_OCTETS },
    { owner: A_NAME, type: TYPE.A, ttl: 900, rdata: NO_OCTETS },
    { owner: B_NAME, type: TYPE.A, ttl: 0, rdata: NO_OCTETS },
  ];
  alignTtls(records);
  expect(records.map(({ ttl }) => ttl)).toEqual([60, 300, 120, 60, 300]);
});

it('gives signatures the TTL of the set that they cover, each type by itself (RFC 4034 §3)', () => {
  const record = (type: number, ttl: number, rdata = NO_OCTETS) => ({ owner: A_NAME, type, ttl, rdata });
  const signatureOf = (type: number, ttl: number) => record(TYPE.RRSIG, ttl, Uint8Array.of(0, type));
  const records = [
    signatureOf(TYPE.TXT, 900),
    record(TYPE.A, 60),
    signatureOf(TYPE.A, 120),
    record(TYPE.TXT, 30),
    signatureOf(TYPE.MX, 5),
  ];
  alignTtls(records);
  expect(records.map(({ ttl }) => ttl)).toEqual([30, 60, 60, 30, 5]);
});
