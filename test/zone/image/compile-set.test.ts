// The octets of a record set: what is compressed against what, and what may not be.

import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { compileSet, maxSetOctets, setStart } from '../../../src/zone/image/compile-set.ts';
import { MAX_SET_POINTER, RECORD_HEAD_OCTETS, SET_FLAG } from '../../../src/zone/image/layout.ts';
import type { RecordSet } from '../../../src/zone/zone.ts';
import { rowsOf } from '../../support/tests/rows-of.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX_OCTETS = parseName('example.').length;

function setOf(text: string): RecordSet {
  const records = recordsOf(text, 'example.');
  const [first] = records;
  if (first === undefined) throw new Error('no records');
  return { owner: first.owner, type: first.type, ttl: first.ttl, rdata: records.map(({ rdata }) => rdata) };
}

/** The rdata of each record, as text that shows pointers as `→offset`, and the flags. */
function compile(
  set: RecordSet,
  apexOctets = APEX_OCTETS,
): { rdata: string[]; flags: number; octets: Buffer } {
  const into = Buffer.alloc(maxSetOctets(set) + 5, 0xee);
  const second = compileSet(set, apexOctets, into, 3);
  const octets = into.subarray(3, 3 + (second & 0xffff));
  expect(into.subarray(3 + octets.length).every((octet) => octet === 0xee)).toBe(true);
  const rdata: string[] = [];
  for (let at = 0; at < octets.length; ) {
    expect(octets.readUInt16BE(at)).toBe(0xc00c);
    expect(octets.readUInt16BE(at + 2)).toBe(set.type);
    expect(octets.readUInt16BE(at + 4)).toBe(1);
    expect(octets.readUInt32BE(at + 6)).toBe(set.ttl);
    const length = octets.readUInt16BE(at + 10);
    const start = at + RECORD_HEAD_OCTETS;
    rdata.push(shown(octets.subarray(start, start + length)));
    at = start + length;
  }
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
  it('has a pointer to the question as owner, type, class, TTL and length before each rdata', () => {
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
nothing where only the end of a label is the same | www 60 CNAME \\007example. | [8][7]example[0] | none
nothing of other case | www 60 CNAME web.Example. | [3]web[7]Example[0] | none
what a wildcard stands below, not its star | *.s 60 CNAME x.*.s | [1]x[1]*→14 | owner
the apex at a wildcard | * 60 CNAME x | [1]x→14 | pointers
nothing for the star at a wildcard | * 60 CNAME x.* | [1]x[1]*→14 | pointers`),
  )('is compressed against %s', (_, text = '', rdata, kind) => {
    const flags = { none: 0, pointers: HAS_POINTERS, owner: HAS_POINTERS | HAS_OWNER_POINTERS }[
      kind as string
    ];
    expect(compile(setOf(text))).toMatchObject({ rdata: [rdata], flags });
  });

  it('is compressed against its earlier names, of the same octets', () => {
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

  it('has both names of a SOA compressed', () => {
    const { rdata, flags } = compile(setOf('@ 60 SOA ns.x. host.x. 1 2 3 4 5'));
    const mname = setStart(APEX_OCTETS) + RECORD_HEAD_OCTETS;
    expect(rdata[0]).toContain(`[2]ns[1]x[0][4]host→${mname + 3}[0][0][0][1]`);
    expect(flags).toBe(HAS_POINTERS);
  });

  it('compresses no names in types newer than RFC 1035 (RFC 3597 §4)', () => {
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

  it('has no pointer further on than may be moved with the set', () => {
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
