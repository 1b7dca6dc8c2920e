import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalKey, encodeKey, fillKeyStart } from '../../src/dns/dnssec/canonical-key.ts';
import { canonicalRdata } from '../../src/dns/dnssec/canonical-rdata.ts';
import { coversHash, coversName, type Nsec3, readNsec, readNsec3 } from '../../src/dns/dnssec/denial.ts';
import { dsDigest, isKnownDigest } from '../../src/dns/dnssec/ds-digest.ts';
import { keyTag } from '../../src/dns/dnssec/key-tag.ts';
import { nsec3Hash } from '../../src/dns/dnssec/nsec3-hash.ts';
import { secondsBetween, timeFault } from '../../src/dns/dnssec/signature-time.ts';
import {
  type RecordSet,
  readSignature,
  type Signature,
  signedOctets,
} from '../../src/dns/dnssec/signed-octets.ts';
import { sortNames } from '../../src/dns/dnssec/sort-names.ts';
import { isKnownAlgorithm, verifySignature } from '../../src/dns/dnssec/verify-signature.ts';
import { verifyZonemd } from '../../src/dns/dnssec/zonemd.ts';
import {
  compareNames,
  foldCase,
  labelCount,
  type Name,
  parseName,
  prependLabel,
  printName,
  wildcardBelow,
} from '../../src/dns/name.ts';
import { printBase32Hex } from '../../src/dns/record/base-encodings.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { inOneGo } from '../../src/dns/zone-file/in-one-go.ts';
import { makeKey, signSet } from '../support/dnssec/signing.ts';
import { wordsOf } from '../support/tests/rows-of.ts';
import { name } from '../support/world/zone-exchange.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

describe('the key of a name', () => {
  const APEX = parseName('zone.example.');
  const label = fc
    .array(fc.oneof(fc.constantFrom(0, 1, 2, 0x2a, 0x41, 0x61, 0xff), fc.nat(255)), {
      minLength: 1,
      maxLength: 5,
    })
    .map((octets) => String.fromCharCode(...octets));
  const name = fc
    .array(label, { maxLength: 4 })
    .map((labels) => labels.reduce<Name>((below, each) => prependLabel(each, below) as Name, APEX));

  const hex = (text: string, apex = APEX) =>
    Buffer.from(encodeKey(canonicalKey(parseName(text, apex), apex))).toString('hex');

  it('has the labels from the right, each terminated by 00, with 00 and 01 escaped', () => {
    expect(hex('@')).toBe('');
    expect(hex('b.A')).toBe('61006200');
    expect(hex('x\\000y')).toBe('7801017900');
    expect(hex('\\001')).toBe('010200');
    expect(hex('a', parseName('.'))).toBe('6100');
  });

  it('sorts names as in RFC 4034 §6.1, as octets and as a string', () => {
    const sorted = ['@', 'a', 'yljkjljk.a', 'Z.a', 'zABC.a', 'z', '\\001.z', '*.z', '\\200.z'];
    const keys = sorted.map((text) => canonicalKey(parseName(text, APEX), APEX));
    expect(keys.toSorted()).toEqual(keys);
    fc.assert(
      fc.property(name, name, (a, b) => {
        const [left, right] = [canonicalKey(a, APEX), canonicalKey(b, APEX)];
        const order = Math.sign(compareNames(a, b));
        const ofOctets = Math.sign(Buffer.compare(encodeKey(left), encodeKey(right)));
        const ofStrings = left < right ? -1 : Number(left > right);
        return ofOctets === order && ofStrings === order;
      }),
      { numRuns: 2000 },
    );
  });

  it('has a start of eight octets that is computed without allocation, for each name above it and its wildcard', () => {
    const words = new Uint32Array(2);
    const isStartOf = (key: string) => startOf(key).every((word, i) => words[i] === word);
    fc.assert(
      fc.property(name, (mixed) => {
        const folded = foldCase(mixed);
        const found = labelled(folded);
        for (let from = 0; from <= found.labels - labelCount(APEX); from++) {
          const suffix = folded.slice(found.labelAt[from]) as Name;
          fillKeyStart(found, from, labelCount(APEX), false, words);
          if (!isStartOf(canonicalKey(suffix, APEX))) return false;
          fillKeyStart(found, from, labelCount(APEX), true, words);
          if (!isStartOf(canonicalKey(wildcardBelow(suffix) as Name, APEX))) return false;
        }
        return true;
      }),
      { numRuns: 1000 },
    );
  });

  function labelled(of: Name) {
    const octets = new Uint8Array(264).fill(0xee);
    octets.set(Buffer.from(of, 'latin1'));
    const labelAt = new Uint8Array(128);
    let labels = 0;
    for (let at = 0; octets[at] !== 0; at += (octets[at] as number) + 1) labelAt[labels++] = at;
    labelAt[labels] = of.length - 1;
    return { octets, labelAt, labels };
  }

  function startOf(key: string): number[] {
    const octets = Buffer.alloc(8);
    octets.set(Buffer.from(key, 'latin1').subarray(0, 8));
    return [octets.readUInt32BE(0), octets.readUInt32BE(4)];
  }
});

