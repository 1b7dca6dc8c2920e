import { describe, expect, it } from 'vitest';
import { isOff, isTurn, judgeBreaker } from '../../../src/checks/delegation/breaker.ts';
import { VERDICTS, type Verdict } from '../../../src/checks/delegation/verdict.ts';

/** `com 200 21 30, net 100 0`: parent, checked, turned, off (as many as turned); `*` is overall, or no parent found. */
function trips(text: string, held: readonly string[] = []): string {
  const counts = text.split(', ').map((row) => {
    const [parent, checked, turned, off = turned] = row.split(' ') as [string, string, string, string?];
    const name = parent === '*' ? '' : parent;
    return { parent: name, checked: Number(checked), turned: Number(turned), off: Number(off) };
  });
  return judgeBreaker(counts, new Set(held.map((parent) => (parent === '*' ? '' : parent))))
    .map(({ parent, checked, turned }) => `${parent || '*'} ${checked} ${turned}`)
    .join(', ');
}

describe('the breaker', () => {
  it.each([
    ['com 200 21', '* 200 21, com 200 21'],
    ['com 200 20', ''], // not more than 10 %
    ['com 199 20', '* 199 20, com 199 20'],
    ['com 19 19', ''], // fewer than 20
    ['com 20 20', '* 20 20, com 20 20'],
    ['com 199 20, net 1000 0', 'com 199 20'],
    ['com 60 10, net 60 10', '* 120 20'], // too few in each, enough together
    ['com 60 12, com 60 10', '* 120 22, com 120 22'],
    ['com 1000 30, net 50 25', 'net 50 25'],
    ['* 30 25', '* 30 25'],
    ['* 15 15, com 100 10', '* 115 25'],
    ['com 0 0', ''],
  ])('%s: %s', (counts, expected) => {
    expect(trips(counts)).toBe(expected);
  });

  it.each([
    // hours after the turn: no more domains turn, but the same ones still miss
    ['com 200 0 190', '* 200 0, com 200 0'],
    ['com 200 0 101', '* 200 0, com 200 0'],
    ['com 200 0 100', ''],
    ['com 30 0 19', ''], // fewer than 20
    ['com 100 0 90, net 1000 0 0', 'com 100 0'],
    ['com 0 0', ''],
  ])('once it holds, goes on while most checks show nothing of ours: %s: %s', (counts, expected) => {
    expect(trips(counts, ['*', 'com'])).toBe(expected);
    expect(trips(counts)).toBe('');
  });

  it('nothing was checked', () => {
    expect(judgeBreaker([])).toEqual([]);
  });
});

describe('an active domain turns', () => {
  const turns = (before: Verdict | undefined) => VERDICTS.filter((verdict) => isTurn(before, verdict));
  const notMatch = VERDICTS.filter((verdict) => verdict !== 'match');

  it('from a match to any other verdict, or at its first check', () => {
    expect(turns('match')).toEqual(notMatch);
    expect(turns(undefined)).toEqual(notMatch);
  });

  it('from any known verdict to unknown', () => {
    for (const before of notMatch) expect(turns(before)).toEqual(before === 'unknown' ? [] : ['unknown']);
  });
});

it('a check shows nothing of ours when it is unknown or a miss', () => {
  expect(VERDICTS.filter(isOff)).toEqual(['foreign', 'not_delegated', 'unregistered', 'alias', 'unknown']);
});
