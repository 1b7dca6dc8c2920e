import { createPublicKey } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyTag } from '../../src/dns/dnssec/key-tag.ts';
import { readSignature } from '../../src/dns/dnssec/signed-octets.ts';
import { printName } from '../../src/dns/name.ts';
import { DNSKEY } from '../../src/dns/record/types/dnssec.ts';
import { WireReader } from '../../src/dns/record/wire-reader.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { findFaults } from '../../src/zone/signing/check-signed.ts';
import { BrokenRing, linkAll, linkDenials } from '../../src/zone/signing/link-denials.ts';
import { signSet, signSets } from '../../src/zone/signing/sign-set.ts';
import { domainOfSignal, isSignal, signalName, signalZone } from '../../src/zone/signing/signals.ts';
import { type DenialKind, denialTypes, depthOf, isSigned } from '../../src/zone/signing/signed-types.ts';
import { KEY_FLAGS, makeKey, readSigningKey } from '../../src/zone/signing/signing-key.ts';
import { recordsByOwner } from '../../src/zone/signing/standing.ts';
import { dueAt, remakeBefore, signatureTimes } from '../../src/zone/signing/validity.ts';
import { verifySet } from '../../src/zone/signing/verify-set.ts';
import { MARK_TYPE, markOf, type ZoneRecord } from '../../src/zone/zone.ts';
import { SignedRows } from '../support/dnssec/signed-rows.ts';
import { dnskeyRecords, type TestKey, testKey } from '../support/dnssec/zone-keys.ts';
import { wordsOf } from '../support/tests/rows-of.ts';
import { scale } from '../support/tests/scale.ts';
import { name } from '../support/world/zone-exchange.ts';
import { checkSigned } from '../support/zone/check-signed.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const ZONE = name('zone.test');
const AT = 1_800_000_000;
const times = { inception: AT - 100, expiration: AT + 100 };

