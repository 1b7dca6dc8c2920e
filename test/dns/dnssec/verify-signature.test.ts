import { describe, expect, it } from 'vitest';
import { type RecordSet, readSignature, signedOctets } from '../../../src/dns/dnssec/signed-octets.ts';
import { isKnownAlgorithm, verifySignature } from '../../../src/dns/dnssec/verify-signature.ts';
import type { Name } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { makeKey, signSet } from '../../support/dnssec/signing.ts';
import { name } from '../../support/world/zone-exchange.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

/** Whether the one RRSIG among the records is valid for the set beside it. */
function verify(text: string, origin: string): boolean {
  const records = recordsOf(text, origin);
  const of = (type: number) => records.filter((record) => record.type === type).map(({ rdata }) => rdata);
  const [rrsig] = of(TYPE.RRSIG);
  const [dnskey] = of(TYPE.DNSKEY);
  const signature = readSignature(rrsig as Uint8Array);
  const set = records.find(({ type }) => type === signature.typeCovered) as { owner: Name };
  const covered: RecordSet = {
    owner: set.owner,
    type: signature.typeCovered,
    rdata: of(signature.typeCovered),
  };
  return verifySignature(signature.algorithm, {
    publicKey: (dnskey as Uint8Array).subarray(4),
    data: signedOctets(signature, covered) as Uint8Array,
    signature: signature.signature,
  });
}

describe('a signature', () => {
  it.each([
    [
      'RFC 6605 §6.1 (algorithm 13)',
      'example.net.',
      '192.0.2.1',
      '192.0.2.2',
      `@ DNSKEY 257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==
www 3600 A 192.0.2.1
www 3600 RRSIG A 13 3 3600 20100909100439 20100812100439 55648 example.net. qx6wLYqmh+l9oCKTN6qIc+bw6ya+KJ8oMz0YP107epXAyGmt+3SNruPFKG7tZoLBLlUzGGus7ZwmwWep666VCw==`,
    ],
    [
      'RFC 6605 §6.2 (algorithm 14)',
      'example.net.',
      '3600 A 192',
      '3600 A 193',
      `@ DNSKEY 257 3 14 xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX45NBwY8rp65F6Glur8I/mlVNgF6W/qTI37m40
www 3600 A 192.0.2.1
www 3600 RRSIG A 14 3 3600 20100909102025 20100812102025 10771 example.net. /L5hDKIvGDyI1fcARX3z65qrmPsVz73QD1Mr5CEqOiLP95hxQouuroGCeZOvzFaxsT8Glr74hbavRKayJNuydCuzWTSSPdz7wnqXL5bdcJzusdnI0RSMROxxwGipWcJm`,
    ],
    [
      'RFC 8080 §6.1 (algorithm 15)',
      'example.com.',
      'MX 10',
      'MX 11',
      `@ DNSKEY 257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=
@ 3600 MX 10 mail.example.com.
@ 3600 RRSIG MX 15 2 3600 1440021600 1438207200 3613 example.com. oL9krJun7xfBOIWcGHi7mag5/hdZrKWw15jPGrHpjQeRAvTdszaPD+QLs3fx8A4M3e23mRZ9VrbpMngwcrqNAg==`,
    ],
  ])('is valid in the example of %s, for its own set', (_, zone, right, wrong, text) => {
    expect(verify(text, zone)).toBe(true);
    expect(verify(text.replace(right, wrong), zone)).toBe(false);
  });

  it.each([8, 10, 13, 14, 15])('of algorithm %i is valid for its set and key alone', (algorithm) => {
    const set = { owner: name('a.test'), type: TYPE.TXT, ttl: 60, rdata: [Uint8Array.of(1, 65)] };
    const [key, other] = [makeKey(algorithm), makeKey(algorithm)];
    const time = { inception: 0, expiration: 1000 };
    const signature = readSignature(signSet(set, key, { zone: name('test'), time }));
    const data = signedOctets(signature, set) as Uint8Array;
    const ask = (dnskey: Uint8Array, octets: Uint8Array, bits: Uint8Array) =>
      verifySignature(algorithm, { publicKey: dnskey.subarray(4), data: octets, signature: bits });
    expect(ask(key.rdata, data, signature.signature)).toBe(true);
    expect(ask(other.rdata, data, signature.signature)).toBe(false);
    expect(ask(key.rdata, Uint8Array.of(...data, 0), signature.signature)).toBe(false);
    expect(ask(key.rdata, data, signature.signature.subarray(1))).toBe(false);
  });

  it('never throws, whatever key and signature are', () => {
    const octets = [0, 1, 3, 32, 33, 64, 96, 200, 70_000].map((length) =>
      new Uint8Array(length).fill(length + 1),
    );
    for (const algorithm of [0, 1, 5, 7, 8, 10, 12, 13, 14, 15, 16, 255])
      for (const publicKey of octets)
        for (const signature of octets)
          expect(verifySignature(algorithm, { publicKey, data: new Uint8Array(3), signature })).toBe(false);
  });

  it('is not computed with an exponent or modulus that is there to make work', () => {
    const wide = Uint8Array.of(200, ...new Uint8Array(200).fill(255), ...new Uint8Array(256).fill(255));
    const long = Uint8Array.of(3, 1, 0, 1, ...new Uint8Array(513).fill(255));
    for (const publicKey of [wide, long]) {
      const signature = new Uint8Array(256);
      expect(verifySignature(8, { publicKey, data: new Uint8Array(1), signature })).toBe(false);
    }
  });

  it('counts only with the algorithms of docs/rules.md', () => {
    const known = Array.from({ length: 256 }, (_, i) => i).filter(isKnownAlgorithm);
    expect(known).toEqual([8, 10, 13, 14, 15]);
  });
});
