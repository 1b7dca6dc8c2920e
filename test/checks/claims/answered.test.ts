import { describe, expect, it } from 'vitest';
import { type Around, answeredDomain, type NamedDomain } from '../../../src/checks/claims/answered.ts';
import { madeDomain as domain } from '../../support/world/made-claims.ts';

const answered = (domains: readonly NamedDomain[], more: Partial<Around> = {}) =>
  answeredDomain(domains, { turn: undefined, enclosing: 'none', sightedRights: [], ...more });

describe('a name that an account holds', () => {
  it('is answered whole, whoever waits and whatever is above it', () => {
    const held = [domain(1, 'waiting'), domain(2, 'holding')];
    expect(answered(held, { turn: 1, enclosing: 'full' })).toEqual({ id: 2, served: 'full' });
  });
});

describe('a name that nobody holds', () => {
  it('is answered whole for an open claim that is alone', () => {
    expect(answered([domain(1, 'waiting'), domain(2, 'off')])).toEqual({ id: 1, served: 'full' });
  });

  it.each([
    ['it is not open', [domain(1, 'waiting', { open: false })], {}],
    ['other names of ours were seen here', [domain(1, 'waiting', { othersSighted: true })], {}],
    ['another claim waits', [domain(1, 'waiting'), domain(2, 'waiting')], {}],
    ['another claim waits in external mode', [domain(1, 'waiting'), domain(2, 'unverified')], {}],
    ['another account holds it elsewhere', [domain(1, 'waiting'), domain(2, 'holdingElsewhere')], {}],
    ['another account has the right to a set seen here', [domain(1, 'waiting')], { sightedRights: [1, 7] }],
    ['claims of others are around it', [domain(1, 'waiting')], { enclosing: 'apex' as const }],
  ])('is answered at its apex alone when %s', (_, domains, around) => {
    expect(answered(domains, around)).toEqual({ id: 1, served: 'apex' });
  });

  it('is answered for the claim that has the turn', () => {
    const waiting = [domain(1, 'waiting'), domain(2, 'waiting'), domain(3, 'waiting')];
    expect(answered(waiting, { turn: 3 })?.id).toBe(3);
  });

  it('is not answered inside a zone that is answered whole, nor without a managed claim', () => {
    expect(answered([domain(1, 'waiting')], { enclosing: 'full' })).toBeUndefined();
    expect(answered([domain(1, 'unverified'), domain(2, 'off')])).toBeUndefined();
  });
});
