// Amounts of time in words, and that every verdict, outcome and status has its words.

import { describe, expect, it } from 'vitest';
import { countdown, duration } from '../../../../console/src/screens/delegation/words-of.ts';
import { words } from '../../../../console/src/words/words.ts';
import { SERVER_OUTCOMES } from '../../../../src/api/schemas/checks/check.ts';
import { VERDICTS } from '../../../../src/checks/delegation/verdict.ts';
import { DOMAIN_STATUSES } from '../../../../src/zone/domain/domain-status.ts';

describe('duration', () => {
  it.each([
    [1, '1 second'],
    [119, '119 seconds'],
    [300, '5 minutes'],
    [86_400, '24 hours'],
    [172_800, '2 days'],
    [172_801, '3 days'],
  ])('%i s is %s', (seconds, told) => {
    expect(duration(seconds)).toBe(told);
  });
});

describe('countdown', () => {
  it('has minutes and two digits of seconds, and ends at zero', () => {
    expect([3599.2, 61, 9, 0, -5].map(countdown)).toEqual(['60:00', '1:01', '0:09', '0:00', '0:00']);
  });
});

describe('the words of the delegation', () => {
  const { delegation } = words;

  it('name every verdict, alone and as what a pending domain waits for', () => {
    expect(Object.keys(delegation.verdicts)).toEqual(expect.arrayContaining([...VERDICTS]));
    expect(Object.keys(delegation.lead.pending).sort()).toEqual([...VERDICTS].sort());
  });

  it('name every outcome of a server and every status', () => {
    expect(Object.keys(delegation.outcomes).sort()).toEqual([...SERVER_OUTCOMES].sort());
    expect(Object.keys(delegation.headlines).sort()).toEqual([...DOMAIN_STATUSES].sort());
  });
});
