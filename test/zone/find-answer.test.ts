// The rules of answering, one case each, in the field's own text: fixtures/answers/*/cases.txt, where every case names
// its RFC. They are asked of answerQuery, so that what is written is what was found.

import { describe, expect, it } from 'vitest';
import { rcodeMnemonic } from '../../src/dns/message/rcodes.ts';
import { foldCase, parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import { type Answer, findAnswer } from '../../src/zone/find-answer.ts';
import { markOf } from '../../src/zone/zone.ts';
import { linesOfSets, type Observed, observe } from '../support/answer/observed-answer.ts';
import { nodeOf, ourAnswer, queryFor } from '../support/answer/queries.ts';
import { type AnswerCase, readAnswerCases } from '../support/zone/answer-cases.ts';
import { recordsOf, zoneOf, zonesOf } from '../support/zone/zone-text.ts';

/** What the case says: of a truncated answer, not which records it still holds. */
function saidBy({ octets, ...seen }: Observed): object {
  return seen.tc ? { rcode: seen.rcode, aa: seen.aa, tc: seen.tc } : seen;
}

for (const { folder, zones, cases } of readAnswerCases()) {
  describe(`answers: ${folder}`, () => {
    const served = zonesOf(...zones.map(({ apex, text }) => zoneOf(apex, text)));
    const node = nodeOf(served);

    it.each(cases.map((one) => [one.rule, one] as const))('%s', (_, one: AnswerCase) => {
      expect(saidBy(observe(ourAnswer(node, queryFor(one))))).toEqual(saidBy(one.expected));
      const found = findAnswer(served, foldCase(one.name), one.type);
      expect(rcodeMnemonic(found.rcode)).toBe(one.expected.rcode);
      expect(found.authoritative).toBe(one.expected.aa);
      if (one.expected.tc) return;
      expect(linesOfSets(found.answer)).toEqual(one.expected.answer);
      expect(linesOfSets(found.authority)).toEqual(one.expected.authority);
      expect(linesOfSets([...found.glue, ...found.additional])).toEqual(one.expected.additional);
    });
  });
}

describe('what an answer has beside its records', () => {
  const zones = zonesOf(
    zoneOf(
      'example.',
      [
        '@ 60 SOA ns h 1 2 3 4 5',
        '@ 60 NS ns',
        'one 60 CNAME two',
        'two 60 CNAME three.example.',
        'three 60 A 192.0.2.1',
        'gone 60 CNAME nowhere',
        'tocut 60 CNAME www.cut',
        'cut 60 NS ns.cut',
        'cut 60 NS ns.sibling',
        'cut 60 NS ns',
        'sibling 60 NS ns.sibling',
        'ns 60 A 192.0.2.2',
        'ns.cut 60 A 192.0.2.3',
        'ns.sibling 60 A 192.0.2.4',
        `long 60 DNAME ${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.test.`,
      ].join('\n'),
    ),
  );
  const find = (name: string, type: number = TYPE.A) => findAnswer(zones, parseName(name), type);

  it.each([
    ['one.example.', 'answer'],
    ['gone.example.', 'nxdomain'],
    ['cut.example.', 'referral'],
    ['tocut.example.', 'referral'],
    ['cut.example.', 'nodata', TYPE.DS],
    [`${'x'.repeat(63)}.long.example.`, 'yxdomain'],
    ['example.net.', 'refused'],
    ['example.', 'refused', TYPE.AXFR],
    ['example.', 'refused', TYPE.IXFR],
  ] as readonly [string, Answer['kind'], number?][])('%s is %s', (name, kind, type = TYPE.A) => {
    const found = find(name, type);
    expect(found.kind).toBe(kind);
    expect(found.zone).toBe(kind === 'refused' ? undefined : zones.get(parseName('example.')));
  });

  it('a chain stands in the order in which it was followed (RFC 1034 §4.3.2 3a)', () => {
    expect(find('one.example.').answer.map((set) => set.type)).toEqual([TYPE.CNAME, TYPE.CNAME, TYPE.A]);
  });

  it('only in-domain glue is required; sibling glue and other addresses are not (RFC 9471 §3)', () => {
    const found = find('www.cut.example.');
    expect(linesOfSets(found.glue)).toEqual(['ns.cut.example. 60 A 192.0.2.3']);
    expect(linesOfSets(found.additional)).toEqual([
      'ns.example. 60 A 192.0.2.2',
      'ns.sibling.example. 60 A 192.0.2.4',
    ]);
  });
});

describe('a marked name', () => {
  const apex = parseName('example.');
  const text = [
    '@ 60 SOA ns h 1 2 3 4 5',
    '@ 60 NS ns.example.net.',
    '* 60 A 192.0.2.1',
    'to 60 CNAME m',
    'to-wild 60 CNAME q.w',
    'mx 60 MX 1 m',
    'b.e 60 A 192.0.2.2',
    'w 60 TXT x',
  ].join('\n');
  const marks = ['m', 'a.b.c', '*.w', 'e'].map((name) => markOf(parseName(name, apex)));
  const built = buildZone(apex, [...recordsOf(text, 'example.'), ...marks]);
  const zones = zonesOf((built as Extract<typeof built, { kind: 'built' }>).zone);

  it.each([
    ['m', 'nodata'],
    ['x.m', 'nxdomain'], // the closest encloser is the mark: the wildcard above does not reach
    ['a.b.c', 'nodata'],
    ['b.c', 'nodata'],
    ['c', 'nodata'],
    ['x.c', 'nxdomain'],
    ['q.w', 'nodata'],
    ['*.w', 'nodata'],
    ['e', 'nodata'],
    ['other', 'answer'],
    ['to', 'nodata'],
    ['to-wild', 'nodata'],
  ])('%s is %s for every type but those of its aliases (RFC 4592 §2.2)', (name, kind) => {
    for (const type of [TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.NS, TYPE.DS, TYPE.SOA, TYPE.ANY, 0, 65280]) {
      if (kind === 'answer' && type !== TYPE.A && type !== TYPE.ANY) continue;
      if (name.startsWith('to') && type === TYPE.ANY) continue;
      const found = findAnswer(zones, parseName(name, apex), type);
      expect([type, found.kind]).toEqual([type, kind]);
      expect([...found.answer, ...found.authority].map((set) => set.type)).not.toContain(0);
    }
  });

  it('adds nothing to the additional section, nor does the wildcard instead of it', () => {
    expect(findAnswer(zones, parseName('mx', apex), TYPE.MX).additional).toEqual([]);
  });
});

describe('a mark at the apex', () => {
  const apex = parseName('example.');
  const text =
    '@ 60 SOA ns h 1 2 3 4 5\n@ 60 NS ns.example.net.\n@ 60 A 192.0.2.1\nwww 60 A 192.0.2.1\n* 60 TXT x';
  const built = buildZone(apex, [...recordsOf(text, 'example.'), markOf(apex)]);
  const zones = zonesOf((built as Extract<typeof built, { kind: 'built' }>).zone);

  it('has SOA and NS of the apex answered and refuses the rest', () => {
    for (const type of [TYPE.SOA, TYPE.NS]) expect(findAnswer(zones, apex, type).kind).toBe('answer');
    for (const type of [TYPE.A, TYPE.AAAA, TYPE.DS, TYPE.ANY])
      expect(findAnswer(zones, apex, type)).toMatchObject({ kind: 'refused', rcode: 5, answer: [] });
    for (const name of ['www', 'other', 'ns', '*'])
      for (const type of [TYPE.A, TYPE.SOA, TYPE.NS])
        expect(findAnswer(zones, parseName(name, apex), type).kind).toBe('refused');
  });
});
