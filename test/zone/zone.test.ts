// Marks: names that exist although nothing is published there.

import { expect, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { isMark, isUnprovenMark, markOf, unprovenMarkOf } from '../../src/zone/zone.ts';

test('the mark of an unproven zone is another one, and means that at the apex only', () => {
  const apex = parseName('example.com.');
  const mark = unprovenMarkOf(apex);
  expect([isMark(mark), isUnprovenMark(mark, apex)]).toEqual([true, true]);
  expect(isUnprovenMark(markOf(apex), apex)).toBe(false);
  expect(isUnprovenMark({ ...mark, owner: parseName('www.example.com.') }, apex)).toBe(false);
  expect(isUnprovenMark({ ...mark, type: TYPE.A }, apex)).toBe(false);
});
