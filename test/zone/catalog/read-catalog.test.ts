import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { CatalogReader } from '../../../src/zone/catalog/read-catalog.ts';
import { expiredMarkOf, privateMarkOf, type ZoneRecord } from '../../../src/zone/zone.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('catz.');
const HEAD = '@ 0 SOA invalid. invalid. 7 3600 600 2147483646 0\n@ 0 NS invalid.\n';
const VERSION = 'version 0 TXT "2"\n';

function read(records: readonly ZoneRecord[], maxMembers = 10) {
  const reader = new CatalogReader(APEX, { maxMembers });
  for (const record of records) reader.add([record]);
  return reader.end();
}

const readText = (text: string) => read(recordsOf(HEAD + text, 'catz.'));

describe('a catalog', () => {
  it('lists its members with labels, groups and the new catalog, and ignores other properties', () => {
    const text = `${VERSION}
      a.zones 0 PTR Shop.Example.
      group.A.zones 0 TXT "x y" z
      group.a.zones 0 TXT plain
      group.a.zones 0 TXT ${'x'.repeat(200)} ${'y'.repeat(56)}
      coo.a.zones 0 PTR New.Catz.
      coo.a.zones 0 TXT ignored
      \\000\\.b.zones 0 PTR a\\.b.example.
      a.zones 0 TXT ignored
      primaries.ext.a.zones 0 A 192.0.2.1
      group.ext.a.zones 0 TXT ignored
      x.y.a.zones 0 PTR ignored.example.
      group.gone.zones 0 TXT without-a-member
      coo.gone.zones 0 PTR else.
      serial.a.zones 0 TXT ignored
      zones 0 PTR ignored.example.
      ext 0 PTR ignored.example.
      version.ext 0 TXT "1"
      c.azones 0 PTR ignored.example.
      version 0 A 192.0.2.1`.replace(/^ +/gm, '');
    const mark = privateMarkOf(APEX);
    const done = read([mark, ...recordsOf(HEAD + text, 'catz.')].toReversed());
    expect(done).toEqual({
      kind: 'read',
      members: new Map([
        ['a\\.b.example.', { name: 'a\\.b.example.', label: '\\000\\.b', groups: [], coo: undefined }],
        [
          'shop.example.',
          { name: 'shop.example.', label: 'a', groups: ['plain', 'x\\032yz'], coo: 'new.catz.' },
        ],
      ]),
    });
  });

  it.each([
    ['has no version record', ''],
    ['has no version record', 'version 0 A 192.0.2.1'],
    ['has no version record', 'version.ext 0 TXT "2"'],
    ['has the version "1", not "2"', 'version 0 TXT "1"'],
    ['has the version "", not "2"', 'version 0 TXT ""'],
    ['has the version "\\007\\007\\007\\007\\007", not "2"', `version 0 TXT "${'\\007'.repeat(99)}"`],
    ['has two version records', 'version 0 TXT "2"\nversion 0 TXT "1"'],
    [
      'has two PTR records at the label a',
      `${VERSION}a.zones 0 PTR one.example.\na.zones 0 PTR two.example.`,
    ],
    [
      'lists one.example. under two labels, a and b',
      `${VERSION}a.zones 0 PTR one.example.\nb.zones 0 PTR ONE.example.`,
    ],
    ['has two coo records at the label a', `${VERSION}coo.a.zones 0 PTR x.\ncoo.a.zones 0 PTR y.`],
    [
      'has more than 10 members',
      VERSION + Array.from({ length: 11 }, (_, i) => `l${i}.zones 0 PTR m${i}.example.`).join('\n'),
    ],
    [
      'has more than 10 members',
      VERSION + Array.from({ length: 11 }, (_, i) => `group.l${i}.zones 0 TXT x`).join('\n'),
    ],
  ])('that %s is broken', (why, text) => {
    expect(readText(text)).toEqual({ kind: 'broken', why });
  });

  it('that has expired is broken', () => {
    const records = [expiredMarkOf(APEX), ...recordsOf(HEAD + VERSION, 'catz.')];
    expect(read(records)).toEqual({ kind: 'broken', why: 'has expired' });
  });

  it('never has more members than allowed, nor one twice, for any records', () => {
    const owners = [
      'a.zones',
      'b.zones',
      'c.zones',
      'coo.a.zones',
      'group.b.zones',
      'zones',
      '@',
      'x.a.zones',
    ];
    const kinds = ['PTR a.example.', 'PTR b.example.', 'PTR .', 'TXT "2"', 'TXT x', 'A 192.0.2.1'];
    const line = fc
      .tuple(fc.constantFrom(...owners), fc.constantFrom(...kinds))
      .map((both) => both.join(' 0 '));
    let good = 0;
    const check = (lines: string[]) => {
      const done = read(recordsOf([...lines, VERSION].join('\n'), 'catz.'), 2);
      if (done.kind === 'broken') return;
      good++;
      const labels = new Set([...done.members.values()].map(({ label }) => label));
      expect([labels.size, done.members.size <= 2]).toEqual([done.members.size, true]);
      for (const [name, member] of done.members) expect(member.name).toBe(name);
    };
    fc.assert(fc.property(fc.uniqueArray(line, { maxLength: 5 }), check), { numRuns: 200 });
    expect(good).toBeGreaterThan(50);
  });

  it('may have a name of any length', () => {
    const long = parseName(`${`${'a'.repeat(48)}.`.repeat(5)}catz.`);
    const reader = new CatalogReader(long, { maxMembers: 1 });
    reader.add([privateMarkOf(long)]);
    expect(reader.end()).toEqual({ kind: 'broken', why: 'has no version record' });
  });
});
