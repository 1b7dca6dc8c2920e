import { expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { alignTtls } from '../../../src/dns/zone-file/align-ttls.ts';

const NO_OCTETS = new Uint8Array();
const A_NAME = parseName('a.example.');

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