const canonical = (text: string) => {
  const [{ type, rdata }] = recordsOf(`@ ${text}`, 'X.') as unknown as [{ type: number; rdata: Uint8Array }];
  return printRdata(type, canonicalRdata(type, rdata));
};

describe('the canonical form of rdata', () => {
  it.each([
    ['NS Ns.Example.', 'ns.example.'],
    ['SOA Mname.A. RName.B. 1 2 3 4 5', 'mname.a. rname.b. 1 2 3 4 5'],
    ['MX 16705 Mail.A.', '16705 mail.a.'],
    ['SRV 16705 16705 16705 Host.A.', '16705 16705 16705 host.a.'],
    ['RP Admin.A. Txt.A.', 'admin.a. txt.a.'],
    ['NAPTR 16705 10 "U" "E2U+SIP" "!A!B!" Re.A.', '16705 10 "U" "E2U+SIP" "!A!B!" re.a.'],
    ['NSEC Next.A. NS RRSIG', 'Next.A. NS RRSIG'],
    ['SVCB 1 Svc.A.', '1 Svc.A.'],
    ['TXT "ABC"', '"ABC"'],
  ])('of %s is %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  it('does not modify the given octets', () => {
    const [{ type, rdata }] = recordsOf('@ NS NS.A.') as unknown as [{ type: number; rdata: Uint8Array }];
    const before = Uint8Array.from(rdata);
    canonicalRdata(type, rdata);
    expect(rdata).toEqual(before);
  });
});

const HASH = '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom';
const nsec = (owner: string, text: string) =>
  readNsec(name(owner), recordsOf(`@ NSEC ${text}`)[0]?.rdata as Uint8Array);
const nsec3 = (owner: string, text: string) =>
  readNsec3(name(owner), recordsOf(`@ NSEC3 ${text}`)[0]?.rdata as Uint8Array, name('test'));

describe('an NSEC record', () => {
  it('covers the names between its owner and the next name, in canonical order', () => {
    const record = nsec('b.test', 'D.test. A');
    expect(
      ['a', 'b', 'a.b', 'c', 'd', 'e', 'z.c'].filter((at) => coversName(record, name(`${at}.test`))),
    ).toEqual(['a.b', 'c', 'z.c']);
    expect(record.types).toEqual(new Set([TYPE.A]));
  });

  it('covers all later names if it is the last one', () => {
    const record = nsec('m.test', 'test. A');
    expect(['a', 'm', 'n'].filter((at) => coversName(record, name(`${at}.test`)))).toEqual(['n']);
  });

  it('covers all names but its owner if it is the only one', () => {
    const record = nsec('test', 'test. SOA');
    expect([name('test'), name('a.test')].filter((at) => coversName(record, at))).toEqual([name('a.test')]);
  });
});

