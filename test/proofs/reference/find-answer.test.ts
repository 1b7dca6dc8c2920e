// The rules of answering, one case each, in text form: fixtures/answers/*/cases.txt, in which every case names its
// RFC. The reference implementation and answerQuery must both give the expected answer.

import { describe, expect, it } from 'vitest';
import { rcodeMnemonic } from '../../../src/dns/message/rcodes.ts';
import { foldCase, parseName } from '../../../src/dns/name.ts';
import { coveredType } from '../../../src/dns/record/covered-type.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { markOf, type RecordSet, type ZoneRecord } from '../../../src/zone/zone.ts';
import { linesOfSets, type Observed, observe } from '../../support/answer/observed-answer.ts';
import { nodeOf, ourAnswer, queryFor } from '../../support/answer/queries.ts';
import { signRecords } from '../../support/dnssec/sign-records.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import { type Answer, findAnswer } from '../../support/reference/find-answer.ts';
import { rowsOf, wordsOf } from '../../support/tests/rows-of.ts';
import { type AnswerCase, readAnswerCases } from '../../support/zone/answer-cases.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf, zoneOf, zonesOf } from '../../support/zone/zone-text.ts';

/** Returns what a case specifies. For a truncated answer that does not include the records. */
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

describe('the order and the sections of an answer', () => {
  const zones = zonesOf(
    zoneOf(
      'example.',
      `
@ 60 SOA ns h 1 2 3 4 5
@ 60 NS ns
one 60 CNAME two
two 60 CNAME three.example.
three 60 A 192.0.2.1
gone 60 CNAME nowhere
tocut 60 CNAME www.cut
cut 60 NS ns.cut
cut 60 NS ns.sibling
cut 60 NS ns
sibling 60 NS ns.sibling
ns 60 A 192.0.2.2
ns.cut 60 A 192.0.2.3
ns.sibling 60 A 192.0.2.4
long 60 DNAME ${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.test.`,
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

  it('has a chain in the order in which it was followed (RFC 1034 §4.3.2 3a)', () => {
    expect(find('one.example.').answer.map((set) => set.type)).toEqual([TYPE.CNAME, TYPE.CNAME, TYPE.A]);
  });

  it('requires only in-domain glue, not sibling glue and other addresses (RFC 9471 §3)', () => {
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
  const text = `
@ 60 SOA ns h 1 2 3 4 5
@ 60 NS ns.example.net.
* 60 A 192.0.2.1
to 60 CNAME m
to-wild 60 CNAME q.w
mx 60 MX 1 m
b.e 60 A 192.0.2.2
w 60 TXT x`;
  const marks = ['m', 'a.b.c', '*.w', 'e'].map((name) => markOf(parseName(name, apex)));
  const zones = zonesOf(zoneOfRecords(apex, [...recordsOf(text, 'example.'), ...marks]));
  const TYPES = [TYPE.A, TYPE.AAAA, TYPE.TXT, TYPE.NS, TYPE.DS, TYPE.SOA, TYPE.ANY, 0, 65280];

  it.each(
    rowsOf(`
nodata | m a.b.c b.c c q.w *.w e to to-wild
nxdomain | x.m x.c
answer | other`),
  )('is %s for every type but those of its aliases (RFC 4592 §2.2): %s', (kind, names = '') => {
    // The closest encloser of x.m is the mark: the wildcard above does not apply.
    for (const name of wordsOf(names))
      for (const type of TYPES) {
        if (kind === 'answer' && type !== TYPE.A && type !== TYPE.ANY) continue;
        if (name.startsWith('to') && type === TYPE.ANY) continue;
        const found = findAnswer(zones, parseName(name, apex), type);
        expect([name, type, found.kind]).toEqual([name, type, kind]);
        expect([...found.answer, ...found.authority].map((set) => set.type)).not.toContain(0);
      }
    expect(findAnswer(zones, parseName('mx', apex), TYPE.MX).additional).toEqual([]);
  });
});

describe('a mark at the apex', () => {
  const apex = parseName('example.');
  const text =
    '@ 60 SOA ns h 1 2 3 4 5\n@ 60 NS ns.example.net.\n@ 60 A 192.0.2.1\nwww 60 A 192.0.2.1\n* 60 TXT x';
  const zones = zonesOf(zoneOfRecords(apex, [...recordsOf(text, 'example.'), markOf(apex)]));

  it('answers SOA and NS of the apex and refuses the rest', () => {
    for (const type of [TYPE.SOA, TYPE.NS]) expect(findAnswer(zones, apex, type).kind).toBe('answer');
    for (const type of [TYPE.A, TYPE.AAAA, TYPE.DS, TYPE.ANY])
      expect(findAnswer(zones, apex, type)).toMatchObject({ kind: 'refused', rcode: 5, answer: [] });
    for (const name of ['www', 'other', 'ns', '*'])
      for (const type of [TYPE.A, TYPE.SOA, TYPE.NS])
        expect(findAnswer(zones, parseName(name, apex), type).kind).toBe('refused');
  });
});

describe('a signed zone', () => {
  const apex = parseName('example.');
  const key = makeKey(13);
  const text = `
@ 3600 SOA ns h 1 2 3 4 600
@ 300 NS ns
@ 300 MX 1 ns
ns 60 A 192.0.2.1
ns 60 AAAA 2001:db8::1
alias 60 CNAME ns
cut 60 NS ns.cut
cut 60 NS ns
ns.cut 60 A 192.0.2.2
safe 60 NS ns.cut
safe 60 DS 1 13 2 ${'ab'.repeat(32)}
d 60 DNAME ns
*.w 60 TXT x`;
  // These signatures break RFC 4035 §2.2: they are not sent.
  const needless = `cut 60 RRSIG NS 13 2 60 20300101000000 20200101000000 1 example. AAAA
ns.cut 60 RRSIG A 13 3 60 20300101000000 20200101000000 1 example. AAAA`;
  const signing = { key, time: { inception: 1, expiration: 2 }, denial: { kind: 'nsec' } } as const;
  const all = [
    ...signRecords(apex, recordsOf(text, 'example.'), signing),
    ...recordsOf(needless, 'example.'),
  ];
  const zoneFrom = (from: readonly ZoneRecord[]) => zonesOf(zoneOfRecords(apex, from));
  const zones = zoneFrom(all);
  /** `TYPE+n` for a set with n signatures. */
  const shown = (sets: readonly RecordSet[]) =>
    sets.map(({ type, signatures }) => typeMnemonic(type) + (signatures ? `+${signatures.length}` : ''));

  it('sends no signatures of NS and glue at a cut, even if the zone has some', () => {
    const { authority, glue } = findAnswer(zones, parseName('x.cut', apex), TYPE.A, { dnssecOk: true });
    expect([authority, glue].map(shown)).toEqual([['NS', 'NSEC+1'], ['A']]);
  });

  it('is answered as unsigned, except for RRSIG, if its SOA has no signature', () => {
    const isOfSoa = (one: ZoneRecord) => one.type === TYPE.RRSIG && coveredType(one.rdata) === TYPE.SOA;
    const prepared = zoneFrom(all.filter((one) => !isOfSoa(one)));
    const find = (name: string, type: number) =>
      findAnswer(prepared, parseName(name, apex), type, { dnssecOk: true });
    expect(shown(find('ns', TYPE.A).answer)).toEqual(['A']);
    expect(shown(find('nope', TYPE.A).authority)).toEqual(['SOA']);
    expect(shown(find('x.safe', TYPE.A).authority)).toEqual(['NS']);
    expect(shown(find('@', TYPE.MX).additional)).toEqual(['A', 'AAAA']);
    expect(find('ns', TYPE.RRSIG).answer[0]?.rdata.map(coveredType)).toEqual([TYPE.A]);
  });

  it('answers DS of a child that is served too, and the child answers it if there is no parent', () => {
    const child = zoneOf('safe.example.', '@ 60 SOA ns h 1 2 3 4 5\n@ 60 NS ns');
    const both = zonesOf(...zones.values(), child);
    const find = (held: typeof both) =>
      findAnswer(held, parseName('safe.example.'), TYPE.DS, { dnssecOk: true });
    expect(shown(find(both).answer)).toEqual(['DS+1']);
    expect([find(zonesOf(child)).kind, find(zonesOf(child)).zone?.apex]).toEqual(['nodata', child.apex]);
    const own = findAnswer(zones, apex, TYPE.DS, { dnssecOk: true });
    expect(shown(own.authority)).toEqual(['SOA+1', 'NSEC+1']);
  });
});
