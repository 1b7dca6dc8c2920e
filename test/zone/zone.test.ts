// Marks: names that exist although nothing is published there.

import { expect, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { isMark, isUnprovenMark, MARK_TYPE, markOf, unprovenMarkOf } from '../../src/zone/zone.ts';

test('a mark has the owner, the reserved type 0 and nothing else (RFC 6895 §3.1)', () => {
  const owner = parseName('www.example.com.');
  const mark = markOf(owner);
  expect(mark).toEqual({ owner, type: 0, ttl: 0, rdata: new Uint8Array() });
  expect(mark.type).toBe(MARK_TYPE);
  expect(isMark(mark)).toBe(true);
});

test('the mark of an unproven zone is another one, and means that at the apex only', () => {
  const apex = parseName('example.com.');
  const mark = unprovenMarkOf(apex);
  expect([isMark(mark), isUnprovenMark(mark, apex)]).toEqual([true, true]);
  expect(isUnprovenMark(markOf(apex), apex)).toBe(false);
  expect(isUnprovenMark({ ...mark, owner: parseName('www.example.com.') }, apex)).toBe(false);
  expect(isUnprovenMark({ ...mark, type: TYPE.A }, apex)).toBe(false);
});

test('no record of a real type is a mark, nor is an empty one of an unknown type', () => {
  for (const type of [...Object.values(TYPE), 65280]) expect(isMark({ type })).toBe(false);
});