describe('the check of a signed zone', () => {
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

    it('reports a signature without a set', () => {
      const gone = without(zone, ({ owner, type }) => owner === at('a.ent') && type === TYPE.TXT);
      expect(told(gone)).toContain('SIGNATURE_OF_NOTHING a.ent.zone.test. TXT has signatures but no records');
      expect(told(gone).some((text) => text.startsWith('DENIAL_TYPES'))).toBe(true);
    });

    it('reports a denial without a name', () => {
      const gone = without(
        zone,
        (record) => record.owner === at('ns') && record.type !== denial && !covers(record, denial),
      );
      expect(told(gone).some((text) => text.startsWith('DENIAL_OF_NOTHING'))).toBe(true);
    });

    it('reports each denial with a wrong TTL, next name or types', () => {
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

    it('is reported without keys if no DNSKEY is a zone key, and with invalid signatures if the key is another one', () => {
      expect(told(without(zone, ({ type }) => type === TYPE.DNSKEY))).toEqual([
        'NO_KEYS zone.test. has no SOA or no key',
      ]);
      const unsigned = without(zone, ({ type }) => type === TYPE.DNSKEY || type === TYPE.RRSIG);
      expect(told(unsigned)).toEqual(['NO_KEYS zone.test. is not signed']);
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

    it('is checked in pieces, between which the caller can pause', () => {
      expect([...findFaults(ZONE, zone, AT)].length).toBeGreaterThan(zone.length / 16);
    });
  });
});

const ring = (places: string) => linkAll(places);
const change = (standing: string, read: string, come: string, gone: string) => {
  const whole = ring(standing);
  const known = new Map([...read].map((place) => [place, whole.get(place) as string]));
  return Object.fromEntries(linkDenials({ standing: known, come, gone: new Set(gone) }));
};

describe('the ring of denials', () => {
  it('closes at its first position', () => {
    expect(Object.fromEntries(ring('cab'))).toEqual({ a: 'b', b: 'c', c: 'a' });
    expect(Object.fromEntries(ring('a'))).toEqual({ a: 'a' });
  });

  it('is refused if the records cannot be a ring', () => {
    expect(() => change('aceg', '', 'b', '')).toThrow(BrokenRing);
    expect(() => change('aceg', 'a', 'd', '')).toThrow(BrokenRing);
    expect(() => change('aceg', 'ae', '', 'e')).toThrow(BrokenRing);
    const hole = new Map([
      ['a', 'd'],
      ['c', 'e'],
    ]);
    expect(() => linkDenials({ standing: hole, come: [], gone: new Set('c') })).toThrow(BrokenRing);
  });

  it('contains all positions after any changes, if it is computed from the neighbors of the changed ones', () => {
    const place = fc.integer({ min: 97, max: 122 }).map((code) => String.fromCharCode(code));
    const places = fc.uniqueArray(place, { minLength: 1 });
    fc.assert(
      fc.property(
        places,
        fc.uniqueArray(place),
        fc.infiniteStream(fc.boolean()),
        (standing, drawn, coins) => {
          const whole = ring(standing.join(''));
          const come = drawn.filter((each) => !whole.has(each));
          const gone = new Set(standing.filter(() => coins.next().value));
          if (come.length + standing.length === gone.size) return;
          const sorted = standing.toSorted();
          const before = (of: string) => sorted.findLast((each) => each < of) ?? (sorted.at(-1) as string);
          const read = new Set([...gone, ...[...come, ...gone].map(before)]);
          const known = new Map([...read].map((each) => [each, whole.get(each) as string]));
          if (known.size === 0) return;
          const linked = linkDenials({ standing: known, come, gone });
          const after = new Map([...whole].filter(([each]) => !gone.has(each)));
          for (const [each, next] of linked) after.set(each, next);
          const expected = ring([...standing.filter((each) => !gone.has(each)), ...come].join(''));
          expect(Object.fromEntries(after)).toEqual(Object.fromEntries(expected));
        },
      ),
      { numRuns: scale(2000, 100) },
    );
  });
});

describe('signing a set', () => {
  const times = { inception: 1_800_000_000, expiration: 1_801_000_000 };
  const setAt = (owner: string, ...octets: number[]) => ({
    owner: name(owner),
    type: TYPE.TXT,
    ttl: 300,
    rdata: octets.map((octet) => Uint8Array.of(1, octet)),
  });

  describe.each([13, 15] as const)('a signature of algorithm %d', (algorithm) => {
    const key = testKey(algorithm);
    const published = { tag: key.tag, algorithm, publicKey: key.dnskey.subarray(4) };
    const verify = (set: ReturnType<typeof setAt>, signatures: readonly Uint8Array[]) =>
      verifySet({ ...set, signatures }, { zone: ZONE, keys: [published], at: times.inception });

    it('has 64 octets, the zone as signer, the times, the TTL and the labels without an asterisk', () => {
      const set = setAt('*.a.zone.test', 1, 2);
      const rdata = signSet({ set, key }, { zone: ZONE, times });
      expect(readSignature(rdata)).toMatchObject({
        ...times,
        signer: ZONE,
        originalTtl: 300,
        labels: 3,
        keyTag: key.tag,
      });
      expect(readSignature(rdata).signature.length).toBe(64);
      expect(verify(set, [rdata])).toBeUndefined();
    });

    it('is equal whether made in place or by threads, in the order of the sets', async () => {
      for (const count of [0, 1, 32, 33, 100]) {
        const sets = Array.from({ length: count }, (_, i) => setAt(`n${i}.zone.test`, i & 255));
        const made = await signSets(
          sets.map((set) => ({ set, key })),
          { zone: ZONE, times },
        );
        expect(made.length).toBe(count);
        expect(sets.filter((set, i) => verify(set, [made[i] as Uint8Array]) !== undefined)).toEqual([]);
      }
    });

    it('that cannot be made causes an error, even if it is the last of many', async () => {
      const wrong = { ...key, privateKey: createPublicKey(key.privateKey) };
      const sets = Array.from({ length: 40 }, (_, i) => ({
        set: setAt('a.zone.test', i),
        key: i === 39 ? wrong : key,
      }));
      await expect(signSets(sets, { zone: ZONE, times })).rejects.toThrow();
    });

    it('has times modulo 2^32, like serial numbers', () => {
      const late = { inception: 2 ** 32 - 10, expiration: 2 ** 32 + 1_000_000 };
      const set = setAt('a.zone.test', 1);
      const rdata = signSet({ set, key }, { zone: ZONE, times: late });
      expect(readSignature(rdata).expiration).toBe(1_000_000);
      const at = (seconds: number) =>
        verifySet({ ...set, signatures: [rdata] }, { zone: ZONE, keys: [published], at: seconds });
      expect([at(2 ** 32 - 5), at(2 ** 32 + 5)]).toEqual([undefined, undefined]);
      expect(at(2 ** 32 + 1_000_001)).toBe('a signature has expired');
    });
  });
});

describe('signals', () => {
  const ZONE = name('_signal.ns1.example.net');

  it('a domain is signalled below its nameserver, as in RFC 9615, section 2', () => {
    expect(signalZone(name('ns1.example.net'))).toBe(ZONE);
    const signal = signalName(name('example.co.uk'), ZONE);
    expect(printName(signal as never)).toBe('_dsboot.example.co.uk._signal.ns1.example.net.');
    expect(domainOfSignal(signal as never, ZONE)).toBe(name('example.co.uk'));
  });

  it('a name above 255 octets does not exist', () => {
    const label = 'a'.repeat(63);
    const host = name(`${label}.${label}`);
    const zone = signalZone(host) as never;
    expect(signalName(name(`${label}.${'b'.repeat(45)}`), zone)).toHaveLength(255);
    expect(signalName(name(`${label}.${'b'.repeat(46)}`), zone)).toBeUndefined();
    expect(signalZone(name(`${label}.${label}.${label}.${'b'.repeat(60)}`))).toBeUndefined();
  });

  it('only copies of CDS and CDNSKEY at such names are the fleet’s, and only in zones for signals', () => {
    const owner = signalName(name('shop.example'), ZONE) as never;
    expect(isSignal(ZONE, { owner, type: TYPE.CDS })).toBe(true);
    expect(isSignal(ZONE, { owner, type: TYPE.CDNSKEY })).toBe(true);
    expect(isSignal(ZONE, { owner, type: TYPE.TXT })).toBe(false);
    expect(isSignal(ZONE, { owner: name('_dsboot._signal.ns1.example.net'), type: TYPE.CDS })).toBe(false);
    expect(isSignal(ZONE, { owner: name('a._signal.ns1.example.net'), type: TYPE.CDS })).toBe(false);
    expect(isSignal(name('ns1.example.net'), { owner, type: TYPE.CDS })).toBe(false);
  });
});

describe('the types that are signed', () => {
  const { A, NS, SOA, TXT, DS, RRSIG, NSEC, NSEC3, NSEC3PARAM, DNSKEY, CAA } = TYPE;

  describe('a name', () => {
    it('is inside, at or below a cut, for any records at the cut', () => {
      const cuts = new Set([name('cut.test'), name('b.a.test')]);
      const depth = (at: string) => depthOf(name(at), name('test'), (each) => cuts.has(each));
      expect(['test', 'a.test', 'cut.test', 'x.cut.test', 'c.b.a.test', 'b.a.test'].map(depth)).toEqual(
        wordsOf(`
      inside inside cut below below cut`),
      );
      expect(depthOf(name('test'), name('test'), () => true)).toBe('inside'); // NS of the apex are the zone's
    });
  });

  describe('a set', () => {
    it('is signed if it is authoritative: at a cut only DS and NSEC, below one nothing (RFC 4035 §2.2–2.4)', () => {
      const types = [A, NS, TXT, DS, NSEC];
      const signed = (depth: 'inside' | 'cut' | 'below') => types.filter((type) => isSigned(type, depth));
      expect(signed('inside')).toEqual(types);
      expect(signed('cut')).toEqual([DS, NSEC]);
      expect(signed('below')).toEqual([]);
    });

    it('of signatures or a mark is not signed', () => {
      expect([RRSIG, MARK_TYPE].filter((type) => isSigned(type, 'inside'))).toEqual([]);
    });
  });

  describe('NSEC', () => {
    it('lists all types of a name, RRSIG and itself, in ascending order', () => {
      expect(denialTypes([CAA, A], 'inside', 'nsec')).toEqual([A, RRSIG, NSEC, CAA]);
      expect(denialTypes([SOA, NS, DNSKEY, NSEC], 'inside', 'nsec')).toEqual([NS, SOA, RRSIG, NSEC, DNSKEY]);
    });

    it('lists only NS, DS, RRSIG and itself at a cut (RFC 4034 §4.1.2)', () => {
      expect(denialTypes([NS, A, TXT], 'cut', 'nsec')).toEqual([NS, RRSIG, NSEC]);
      expect(denialTypes([DS, NS], 'cut', 'nsec')).toEqual([NS, DS, RRSIG, NSEC]);
    });

    it('shows that a marked name exists, and lists no type', () => {
      expect(denialTypes([MARK_TYPE], 'inside', 'nsec')).toEqual([RRSIG, NSEC]);
    });
  });

  describe('NSEC3', () => {
    it('lists RRSIG if a set is signed (RFC 5155 §7.1)', () => {
      expect(denialTypes([SOA, NS, NSEC3PARAM], 'inside', 'nsec3')).toEqual([NS, SOA, RRSIG, NSEC3PARAM]);
      expect(denialTypes([NS, DS], 'cut', 'nsec3')).toEqual([NS, DS, RRSIG]);
      expect(denialTypes([NS, A], 'cut', 'nsec3')).toEqual([NS]);
    });

    it('lists no types for an empty non-terminal and a marked name, and never NSEC or NSEC3', () => {
      expect(denialTypes([], 'inside', 'nsec3')).toEqual([]);
      expect(denialTypes([MARK_TYPE], 'inside', 'nsec3')).toEqual([]);
      expect(denialTypes([A, NSEC, NSEC3], 'inside', 'nsec3')).toEqual([A, RRSIG]);
    });
  });
});

describe.each([
  [13, 64],
  [15, 32],
] as const)('a key of algorithm %d', (algorithm, octets) => {
  it('has 32 secret octets and a DNSKEY record, and is read from these', () => {
    for (let i = 0; i < 300; i++) {
      const made = makeKey(algorithm, KEY_FLAGS.ENTRY);
      expect(made.secret.length).toBe(32); // even if the number begins with zeros
      const { publicKey, ...rest } = DNSKEY.decode(new WireReader(made.dnskey));
      expect(rest).toEqual({ flags: 257, protocol: 3, algorithm });
      expect(publicKey.length).toBe(octets);
      expect(made.tag).toBe(keyTag(made.dnskey));
      if (i > 5) continue;
      const read = readSigningKey(made.dnskey, made.secret);
      expect([read.tag, read.algorithm]).toEqual([made.tag, algorithm]);
    }
  });

  it('is different each time', () => {
    const made = [makeKey(algorithm, 256), makeKey(algorithm, 256)];
    expect(Buffer.compare(made[0]?.secret as Uint8Array, made[1]?.secret as Uint8Array)).not.toBe(0);
  });
});

describe('a signature', () => {
  const DAY = 86_400;
  const AT = 20_000 * DAY + 5000;
  const expirations = (at = AT, salt = 0) =>
    Array.from({ length: 400 }, (_, i) => signatureTimes(name(`z${i}.test`), at, salt).expiration - at);

  it('is valid from 3 hours before it is made, for resolvers with slow clocks', () => {
    expect(signatureTimes(name('a.test'), AT).inception).toBe(AT - 3 * 3600);
  });

  it('expires in 14 to 16 days, spread evenly over the zones', () => {
    const days = expirations().map((seconds) => seconds / DAY);
    expect(Math.min(...days)).toBeGreaterThan(14);
    expect(Math.max(...days)).toBeLessThanOrEqual(16);
    for (const from of [14, 14.5, 15, 15.5])
      expect(days.filter((each) => each > from && each <= from + 0.5).length).toBeGreaterThan(60);
  });

  it('expires together with all others of the zone made at the same time, for any case of the zone’s name', () => {
    expect(signatureTimes(name('A.test'), AT)).toEqual(signatureTimes(name('a.TEST'), AT));
  });

  it('of another day or another piece of the zone expires at another time', () => {
    const [today, tomorrow, piece] = [expirations(), expirations(AT + DAY), expirations(AT, 1)];
    expect(today.filter((each, i) => each === tomorrow[i]).length).toBeLessThan(5);
    expect(today.filter((each, i) => each === piece[i]).length).toBeLessThan(5);
  });

  it('is due with 9 days left, so that 8 days without a signer leave a day for caches', () => {
    expect(dueAt(AT)).toBe(AT - 9 * DAY);
    expect(remakeBefore(AT, 'edit')).toBe(AT + 9 * DAY);
    // signatures that are not renewed now are not due within two days
    expect(dueAt(remakeBefore(AT, 'refresh'))).toBe(AT + 2 * DAY);
  });

  it('is never due when it is made, not even for a refresh', () => {
    for (const left of expirations()) expect(AT + left).toBeGreaterThan(remakeBefore(AT, 'refresh'));
  });
});

const SET = { owner: name('a.zone.test'), type: TYPE.TXT, ttl: 300, rdata: [Uint8Array.of(1, 65)] };
const [first, second, other] = [testKey(13), testKey(13), testKey(15)];

const sign = (key: TestKey, set = SET, zone = ZONE, when = times) =>
  signSet({ set, key }, { zone, times: when });
const verify = (signatures: readonly Uint8Array[], keys: readonly TestKey[], set = SET) =>
  verifySet(
    { ...set, signatures },
    {
      zone: ZONE,
      keys: keys.map(({ tag, algorithm, dnskey }) => ({ tag, algorithm, publicKey: dnskey.subarray(4) })),
      at: AT,
    },
  );

describe('a stored set', () => {
  it('is valid with one valid signature of each algorithm of the published keys (RFC 4035 §2.2)', () => {
    expect(verify([sign(first)], [first, second])).toBeUndefined();
    expect(verify([sign(first), sign(other)], [first, other])).toBeUndefined();
    expect(verify([sign(first)], [first, other])).toBe(
      'there is no signature of a published key with algorithm 15',
    );
    expect(verify([], [first])).toBe('there is no signature of a published key with algorithm 13');
  });

  it('may also have signatures of keys that are not published yet', () => {
    expect(verify([sign(first), sign(other)], [first])).toBeUndefined();
    expect(verify([sign(second)], [first])).toContain('no signature of a published key');
  });

  it('is invalid with one invalid signature, even if another is valid', () => {
    const wrong = Uint8Array.from(sign(second));
    wrong[wrong.length - 1] = (wrong.at(-1) as number) ^ 1;
    expect(verify([sign(first), wrong], [first, second])).toBe(
      `the signature of key ${second.tag} is not valid`,
    );
    expect(verify([sign(first, { ...SET, rdata: [Uint8Array.of(1, 66)] })], [first])).toContain(
      'is not valid',
    );
  });

  it('is invalid with a signature of another zone, with fewer labels, over another TTL, or outside its validity period', () => {
    expect(verify([sign(first, SET, name('test'))], [first])).toBe('a signature belongs to another zone');
    const wildcard = { ...SET, owner: name('*.zone.test') };
    expect(verify([sign(first, wildcard)], [first])).toBe('a signature has the label count 2');
    expect(verify([sign(first, wildcard)], [first], wildcard)).toBeUndefined();
    expect(verify([sign(first, { ...SET, ttl: 60 })], [first])).toBe('a signature was made for the TTL 60');
    const at = (inception: number, expiration: number) =>
      verify([sign(first, SET, ZONE, { inception, expiration })], [first]);
    expect([at(AT, AT), at(AT + 1, AT + 9), at(AT - 9, AT - 1)]).toEqual([
      undefined,
      'a signature is not valid yet',
      'a signature has expired',
    ]);
  });

  it('cannot be verified without a key of a known algorithm', () => {
    const keys = [{ tag: first.tag, algorithm: 200, publicKey: first.dnskey.subarray(4) }];
    expect(verifySet({ ...SET, signatures: [sign(first)] }, { zone: ZONE, keys, at: AT })).toBe(
      'no published key has a known algorithm',
    );
  });
});
