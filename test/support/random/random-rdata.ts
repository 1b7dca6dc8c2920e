// Random well-formed rdata of every type with a text form of its own, as fast-check arbitraries. Written from the wire
// formats in the RFCs, independently of the code under test.

import fc from 'fast-check';
import { TYPE } from '../../../src/dns/type-codes.ts';

type Octets = fc.Arbitrary<Uint8Array>;

const octets = (minLength: number, maxLength = 40): Octets => fc.uint8Array({ minLength, maxLength });
const exactly = (length: number): Octets => fc.uint8Array({ minLength: length, maxLength: length });
const one = (of: fc.Arbitrary<number>): Octets => of.map((octet) => Uint8Array.of(octet));
const join = (...parts: Octets[]): Octets =>
  fc.tuple(...parts).map((all) => Uint8Array.from(Buffer.concat(all)));
const counted = (part: Octets): Octets => part.map((value) => Uint8Array.of(value.length, ...value));
const u16 = exactly(2);
const u32 = exactly(4);
const anyString = counted(fc.oneof(octets(0), octets(0, 255)));

const label = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_*-]{1,20}$/).map((text) => Uint8Array.from(Buffer.from(text))),
  octets(1, 63),
);

/** An uncompressed name of at most 255 octets, with any octets in its labels. */
export const randomName: Octets = fc.array(counted(label), { maxLength: 8 }).map((labels) => {
  let wire = Buffer.alloc(0);
  for (const next of labels) if (wire.length + next.length < 255) wire = Buffer.concat([wire, next]);
  return Uint8Array.from([...wire, 0]);
});

const letters = fc.stringMatching(/^[A-Za-z0-9]{1,20}$/).map((text) => Uint8Array.from(Buffer.from(text)));

const bitmapWindow = fc
  .tuple(octets(0, 31), fc.integer({ min: 1, max: 255 }))
  .map(([bits, last]) => [...bits, last]);
const typeBitmap = (minLength: number): Octets =>
  fc
    .uniqueArray(fc.tuple(fc.nat(255), bitmapWindow), { minLength, maxLength: 4, selector: ([n]) => n })
    .map((windows) => {
      const rising = windows.sort(([a], [b]) => a - b);
      return Uint8Array.from(rising.flatMap(([number, bits]) => [number, bits.length, ...bits]));
    });

const digest = (lengths: readonly [number, number][]): Octets =>
  fc.oneof(
    ...lengths.map(([type, length]) => join(fc.constant(Uint8Array.of(type)), exactly(length))),
    join(one(fc.integer({ min: 100, max: 255 })), octets(1)),
  );
const dsDigest = digest([
  [1, 20],
  [2, 32],
  [3, 32],
  [4, 48],
]);
const algorithm = one(fc.integer({ min: 1, max: 255 }));
const publicKey = join(u16, fc.constant(Uint8Array.of(3)), algorithm, octets(1, 300));
/** The key of a host, or none (RFC 2535 §3.1.2). */
const key = fc.oneof(
  join(one(fc.nat(191)), exactly(3), octets(1, 300)),
  join(one(fc.integer({ min: 192, max: 255 })), exactly(3)),
);

const parameter = (key: number, value: Octets): fc.Arbitrary<[number, Uint8Array]> =>
  value.map((found) => [key, found]);
const protocols: Octets = fc
  .array(counted(octets(1, 20)), { minLength: 1, maxLength: 4 })
  .map((ids) => Uint8Array.from(Buffer.concat(ids)));
const parameterSets = fc
  .record(
    {
      alpn: fc
        .tuple(parameter(1, protocols), fc.option(parameter(2, exactly(0))))
        .map((both) => both.filter((p) => p !== null)),
      port: parameter(3, u16).map((p) => [p]),
      ipv4hint: parameter(4, fc.array(exactly(4), { minLength: 1, maxLength: 3 }).map(flat)).map((p) => [p]),
      ech: parameter(5, octets(1)).map((p) => [p]),
      ipv6hint: parameter(6, fc.array(exactly(16), { minLength: 1, maxLength: 3 }).map(flat)).map((p) => [p]),
      dohpath: parameter(
        7,
        fc.string().map((text) => Uint8Array.from(Buffer.from(`/${text.replace(/[{}]/g, '')}{?dns}`))),
      ).map((p) => [p]),
      ohttp: parameter(8, exactly(0)).map((p) => [p]),
      others: fc.uniqueArray(fc.tuple(fc.integer({ min: 9, max: 65534 }), octets(0)), {
        maxLength: 3,
        selector: ([key]) => key,
      }),
    },
    { requiredKeys: [] },
  )
  .map((set) => (Object.values(set) as [number, Uint8Array][][]).flat());

function flat(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts));
}

const serviceBinding: Octets = fc
  .tuple(u16, randomName, parameterSets, fc.boolean())
  .map(([priority, target, found, mandates]) => {
    const keys = found.map(([key]) => key).sort((a, b) => a - b);
    const mandatory = Uint8Array.from(keys.flatMap((key) => [key >> 8, key & 255]));
    const all: [number, Uint8Array][] = mandates && keys.length > 0 ? [[0, mandatory], ...found] : [...found];
    const wire = all
      .sort(([a], [b]) => a - b)
      .flatMap(([key, value]) => [key >> 8, key & 255, value.length >> 8, value.length & 255, ...value]);
    return Uint8Array.from([...priority, ...target, ...wire]);
  });

