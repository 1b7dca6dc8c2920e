import { describe, expect, it } from 'vitest';
import { expandPattern } from '../../../src/zone/pool/name-pattern.ts';
import { wordsOf } from '../../support/tests/rows-of.ts';

describe('a pattern', () => {
  it('without a range is one name', () => {
    expect(expandPattern('ns.example.')).toEqual(['ns.example.']);
  });

  it('with a range is every name of it, with leading zeros where its ends have them', () => {
    expect(expandPattern('ns[08-11].example.')).toEqual([
      'ns08.example.',
      'ns09.example.',
      'ns10.example.',
      'ns11.example.',
    ]);
    expect(expandPattern('ns[9-11].example.')).toEqual(['ns9.example.', 'ns10.example.', 'ns11.example.']);
    expect(expandPattern('[0-1]-a.example.')).toEqual(['0-a.example.', '1-a.example.']);
    expect(expandPattern('a.[7-7].example.')).toEqual(['a.7.example.']);
    expect(expandPattern('ns[001-1000].example.')).toBeUndefined();
    expect(expandPattern('ns[1-1000].example.')).toHaveLength(1000);
  });

  it.each(
    wordsOf(`
    ns[2-1].example. ns[01-1].example. ns[1-010].example. ns[1-1001].example. ns[1-].example.
    ns[a-b].example. ns[1-2][1-2].example. ns[1-2.example. ns1-2].example. ns[].example.
    ns[1-99999].example.`),
  )('is none: %s', (pattern) => {
    expect(expandPattern(pattern)).toBeUndefined();
  });
});
