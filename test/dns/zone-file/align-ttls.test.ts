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
  const signatureOf = (type: number, ttl: number) => ({
    owner: A_NAME,
    type: TYPE.RRSIG,
    ttl,
    rdata: Uint8Array.of(0, type),
  });
  const records = [
    signatureOf(TYPE.TXT, 900),
    { owner: A_NAME, type: TYPE.A, ttl: 60, rdata: NO_OCTETS },
    signatureOf(TYPE.A, 120),
    { owner: A_NAME, type: TYPE.TXT, ttl: 30, rdata: NO_OCTETS },
    signatureOf(TYPE.MX, 5),
  ];
  alignTtls(records);
  expect(records.map(({ ttl }) => ttl)).toEqual([30, 60, 60, 30, 5]);
});

it('has nothing to do for none', () => {
  expect(() => alignTtls([])).not.toThrow();
});
