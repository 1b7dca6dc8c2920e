import { describe, expect, it } from 'vitest';
import { isTurn, judgeBreaker } from '../../src/checks/breaker.ts';
import { VERDICTS, type Verdict } from '../../src/checks/verdict.ts';

/** `com 200 21, net 100 0`: parent, checked, turned; `*` is overall, or no parent found. */
function trips(text: string): string {
  const counts = text.split(', ').map((row) => {
    const [parent, checked, turned] = row.split(' ') as [string, string, string];
    return { parent: parent === '*' ? '' : parent, checked: Number(checked), turned: Number(turned) };
  });
  return judgeBreaker(counts)
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
    ['com 60 10, net 60 10', '* 120 20'], // each is too few, both are not
    ['com 60 12, com 60 10', '* 120 22, com 120 22'],
    ['com 1000 30, net 50 25', 'net 50 25'],
    ['* 30 25', '* 30 25'],
    ['* 15 15, com 100 10', '* 115 25'],
    ['com 0 0', ''],
  ])('%s: %s', (counts, expected) => {
    expect(trips(counts)).toBe(expected);
  });

  it('nothing was checked', () => {
    expect(judgeBreaker([])).toEqual([]);
  });
});

describe('an active domain turns', () => {
  const turns = (before: Verdict | undefined) => VERDICTS.filter((verdict) => isTurn(before, verdict));
  const notMatch = VERDICTS.filter((verdict) => verdict !== 'match');

  it('from a match to whatever else, or at its first check', () => {
    expect(turns('match')).toEqual(notMatch);
    expect(turns(undefined)).toEqual(notMatch);
  });

  it('to unknown from what was known', () => {
    for (const before of notMatch) expect(turns(before)).toEqual(before === 'unknown' ? [] : ['unknown']);
  });
});