describe('an NSEC3 record', () => {
  it('covers the hashes between its own and the next one, even across the end', () => {
    const record = nsec3(`${HASH}.test`, `1 1 5 aabb ${HASH.replace('0', '4')} NS`) as Nsec3;
    expect(record).toMatchObject({ optOut: true, iterations: 5 });
    const at = (first: number) => Uint8Array.of(first, ...record.hash.subarray(1));
    const firsts = [0, 7, 0x25, 0x27, 0xff];
    expect(firsts.filter((first) => coversHash(record, at(first)))).toEqual([7, 0x25]);
    const last = { ...record, hash: record.next, next: record.hash };
    expect(firsts.filter((first) => coversHash(last, at(first)))).toEqual([0, 0x27, 0xff]);
  });

  it.each([
    ['another hash algorithm', `${HASH}.test`, `2 0 5 aabb ${HASH}`],
    ['unknown flags', `${HASH}.test`, `1 2 5 aabb ${HASH}`],
    ['an owner that is not a hash', 'wxyz.test', `1 0 5 aabb ${HASH}`],
    ['an owner that is too short', 'aa.test', `1 0 5 aabb ${HASH}`],
    ['an owner below another name', `${HASH}.a.test`, `1 0 5 aabb ${HASH}`],
    ['a next hash that is too short', `${HASH}.test`, '1 0 5 aabb aaaaaaaa'],
  ])('with %s is ignored', (_, owner, text) => {
    expect(nsec3(owner, text)).toBeUndefined();
  });
});

const KEY =
  '256 3 5 AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==';
const digest = (owner: string, type: number, key = KEY) =>
  Buffer.from(
    dsDigest(parseName(owner), recordsOf(`@ DNSKEY ${key}`)[0]?.rdata as Uint8Array, type) ?? [],
  ).toString('hex');

describe('the digest of a DS record', () => {
  it('equals the examples of RFC 4034 §5.4, RFC 4509 §2.3 and RFC 6605 §6.2', () => {
    expect(digest('dskey.example.com.', 1)).toBe('2bb183af5f22588179a53b0a98631fad1a292118');
    expect(digest('dskey.example.com.', 2)).toBe(
      'd4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a',
    );
    const key =
      '257 3 14 xKYaNhWdGOfJ+nPrL8/arkwf2EY3MDJ+SErKivBVSum1w/egsXvSADtNJhyem5RCOpgQ6K8X1DRSEkrbYQ+OB+v8/uX45NBwY8rp65F6Glur8I/mlVNgF6W/qTI37m40';
    expect(digest('example.net.', 4, key)).toBe(
      '72d7b62976ce06438e9c0bf319013cf801f09ecc84b8d7e9495f27e305c6a9b0563a9b5f4d288405c3008a946df983d6',
    );
  });

  it('does not depend on the case of the owner', () => {
    expect(digest('DSkey.Example.com.', 2)).toBe(digest('dskey.example.com.', 2));
  });

  it('is undefined for other digest types', () => {
    expect(digest('dskey.example.com.', 3)).toBe('');
    expect([1, 2, 3, 4, 5].filter(isKnownDigest)).toEqual([1, 2, 4]);
  });
});

const tagOf = (text: string) => keyTag(recordsOf(`@ DNSKEY ${text}`)[0]?.rdata as Uint8Array);

describe('the tag of a key', () => {
  it('equals the examples of RFC 4034, RFC 6605 and RFC 8080', () => {
    expect(
      tagOf(
        '256 3 5 AQOeiiR0GOMYkDshWoSKz9XzfwJr1AYtsmx3TGkJaNXVbfi/2pHm822aJ5iI9BMzNXxeYCmZDRD99WYwYqUSdjMmmAphXdvxegXd/M5+X7OrzKBaMbCVdFLUUh6DhweJBjEVv5f2wwjM9XzcnOf+EPbtG9DMBmADjFDc2w/rljwvFw==',
      ),
    ).toBe(60485);
    expect(
      tagOf(
        '257 3 13 GojIhhXUN/u4v54ZQqGSnyhWJwaubCvTmeexv7bR6edbkrSqQpF64cYbcB7wNcP+e+MAnLr+Wi9xMWyQLc8NAA==',
      ),
    ).toBe(55648);
    expect(tagOf('257 3 15 l02Woi0iS8Aa25FQkUd9RMzZHJpBoRQwAQEX1SxZJA4=')).toBe(3613);
  });

  it('is the end of the modulus for algorithm 1 (RFC 4034 B.1)', () => {
    expect(tagOf(`257 3 1 ${Buffer.from([3, 1, 0, 1, 9, 0x12, 0x34, 0x56]).toString('base64')}`)).toBe(
      0x1234,
    );
  });
});

const hash = (name: string) =>
  printBase32Hex(nsec3Hash(parseName(name), Uint8Array.of(0xaa, 0xbb, 0xcc, 0xdd), 12)).toLowerCase();

