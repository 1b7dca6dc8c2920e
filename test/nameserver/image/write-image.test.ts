import { describe, expect, it } from 'vitest';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { compileSet, maxSetOctets, setStart } from '../../../src/nameserver/image/compile-set.ts';
import { createImage, Image } from '../../../src/nameserver/image/image.ts';
import {
  HEADER,
  MAX_SET_POINTER,
  MIN_LOG2_CAPACITY,
  RECORD_HEAD_OCTETS,
  SET_FLAG,
  segmentOf,
  TABLE,
  wordOf,
} from '../../../src/nameserver/image/layout.ts';
import { ImageFullError } from '../../../src/nameserver/image/space.ts';
import { ImageWriter } from '../../../src/nameserver/image/write-image.ts';
import type { RecordSet, Zone } from '../../../src/zone/zone.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import { scale } from '../../support/tests/scale.ts';
import { readZone } from '../../support/zone/read-zone.ts';
import { signedZone, zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { blocksIn, smallImage, zoneInImage } from '../../support/zone/zone-image.ts';
import { recordsOf, zoneOf } from '../../support/zone/zone-text.ts';

const SOA_AND_NS = '@ 60 SOA ns host 1 2 3 4 5\n@ 60 NS ns\n';
const contentOf = (id: number) => ({ id, version: id * 2 ** 32 + 1, mark: -id - 0.5 });

function zone(apex: string, more = ''): Zone {
  return zoneOf(apex, SOA_AND_NS + more);
}

function log2CapacityOf(image: Image): number {
  const table = image.header[HEADER.ZONE_TABLE] as number;
  return image.words[segmentOf(table)]?.[wordOf(table) + TABLE.LOG2_CAPACITY] as number;
}

describe('a writer', () => {
  it('counts zones and records', () => {
    const writer = new ImageWriter(smallImage());
    writer.put(zone('a.example.'), contentOf(1));
    writer.put(zone('b.example.', 'x 60 A 10.0.0.1'), contentOf(2));
    expect(writer).toMatchObject({ zones: 2, records: 5 });
    writer.put(zone('a.example.', 'x 60 A 10.0.0.1\ny 60 A 10.0.0.1'), contentOf(1));
    expect(writer).toMatchObject({ zones: 2, records: 7 });
    writer.remove(parseName('b.example.'));
    writer.remove(parseName('c.example.'));
    expect(writer).toMatchObject({ zones: 1, records: 4 });
  });

  it('reports the content of each zone, in full precision', () => {
    const writer = new ImageWriter(smallImage());
    const texts = ['.', 'example.', `${'x'.repeat(63)}.example.`];
    const apexes = texts.map((text) => parseName(text));
    for (const [i, apex] of apexes.entries()) {
      writer.put(zone(texts[i] as string), contentOf(i));
      expect(writer.contentOf(apex)).toMatchObject(contentOf(i));
      expect(writer.zoneAt(writer.rootOf(apex))).toMatchObject({ apex, records: 2, ...contentOf(i) });
    }
    expect([...writer.entries()].map(({ apex, id }) => [id, apex]).sort()).toEqual([...apexes.entries()]);
    expect(writer.contentOf(parseName('net.'))).toBeUndefined();
    expect(writer.rootOf(parseName('net.'))).toBe(0);
  });

  it('has the numbers of labels of all apexes in the header', () => {
    const image = smallImage();
    const writer = new ImageWriter(image);
    for (const apex of ['.', 'a.b.', `${'a.'.repeat(31)}`, `${'a.'.repeat(60)}`])
      writer.put(zone(apex), contentOf(1));
    expect((image.header[HEADER.APEX_DEPTHS] as number) >>> 0).toBe(2 ** 31 + 2 ** 2 + 2 ** 0);
  });

  it('finds every zone while the table grows, and after many were added and removed', () => {
    const image = new Image(createImage(4 * 2 ** 20, 4));
    const writer = new ImageWriter(image);
    const zones = zonesWithRecordsOf(
      zone('example.'),
      Array.from({ length: 400 }, (_, i) => parseName(`z${i}.example.`)),
    );
    const lost: number[] = [];
    for (const [i, one] of zones.entries()) {
      writer.put(one, contentOf(i));
      if (i % 50 > 0) continue;
      for (let k = 0; k <= i; k += 3) if (writer.rootOf((zones[k] as Zone).apex) === 0) lost.push(k);
    }
    expect(lost).toEqual([]);
    expect(log2CapacityOf(image)).toBe(10);
    for (const [i, { apex }] of zones.entries()) if (i % 3 !== 0) writer.remove(apex);
    expect(zones.map(({ apex }) => writer.contentOf(apex)?.id)).toEqual(
      zones.map((_, i) => (i % 3 === 0 ? i : undefined)),
    );
    for (let round = 0; round < scale(10_000, 140); round++) {
      const one = zones[1 + 3 * (round % 130)] as Zone;
      writer.put(one, contentOf(round));
      writer.remove(one.apex);
    }
    expect(log2CapacityOf(image)).toBeLessThanOrEqual(10);
    for (const { apex } of zones) writer.remove(apex);
    expect([...writer.entries()]).toEqual([]);
    expect(MIN_LOG2_CAPACITY).toBeLessThan(10);
  });

  it('uses at most 120 bytes per record for small zones, including the zone table', () => {
    const image = smallImage(4 * 2 ** 20);
    const writer = new ImageWriter(image);
    const before = image.bytesUsed;
    for (let i = 0; i < 120; i++) writer.put(recipeZone(i), contentOf(i));
    expect(image.records).toBe(1440);
    expect((image.bytesUsed - before) / image.records).toBeLessThan(80);
  });

  it('uses at most 115 bytes per signature, and 3.8 KB for such a zone with everything that signs it', () => {
    const plain = recipeZone(7, 'zone-7.test.'); // 13 octets
    const signed = signedZone(plain, { kind: 'nsec' });
    const bytesFor = (zone: Zone) => {
      const image = smallImage(2 ** 20);
      const before = image.bytesUsed;
      new ImageWriter(image).put(zone, contentOf(1));
      return image.bytesUsed - before;
    };
    const bare: Zone = { ...signed, nodes: withoutSignatures(signed) };
    const signatures = signed.records - recordsIn(bare);
    expect(signatures).toBeGreaterThan(15);
    expect((bytesFor(signed) - bytesFor(bare)) / signatures).toBeLessThanOrEqual(115);
    expect(bytesFor(signed)).toBeLessThanOrEqual(3800);
  });
});

/** Returns a zone for each apex, with the records at the given zone's apex. */
function zonesWithRecordsOf({ apex, nodes }: Zone, apexes: readonly Name[]): Zone[] {
  const sets = [...(nodes.get(apex)?.sets.values() ?? [])];
  return apexes.map((owner) =>
    zoneOfRecords(
      owner,
      sets.flatMap(({ type, ttl, rdata }) => rdata.map((one) => ({ owner, type, ttl, rdata: one }))),
    ),
  );
}

function withoutSignatures({ nodes }: Zone): Zone['nodes'] {
  return new Map(
    [...nodes].map(([name, node]) => {
      const sets = [...node.sets].map(
        ([type, { owner, ttl, rdata }]) => [type, { owner, type, ttl, rdata }] as const,
      );
      return [name, { name, sets: new Map(sets) }];
    }),
  );
}

function recordsIn({ nodes }: Zone): number {
  const sets = [...nodes.values()].flatMap((node) => [...node.sets.values()]);
  return sets.reduce((sum, { rdata }) => sum + rdata.length, 0);
}

/** A zone with SOA, 2 NS, 3 A, 2 CNAME, MX and 3 TXT of 30, 40 and 110 characters. */
function recipeZone(i: number, apex = `customer-${i}.example.`): Zone {
  const txt = (length: number): string => `TXT "${'t'.repeat(length)}"`;
  return zoneOf(
    apex,
    [
      '@ 3600 SOA ns1.nic.invalid. hostmaster.nic.invalid. 1 2 3 4 5',
      '@ 3600 NS ns1.nic.invalid.\n@ 3600 NS ns2.nic.invalid.',
      '@ 300 A 10.0.0.1\nwww 300 A 10.0.0.1\nmail 300 A 10.0.0.1',
      'ftp 300 CNAME www\nshop 300 CNAME www\n@ 300 MX 10 mail',
      `@ 300 ${txt(30)}\n_dmarc 300 ${txt(40)}\ns1._domainkey 300 ${txt(110)}`,
    ].join('\n'),
  );
}

describe('a full image', () => {
  const LONG = Array.from({ length: 100 }, (_, i) => `h${i} 60 TXT ${'x'.repeat(240)}`).join('\n');

  function filled(): { image: Image; writer: ImageWriter; apexes: Name[] } {
    const image = smallImage(64 * 1024);
    const writer = new ImageWriter(image);
    const apexes: Name[] = [];
    for (;;) {
      const next = zone(`z${apexes.length}.example.`, 'www 60 A 10.0.0.1');
      try {
        writer.put(next, contentOf(apexes.length));
      } catch (error) {
        expect(error).toBeInstanceOf(ImageFullError);
        return { image, writer, apexes };
      }
      apexes.push(next.apex);
    }
  }

  it('continues to serve its content, and is marked as full', () => {
    const { image, writer, apexes } = filled();
    expect(image.isFull).toBe(true);
    const blocks = blocksIn(image, writer.exportFree());
    const served = apexes.map((apex) => zoneInImage(image, apex));
    const [first] = apexes as [Name];
    expect(() => writer.put(zone('z0.example.', LONG), contentOf(1))).toThrow(ImageFullError);
    expect(() => writer.put(zone('new.example.', LONG), contentOf(1))).toThrow(
      /65536 bytes has no space for another \d+ bytes$/,
    );
    const records =
      zone('z0.example.', LONG).nodes.get(parseName('h0.z0.example.'))?.sets.get(16)?.rdata ?? [];
    const edits = Array.from({ length: 100 }, (_, i) => ({
      owner: parseName(`h${i}.z0.example.`),
      type: 16,
      ttl: 1,
      rdata: records[0] as Uint8Array,
    }));
    expect(() => writer.edit(first, contentOf(1), { records: edits, gone: [] })).toThrow(ImageFullError);
    expect(apexes.map((apex) => zoneInImage(image, apex))).toEqual(served);
    expect(readZone(image, parseName('new.example.'))).toBeUndefined();
    expect(image.zones).toBe(apexes.length);
    expect(unitsIn(blocksIn(image, writer.exportFree()))).toBe(unitsIn(blocks));
  });

  it('accepts zones again after others are removed', () => {
    const { image, writer, apexes } = filled();
    for (const apex of apexes.slice(0, apexes.length / 2)) writer.remove(apex);
    expect(image.isFull).toBe(false);
    writer.put(zone('large.example.', LONG.slice(0, 4500)), contentOf(7));
    expect(readZone(image, parseName('large.example.'))?.records).toBeGreaterThan(15);
    expect(image.isFull).toBe(false);
  });
});

function unitsIn(blocks: readonly (readonly [number, number])[]): number {
  return blocks.reduce((sum, [, units]) => sum + units, 0);
}

const APEX_OCTETS = parseName('example.').length;

function setOf(text: string): RecordSet {
  const records = recordsOf(text, 'example.');
  const [first] = records;
  if (first === undefined) throw new Error('no records');
  return { owner: first.owner, type: first.type, ttl: first.ttl, rdata: records.map(({ rdata }) => rdata) };
}

/** Returns the rdata of each record as text that shows pointers as `→offset`, and the flags. */
function compile(
  set: RecordSet,
  apexOctets = APEX_OCTETS,
): { rdata: string[]; flags: number; octets: Buffer } {
  const into = Buffer.alloc(maxSetOctets(set) + 5, 0xee);
  const second = compileSet(set, apexOctets, into, 3);
  const octets = into.subarray(3, 3 + (second & 0xffff));
  expect(into.subarray(3 + octets.length).every((octet) => octet === 0xee)).toBe(true);
  const rdata: string[] = [];
  const heads = new Set<string>();
  for (let at = 0; at < octets.length; ) {
    heads.add(octets.subarray(at, at + RECORD_HEAD_OCTETS - 2).toString('hex'));
    const length = octets.readUInt16BE(at + 10);
    const start = at + RECORD_HEAD_OCTETS;
    rdata.push(shown(octets.subarray(start, start + length)));
    at = start + length;
  }
  const head = Buffer.alloc(RECORD_HEAD_OCTETS - 2);
  head.writeUInt16BE(0xc00c);
  head.writeUInt16BE(set.type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(set.ttl, 6);
  expect([...heads]).toEqual([head.toString('hex')]);
  return { rdata, flags: second & ~0xffff, octets };
}

function shown(rdata: Buffer): string {
  let text = '';
  for (let i = 0; i < rdata.length; i++) {
    const octet = rdata[i] as number;
    if (octet >= 0xc0) text += `→${((octet & 0x3f) << 8) | (rdata[++i] as number)}`;
    else text += octet > 0x20 && octet < 0x7f ? String.fromCharCode(octet) : `[${octet}]`;
  }
  return text;
}

const { HAS_POINTERS, HAS_OWNER_POINTERS } = SET_FLAG;

describe('a compiled record set', () => {
  it('has a pointer to the question as owner, then type, class, TTL and length before each rdata', () => {
    expect(compile(setOf('a 4294967 A 10.0.2.1\na 4294967 A 10.0.2.2'))).toMatchObject({
      rdata: ['[10][0][2][1]', '[10][0][2][2]'],
      flags: 0,
    });
  });

  it.each(
    rowsOf(`
the apex | www 60 CNAME web | [3]web→16 | pointers
the owner | @ 60 MX 10 mail | [0][10][4]mail→12 | pointers
a label of the owner below the apex | a.b 60 CNAME c.b | [1]c→14 | owner
the whole owner | sub 60 NS ns.sub | [2]ns→12 | owner
nothing | www 60 CNAME web.invalid. | [3]web[7]invalid[0] | none
nothing for the root | www 60 CNAME . | [0] | none
nothing if only the end of a label is equal | www 60 CNAME \\007example. | [8][7]example[0] | none
nothing if the case differs | www 60 CNAME web.Example. | [3]web[7]Example[0] | none
the name above a wildcard, not its star | *.s 60 CNAME x.*.s | [1]x[1]*→14 | owner
the apex at a wildcard | * 60 CNAME x | [1]x→14 | pointers
nothing for the star at a wildcard | * 60 CNAME x.* | [1]x[1]*→14 | pointers`),
  )('is compressed against %s', (_, text = '', rdata, kind) => {
    const flags = { none: 0, pointers: HAS_POINTERS, owner: HAS_POINTERS | HAS_OWNER_POINTERS }[
      kind as string
    ];
    expect(compile(setOf(text))).toMatchObject({ rdata: [rdata], flags });
  });

  it('is compressed against its earlier names of the same case', () => {
    const set = setOf('@ 60 NS ns1.net.\n@ 60 NS ns2.net.\n@ 60 NS NS2.net.\n@ 60 NS x.ns2.net.');
    const start = setStart(APEX_OCTETS);
    const first = start + RECORD_HEAD_OCTETS;
    const second = first + 9 + RECORD_HEAD_OCTETS;
    expect(compile(set).rdata).toEqual([
      '[3]ns1[3]net[0]',
      `[3]ns2→${first + 4}`,
      `[3]NS2→${first + 4}`,
      `[1]x→${second}`,
    ]);
  });

  it('has both names of an SOA compressed', () => {
    const { rdata, flags } = compile(setOf('@ 60 SOA ns.x. host.x. 1 2 3 4 5'));
    const mname = setStart(APEX_OCTETS) + RECORD_HEAD_OCTETS;
    expect(rdata[0]).toContain(`[2]ns[1]x[0][4]host→${mname + 3}[0][0][0][1]`);
    expect(flags).toBe(HAS_POINTERS);
  });

  it('has no compressed names in types newer than RFC 1035 (RFC 3597 §4)', () => {
    for (const rdata of ['DNAME b', 'SRV 1 1 1 b', 'RP b b', 'HTTPS 1 b', 'NAPTR 1 1 "" "" "" b']) {
      const set = setOf(`a 60 ${rdata}`);
      const { octets, flags } = compile(set);
      expect(octets.subarray(RECORD_HEAD_OCTETS)).toEqual(Buffer.from(set.rdata[0] as Uint8Array));
      expect(flags).toBe(0);
    }
  });

  it('is not compressed against the root as apex', () => {
    const set = setOf('. 60 NS a.b.');
    expect(compile(set, 1)).toMatchObject({ rdata: ['[1]a[1]b[0]'], flags: 0 });
    const below = setOf('b. 60 NS a.b.');
    expect(compile(below, 1)).toMatchObject({ rdata: ['[1]a→12'], flags: HAS_POINTERS | HAS_OWNER_POINTERS });
  });

  it('has no pointer beyond the offset up to which it can be moved', () => {
    const lines = Array.from({ length: 2000 }, (_, i) => `p 60 PTR host-${i}.d${i >> 1}.net.`);
    const { rdata, octets } = compile(setOf(lines.join('\n')));
    const targets = rdata.flatMap((text) =>
      [...text.matchAll(/→(\d+)/g)].map(([, target]) => Number(target)),
    );
    expect(targets.length).toBeGreaterThan(100);
    expect(Math.max(...targets)).toBeLessThanOrEqual(MAX_SET_POINTER);
    expect(rdata.at(-1)).toBe('[9]host-1999[4]d999→49');
    expect(octets.length).toBeGreaterThan(2 * MAX_SET_POINTER);
  });
});
