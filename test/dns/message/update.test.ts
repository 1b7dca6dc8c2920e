import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { readUpdate, type UpdateRecord } from '../../../src/dns/message/update.ts';
import { encodeName, parseName } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import { encodeUpdate, updateOf } from '../../support/answer/update-text.ts';
import { mutateOctets } from '../../support/random/mutate-octets.ts';
import { RANDOM_RDATA } from '../../support/random/random-rdata.ts';
import { randomFrom } from '../../support/random/random-zones.ts';
import { scale } from '../../support/tests/scale.ts';

const MOST_RECORDS = 1000;
const MOST_NAMES = 200;
const ZONE = parseName('shop.example.');

const SECTIONS = updateOf(
  ZONE,
  `nxdomain new
   yxrrset www A 192.0.2.1
   add www 300 MX 10 mail.shop.example.
   add _sip._udp 60 SRV 0 5 5060 sip
   del old
   del www TXT
   del www A 192.0.2.1`,
);

/** Returns a message with other octets in its header or zone section. */
function changed(change: (octets: Buffer) => void): Uint8Array {
  const octets = Buffer.from(encodeUpdate(ZONE, SECTIONS));
  change(octets);
  return octets;
}

function refusalOf(octets: Uint8Array) {
  const read = readUpdate(octets);
  return read.kind === 'refused' ? [read.rcode, read.message] : 'accepted';
}

const ZONE_TYPE_AT = 12 + ZONE.length;

describe('readUpdate', () => {
  it('returns the sections with folded owners and uncompressed rdata', () => {
    const upper = {
      ...SECTIONS,
      updates: [{ ...(SECTIONS.updates[0] as UpdateRecord), owner: parseName('WWW.Shop.example.') }],
    };
    expect(readUpdate(encodeUpdate(parseName('SHOP.example.'), upper))).toEqual({
      kind: 'update',
      zone: ZONE,
      prerequisites: SECTIONS.prerequisites,
      updates: SECTIONS.updates.slice(0, 1),
    });
    expect(readUpdate(encodeUpdate(ZONE, SECTIONS))).toMatchObject(SECTIONS);
  });

  it.each<[string, Uint8Array, number]>([
    ['a truncated header', new Uint8Array(11), RCODE.FORMERR],
    ['a query', changed((octets) => octets.writeUInt16BE(0, 2)), RCODE.NOTIMP],
    ['a response', changed((octets) => octets.writeUInt16BE(0xa800, 2)), RCODE.FORMERR],
    ['no zone', changed((octets) => octets.writeUInt16BE(0, 4)), RCODE.FORMERR],
    ['two zones', changed((octets) => octets.writeUInt16BE(2, 4)), RCODE.FORMERR],
    ['a zone of type A', changed((octets) => octets.writeUInt16BE(TYPE.A, ZONE_TYPE_AT)), RCODE.FORMERR],
    [
      'a zone of class CH',
      changed((octets) => octets.writeUInt16BE(CLASS.CH, ZONE_TYPE_AT + 2)),
      RCODE.NOTAUTH,
    ],
    ['1,001 additional records', changed((octets) => octets.writeUInt16BE(1001, 10)), RCODE.REFUSED],
    ['a truncated record', encodeUpdate(ZONE, SECTIONS).slice(0, -1), RCODE.FORMERR],
  ])('refuses %s', (_what, octets, rcode) => {
    expect(refusalOf(octets)).toEqual([rcode, expect.any(String)]);
  });

  it('accepts the maximum number of records and names, and refuses more', () => {
    const some = (count: number, names: number) => ({
      prerequisites: [],
      updates: Array.from({ length: count }, (_, i) => ({
        owner: parseName(`n${i % names}`, ZONE),
        type: TYPE.A,
        class: CLASS.IN,
        ttl: 60,
        rdata: Uint8Array.of(192, 0, i >> 8, i & 255),
      })),
    });
    const read = (count: number, names: number) => refusalOf(encodeUpdate(ZONE, some(count, names)));
    expect(read(MOST_RECORDS, MOST_NAMES)).toBe('accepted');
    expect(read(MOST_RECORDS + 1, 1)).toEqual([RCODE.REFUSED, 'the message has more than 1000 records']);
    expect(read(MOST_NAMES + 1, MOST_NAMES + 1)).toEqual([
      RCODE.REFUSED,
      'the message has more than 200 names',
    ]);
  });

  it('reads a TTL above 2^31 - 1 of a new record as 0 (RFC 2181 §8)', () => {
    const [first, ...others] = SECTIONS.updates as [UpdateRecord, ...UpdateRecord[]];
    const updates = [{ ...first, ttl: 2 ** 31 }, ...others];
    expect(readUpdate(encodeUpdate(ZONE, { prerequisites: [], updates }))).toMatchObject({
      updates: [{ ttl: 0 }, ...others],
    });
  });

  it('returns every record of every type unchanged', () => {
    const record = fc
      .constantFrom(...RANDOM_RDATA)
      .chain(([type, rdata]) => fc.record({ type: fc.constant(type), rdata }))
      .map((of) => ({ owner: ZONE, class: CLASS.IN, ttl: 60, ...of }));
    fc.assert(
      fc.property(
        fc.array(record, { maxLength: 5 }),
        fc.array(record, { maxLength: 5 }),
        (prerequisites, updates) => {
          expect(readUpdate(encodeUpdate(ZONE, { prerequisites, updates }))).toMatchObject({
            prerequisites,
            updates,
          });
        },
      ),
      { numRuns: scale(2000, 100) },
    );
  });

  it('never throws, and returns at most 1000 records of bounded size', () => {
    const random = randomFrom(2136);
    const original = Buffer.from(encodeUpdate(ZONE, SECTIONS));
    for (let i = scale(200_000, 1000); i > 0; i--) {
      const octets = mutateOctets(random, original);
      const read = readUpdate(octets);
      if (read.kind === 'refused') continue;
      const records = [...read.prerequisites, ...read.updates];
      expect(records.length).toBeLessThanOrEqual(MOST_RECORDS);
      // Rdata of these types has at most two names, each of at most 255 octets after decompression.
      for (const { owner, rdata } of records) {
        expect(encodeName(owner).length).toBeLessThanOrEqual(255);
        expect(rdata.length).toBeLessThanOrEqual(octets.length + 510);
      }
    }
  });
});
