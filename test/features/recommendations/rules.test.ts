// When each recommendation is made, and when it is not.

import { describe, expect, it } from 'vitest';
import {
  type DomainFacts,
  RECOMMENDATION_CODES,
  recommend,
  type ZoneFacts,
} from '../../../src/features/recommendations/rules.ts';

const ZONE: ZoneFacts = {
  hasMail: true,
  apexTexts: ['v=spf1 mx -all'],
  dmarcTexts: ['v=DMARC1; p=reject'],
  dmarcIsElsewhere: false,
  hasCaa: true,
  dangling: [],
  withoutIpv6: [],
};
const FACTS: DomainFacts = {
  domain: 'shop.test',
  zone: ZONE,
  isActive: true,
  isSigned: true,
  wrongDs: [],
  uncovered: [],
  hasCertificate: true,
  used: [{ what: 'records', amount: 10, most: 100 }],
};

const codes = (facts: Partial<DomainFacts>) => recommend({ ...FACTS, ...facts }).map(({ code }) => code);
const codesOfZone = (zone: Partial<ZoneFacts>) => codes({ zone: { ...ZONE, ...zone } });

it('recommends nothing if there are no problems', () => {
  expect(codes({})).toEqual([]);
});

it('sorts all recommendations by severity, each code once, with a message and a fix', () => {
  const none = { apexTexts: [], dmarcTexts: [], dmarcIsElsewhere: false, hasCaa: false };
  const names = { dangling: ['a.shop.test'], withoutIpv6: ['shop.test'] };
  const found = recommend({
    ...FACTS,
    zone: { hasMail: true, ...none, ...names },
    ...{ isSigned: false, wrongDs: ['No DS matches.'], uncovered: ['www.shop.test'] },
    used: [{ what: 'records', amount: 100, most: 100 }],
  });
  expect(found.map(({ code }) => code).sort()).toEqual([...RECOMMENDATION_CODES].sort());
  const ranks = found.map(({ severity }) => ['error', 'warning', 'info'].indexOf(severity));
  expect(ranks).toEqual([...ranks].sort());
  const sentence = expect.stringMatching(/\.$/);
  for (const { message, fix } of found) expect([message, fix]).toEqual([sentence, sentence]);
});

describe('mail', () => {
  it.each([
    ['v=spf1', []],
    ['V=SPF1 -all', []],
    ['v=spf10 -all', ['missing_spf']],
    [' v=spf1 -all', ['missing_spf']],
    ['', ['missing_spf']],
  ])('evaluates the text %j at the apex', (text, wanted) => {
    expect(codesOfZone({ apexTexts: ['google-site-verification=1', text] })).toEqual(wanted);
  });

  it.each([
    ['v=DMARC1', []],
    ['v = DMARC1 ; p=none', []],
    ['v=dmarc1; p=none', ['missing_dmarc']],
    ['p=none; v=DMARC1', ['missing_dmarc']],
  ])('evaluates the text %j at _dmarc', (text, wanted) => {
    expect(codesOfZone({ dmarcTexts: [text] })).toEqual(wanted);
  });

  it('accepts a policy that is published elsewhere, and requires none without mail', () => {
    expect(codesOfZone({ dmarcTexts: [], dmarcIsElsewhere: true })).toEqual([]);
    expect(codesOfZone({ hasMail: false, apexTexts: [], dmarcTexts: [] })).toEqual([]);
  });
});

describe('if other operators answer for the domain', () => {
  it('recommends only about the certificate and the plan', () => {
    const used = [{ what: 'records', amount: 95, most: 100 }];
    expect(codes({ zone: undefined, isSigned: false, uncovered: ['www.shop.test'], used })).toEqual([
      'proxied_without_certificate',
      'plan_nearly_used',
    ]);
  });
});

it('does not recommend signing a domain that is not delegated to the fleet', () => {
  expect(codes({ isSigned: false, isActive: false })).toEqual([]);
  expect(codes({ isSigned: false })).toEqual(['unsigned']);
});

it('a plan is nearly used from nine tenths of a limit, and never without a limit', () => {
  const use = (amount: number, most: number) => codes({ used: [{ what: 'records', amount, most }] });
  expect([use(89, 100), use(90, 100), use(1, 0)]).toEqual([[], ['plan_nearly_used'], []]);
});

it('names only the first five of many names, but depends on all of them', () => {
  const names = Array.from({ length: 7 }, (_, i) => `n${i}.shop.test`);
  const [one] = recommend({ ...FACTS, zone: { ...ZONE, dangling: names } });
  expect(one?.message).toContain(
    'n0.shop.test, n1.shop.test, n2.shop.test, n3.shop.test, n4.shop.test and 2 more',
  );
  expect(one?.subject).toBe(names.join(' '));
});
