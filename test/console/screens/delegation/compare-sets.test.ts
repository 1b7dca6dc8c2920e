// What differs between the nameservers that are listed and those that should be, and what a list is to several accepted sets.

import { describe, expect, it } from 'vitest';
import { compareNames, judgeNames } from '../../../../console/src/screens/delegation/compare-sets.ts';

const OURS = ['ns1.fleet.example', 'ns2.fleet.example'];
const OTHER = ['ns1.other.example', 'ns2.other.example'];
const SETS = [OURS, OTHER];

describe('compareNames', () => {
  it('keeps what is right, removes what is not, and adds what is missing, in this order', () => {
    expect(compareNames(['ns1.old.example', 'ns2.fleet.example'], OURS)).toEqual([
      { name: 'ns2.fleet.example', mark: 'keep' },
      { name: 'ns1.old.example', mark: 'remove' },
      { name: 'ns1.fleet.example', mark: 'add' },
    ]);
  });

  it('adds all where nothing is listed, and changes nothing where the same is', () => {
    expect(compareNames([], OURS).map(({ mark }) => mark)).toEqual(['add', 'add']);
    expect(compareNames([...OURS].reverse(), OURS).map(({ mark }) => mark)).toEqual(['keep', 'keep']);
  });

  it('takes no difference from case or a final dot', () => {
    expect(compareNames(['NS1.Fleet.example.', 'ns2.fleet.example'], OURS).map(({ mark }) => mark)).toEqual([
      'keep',
      'keep',
    ]);
  });
});

describe('judgeNames', () => {
  it.each([
    ['match', OURS],
    ['match', [...OTHER].reverse()],
    ['match', ['NS1.FLEET.example.', 'ns2.fleet.example']],
    ['partial', ['ns1.fleet.example']],
    ['partial', ['ns1.fleet.example', 'ns1.old.example']],
    ['extra', [...OURS, 'ns1.old.example']],
    ['mixed', ['ns1.fleet.example', 'ns2.other.example']],
    ['mixed', [...OURS, ...OTHER]],
    ['mixed', ['ns1.fleet.example', 'ns2.other.example', 'ns1.old.example']],
    ['foreign', ['ns1.old.example', 'ns2.old.example']],
    ['foreign', []],
  ])('%s: %j', (verdict, listed) => {
    expect(judgeNames(listed, SETS)).toBe(verdict);
  });

  it('finds all names foreign where no set is accepted', () => {
    expect(judgeNames(OURS, [])).toBe('foreign');
  });

  it('finds a name that stands in two sets whole in the one that has no other', () => {
    expect(
      judgeNames(
        ['a.example', 'b.example'],
        [
          ['a.example', 'b.example', 'c.example'],
          ['a.example', 'b.example'],
        ],
      ),
    ).toBe('match');
  });
});