describe('the hash of a name', () => {
  it('equals the example of RFC 5155 A', () => {
    expect(hash('example.')).toBe('0p9mhaveqvm6t7vbl5lop2u3t2rp3tom');
    expect(hash('a.example.')).toBe('35mthgpgcu1qg68fab165klnsnk3dpvl');
    expect(hash('*.w.example.')).toBe('r53bq7cc2uvmubfu5ocmm6pers9tk9en');
  });

  it('does not depend on the case of letters', () => {
    expect(hash('A.EXAMPLE.')).toBe(hash('a.example.'));
  });
});

const HALF = 2 ** 31;
const fault = (inception: number, expiration: number, at: number, skew = 0) =>
  timeFault({ inception, expiration } as Signature, at, () => skew);

describe('the validity period of a signature', () => {
  it('is checked with serial number arithmetic (RFC 4034 §3.1.5)', () => {
    expect(secondsBetween(2 ** 32 - 5, 5)).toBe(10);
    expect(secondsBetween(5, 2 ** 32 - 5)).toBe(-10);
    expect(secondsBetween(0, HALF - 1)).toBe(HALF - 1);
  });

  it('includes both ends', () => {
    expect([fault(10, 20, 10), fault(10, 20, 20)]).toEqual([undefined, undefined]);
    expect(fault(10, 20, 9)).toBe('a signature is not valid yet');
    expect(fault(10, 20, 21)).toBe('a signature has expired');
    expect(fault(20, 10, 15)).toBe('a signature expires before its inception');
  });

  it('tolerates a clock error that depends on its length', () => {
    const lives: number[] = [];
    const skewOf = (life: number) => {
      lives.push(life);
      return 5;
    };
    const at = (seconds: number) =>
      timeFault({ inception: 100, expiration: 200 } as Signature, seconds, skewOf);
    expect([at(95), at(205)]).toEqual([undefined, undefined]);
    expect([at(94), at(206)]).not.toContain(undefined);
    expect(new Set(lives)).toEqual(new Set([100]));
  });
});

/** RFC 4034 §6.1. */
const SORTED = wordsOf(`
  example. a.example. yljkjljk.a.example. Z.a.example. zABC.a.EXAMPLE. z.example. \\001.z.example.
  *.z.example. \\200.z.example.`);

it('sorts folded names like the example of RFC 4034 §6.1, and compareNames sorts them in any case', () => {
  const names = SORTED.map((name) => parseName(name.toLowerCase()));
  const shuffled = [...names.slice(4), ...names.slice(0, 4)].reverse();
  expect(sortNames(shuffled).map(printName)).toEqual(names.map(printName));
  const mixed = SORTED.map((name) => parseName(name));
  expect([...mixed].reverse().sort(compareNames)).toEqual(mixed);
  expect(compareNames(parseName('A.b.'), parseName('a.B.'))).toBe(0);
});

it('sorts a label before longer ones that start with it, for any octets', () => {
  const names = ['a.', 'a\\000.', 'a\\000b.', 'a\\001.', 'aa.', 'b.'].map((name) => parseName(name));
  expect(sortNames([...names].reverse())).toEqual(names);
});

/** Returns true if the only RRSIG in the records is valid for the other records. */
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
  ])('is valid for its own set in the example of %s', (_, zone, right, wrong, text) => {
    expect(verify(text, zone)).toBe(true);
    expect(verify(text.replace(right, wrong), zone)).toBe(false);
  });

  it.each([8, 10, 13, 14, 15])('of algorithm %i is valid only for its set and key', (algorithm) => {
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

  it('never throws, for any key and signature', () => {
    const octets = [0, 1, 3, 32, 33, 64, 96, 200, 70_000].map((length) =>
      new Uint8Array(length).fill(length + 1),
    );
    for (const algorithm of [0, 1, 5, 7, 8, 10, 12, 13, 14, 15, 16, 255])
      for (const publicKey of octets)
        for (const signature of octets)
          expect(verifySignature(algorithm, { publicKey, data: new Uint8Array(3), signature })).toBe(false);
  });

  it('is not verified with an exponent or modulus that only costs time', () => {
    const wide = Uint8Array.of(200, ...new Uint8Array(200).fill(255), ...new Uint8Array(256).fill(255));
    const long = Uint8Array.of(3, 1, 0, 1, ...new Uint8Array(513).fill(255));
    for (const publicKey of [wide, long]) {
      const signature = new Uint8Array(256);
      expect(verifySignature(8, { publicKey, data: new Uint8Array(1), signature })).toBe(false);
    }
  });

  it('is accepted only for the algorithms of docs/rules.md', () => {
    const known = Array.from({ length: 256 }, (_, i) => i).filter(isKnownAlgorithm);
    expect(known).toEqual([8, 10, 13, 14, 15]);
  });
});

