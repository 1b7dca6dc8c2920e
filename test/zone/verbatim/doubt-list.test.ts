import { expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { DoubtList } from '../../../src/zone/verbatim/doubt-list.ts';

it('tells three of a kind, and how many more there are', () => {
  const doubts = new DoubtList();
  const owner = parseName('a.');
  for (let i = 0; i < 5; i++) {
    doubts.add('FIRST', owner, `first ${i}`, TYPE.A);
    if (i < 3) doubts.add('SECOND', owner, `second ${i}`);
  }
  expect(doubts.list).toEqual([
    ...[0, 1, 2].map((i) => ({ code: 'FIRST', message: `first ${i}`, owner, type: TYPE.A })),
    { code: 'FIRST', message: 'and 2 more of FIRST' },
    ...[0, 1, 2].map((i) => ({ code: 'SECOND', message: `second ${i}`, owner })),
  ]);
});
