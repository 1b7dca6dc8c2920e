import { describe, expect, it } from 'vitest';
import { isSpf, lookupsOf, mergeSpf, spfAllOf, spfTerms } from '../../../../console/src/screens/email/spf.ts';

const GOOGLE = 'include:_spf.google.com';

describe('an SPF policy', () => {
  it('is recognized by its version (RFC 7208 §4.5)', () => {
    expect(['v=spf1', 'V=SPF1 mx', 'v=spf10 mx', 'x v=spf1', 'v=spf2.0/pra'].map(isSpf)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it.each([
    ['nothing', [], [GOOGLE], `v=spf1 ${GOOGLE} ~all`],
    [
      'other senders',
      ['v=spf1 mx include:a.example -all'],
      [GOOGLE],
      `v=spf1 mx include:a.example ${GOOGLE} ~all`,
    ],
    [
      'the same sender',
      [`v=spf1 INCLUDE:_spf.google.com ~all`],
      [GOOGLE],
      'v=spf1 INCLUDE:_spf.google.com ~all',
    ],
    [
      'a second policy (§3.2)',
      ['v=spf1 mx -all', 'v=spf1 a mx ?all'],
      [GOOGLE],
      `v=spf1 mx a ${GOOGLE} ~all`,
    ],
    [
      'a redirection (§6.1)',
      ['v=spf1 redirect=b.example'],
      [GOOGLE],
      `v=spf1 include:b.example ${GOOGLE} ~all`,
    ],
    ['modifiers', ['v=spf1 exp=c.example mx ~all'], [GOOGLE], `v=spf1 mx ${GOOGLE} ~all exp=c.example`],
  ])('is merged with %s', (_, policies, added, expected) =>
    expect(mergeSpf(policies, added, { all: '~all' })).toBe(expected));

  it('is merged without removed senders', () => {
    const merged = mergeSpf(['v=spf1 mx Include:a.example ~all'], [GOOGLE], {
      all: '-all',
      without: ['include:A.example'],
    });
    expect(merged).toBe(`v=spf1 mx ${GOOGLE} -all`);
  });

  it('is split into terms and a qualifier', () => {
    expect(spfTerms(['v=spf1  mx a:b.example   -all'])).toEqual(['mx', 'a:b.example']);
    expect([['v=spf1 -ALL'], ['v=spf1 ?all'], []].map(spfAllOf)).toEqual(['-all', '~all', '~all']);
  });

  it('requires lookups for the terms of RFC 7208 §4.6.4', () => {
    expect(lookupsOf('v=spf1 a a:b a/24 mx mx/24 ?include:c exists:%{i}.d ptr redirect=e')).toBe(9);
    expect(lookupsOf('v=spf1 ip4:192.0.2.0/24 ip6:2001:db8::/32 all exp=f')).toBe(0);
  });
});