const extent = one(
  fc.oneof(
    fc.constant(0),
    fc.tuple(fc.integer({ min: 1, max: 9 }), fc.nat(9)).map(([m, e]) => m * 16 + e),
  ),
);
const angle = (degrees: number): Octets =>
  fc.integer({ min: -degrees * 3_600_000, max: degrees * 3_600_000 }).map((value) => {
    const wire = Buffer.alloc(4);
    wire.writeUInt32BE(value + 2 ** 31);
    return Uint8Array.from(wire);
  });

const association = join(exactly(3), octets(1, 300));
const hashParameters = join(exactly(4), counted(octets(0, 255)));
const strings = fc.array(anyString, { minLength: 1, maxLength: 5 }).map(flat);

const digestOrMore = fc.oneof(
  join(exactly(5), fc.constant(Uint8Array.of(1)), exactly(48)),
  join(exactly(5), fc.constant(Uint8Array.of(2)), exactly(64)),
  join(exactly(5), one(fc.integer({ min: 3, max: 255 })), octets(12, 100)),
);

/** Address families 1 and 2, and one that has no text form. */
const addressPrefix = fc
  .constantFrom<[number, number]>([1, 4], [2, 16], [3, 127])
  .chain(([family, width]) =>
    fc.tuple(fc.constant([family, width]), fc.nat(8 * width), fc.boolean(), octets(0, width)),
  )
  .map(([[family = 0], bits, isNegated, part]) => {
    const address = part.at(-1) === 0 ? [...part.subarray(0, -1), 1] : [...part];
    return Uint8Array.of(0, family, bits & 255, (isNegated ? 128 : 0) + address.length, ...address);
  });

export const RANDOM_RDATA: ReadonlyMap<number, Octets> = new Map<number, Octets>([
  [TYPE.A, exactly(4)],
  [
    TYPE.AAAA,
    fc.oneof(
      exactly(16),
      fc
        .array(fc.constantFrom(0, 0, 0, 255, 1), { minLength: 16, maxLength: 16 })
        .map((a) => Uint8Array.from(a)),
    ),
  ],
  [TYPE.AFSDB, join(u16, randomName)],
  [TYPE.APL, fc.array(addressPrefix, { maxLength: 5 }).map(flat)],
  [TYPE.CAA, join(exactly(1), counted(letters), octets(0, 300))],
  [TYPE.CDNSKEY, fc.oneof(publicKey, fc.constant(Uint8Array.of(0, 0, 3, 0, 0)))],
  [TYPE.CDS, fc.oneof(join(u16, algorithm, dsDigest), fc.constant(new Uint8Array(5)))],
  [TYPE.CERT, join(exactly(5), octets(1, 300))],
  [TYPE.CNAME, randomName],
  [TYPE.CSYNC, join(u32, u16, typeBitmap(0))],
  [TYPE.DHCID, octets(1, 100)],
  [TYPE.DNAME, randomName],
  [TYPE.DNSKEY, publicKey],
  [TYPE.DS, join(u16, exactly(1), dsDigest)],
  [TYPE.EUI48, exactly(6)],
  [TYPE.EUI64, exactly(8)],
  [TYPE.HINFO, join(anyString, anyString)],
  [TYPE.HTTPS, serviceBinding],
  [TYPE.KEY, key],
  [TYPE.LOC, join(fc.constant(new Uint8Array(1)), extent, extent, extent, angle(90), angle(180), u32)],
  [TYPE.MX, join(u16, randomName)],
  [TYPE.NAPTR, join(u32, counted(fc.oneof(letters, exactly(0))), anyString, anyString, randomName)],
  [TYPE.NS, randomName],
  [TYPE.NSEC, join(randomName, typeBitmap(1))],
  [TYPE.NSEC3, join(hashParameters, counted(octets(1, 255)), typeBitmap(0))],
  [TYPE.NSEC3PARAM, hashParameters],
  [TYPE.OPENPGPKEY, octets(1, 300)],
  [TYPE.PTR, randomName],
  [TYPE.RP, join(randomName, randomName)],
  [TYPE.RRSIG, join(exactly(18), randomName, octets(1, 300))],
  [TYPE.SMIMEA, association],
  [TYPE.SOA, join(randomName, randomName, exactly(20))],
  [TYPE.SPF, strings],
  [TYPE.SRV, join(exactly(6), randomName)],
  [
    TYPE.SSHFP,
    join(
      exactly(1),
      digest([
        [1, 20],
        [2, 32],
      ]),
    ),
  ],
  [TYPE.SVCB, serviceBinding],
  [TYPE.TLSA, association],
  [TYPE.TXT, strings],
  [TYPE.URI, join(u32, octets(1, 300))],
  [TYPE.ZONEMD, digestOrMore],
  [65280, octets(0, 300)], // an unknown type (RFC 3597)
]);