describe('the digest of a zone', () => {
  const SOA =
    '@ 86400 SOA ns1 admin 2018031900 1800 900 604800 86400\n@ 86400 NS ns1\n@ 86400 NS ns2\nns1 3600 A 203.0.113.63\n';
  const digest = (start: string, hex: string) => `@ 86400 ZONEMD ${start} ${hex}\n`;
  // RFC 8976 §A.1
  const SIMPLE = `${SOA}ns2 3600 AAAA 2001:db8::63\n`;
  const OF_SIMPLE =
    'c68090d90a7aed716bc459f9340e3d7c1370d4d24b7e2fc3a1ddc0b9a87153b9a9713b3c9ae5cc27777f98b8e730044c';
  // RFC 8976 §A.3
  const SEVERAL = `${SOA}ns2 86400 TXT "This example has multiple digests"\nNS2 3600 AAAA 2001:db8::63\n`;
  const SHA384 = digest(
    '2018031900 1 1',
    '62e6cf51b02e54b9b5f967d547ce43136792901f9f88e637493daaf401c92c279dd10f0edb1c56f8080211f8480ee306',
  );
  const SHA512 = digest(
    '2018031900 1 2',
    '08cfa1115c7b948c4163a901270395ea226a930cd2cbcf2fa9a5e6eb85f37c8a4e114d884e66f176eab121cb02db7d652e0cc4827e7a3204f166b47e5613fd27',
  );
  const PRIVATE = digest('2018031900 1 240', 'e2d523f654b9422a96c5a8f44607bbee');
  const WRONG = digest('2018031900 1 1', OF_SIMPLE);
  const verify = (text: string) => inOneGo(verifyZonemd(parseName('example.'), recordsOf(text, 'example.')));

  it.each([
    ['SHA-384 of a simple zone', SIMPLE + digest('2018031900 1 1', OF_SIMPLE), 'valid'],
    ['several digests', SEVERAL + SHA384 + SHA512 + PRIVATE, 'valid'],
    ['SHA-512', SEVERAL + SHA512, 'valid'],
    ['one wrong digest next to a right one', SEVERAL + WRONG + SHA512, 'valid'],
    [
      'a signature of the digest, which is not digested',
      `${SEVERAL}${SHA512}@ 86400 RRSIG ZONEMD 13 1 86400 20300101000000 20200101000000 1 example. AAAA\n`,
      'valid',
    ],
    [
      'no digest at the apex',
      `${SEVERAL}ns1 3600 ZONEMD 2018031900 1 240 e2d523f654b9422a96c5a8f44607bbee\n`,
      'absent',
    ],
    ['an unsupported hash', SEVERAL + PRIVATE, 'unsupported'],
    ['an unsupported scheme', SEVERAL + SHA512.replace(' 1 2 ', ' 2 2 '), 'unsupported'],
    ['another TTL', SEVERAL.replace('3600 A ', '3601 A ') + SHA512, 'does not match the records of the zone'],
    [
      'another signature',
      `${SEVERAL}${SHA512}@ 86400 RRSIG NS 13 1 86400 20300101000000 20200101000000 1 example. AAAA\n`,
      'does not match the records of the zone',
    ],
    [
      'another serial',
      SEVERAL + SHA512.replace('900 1', '901 1'),
      'is for the serial 2018031901, not for 2018031900',
    ],
    ['two digests with one hash', SEVERAL + SHA384 + WRONG, 'has several digests with one hash algorithm'],
  ])('with %s is verified (RFC 8976 §4)', (_, text, expected) => {
    const result = verify(text);
    expect(result.kind === 'invalid' ? result.message : result.kind).toContain(expected);
  });
});
