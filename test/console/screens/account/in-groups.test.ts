// A secret is shown in groups of four, and nothing is lost.

import { expect, it } from 'vitest';
import { inGroups } from '../../../../console/src/screens/account/in-groups.ts';

it('puts a space after every fourth character but the last', () => {
  expect(inGroups('ABCDEFGH')).toBe('ABCD EFGH');
  expect(inGroups('ABCDE')).toBe('ABCD E');
  expect(inGroups('ABC')).toBe('ABC');
});
