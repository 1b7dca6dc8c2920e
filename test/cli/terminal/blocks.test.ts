import { expect, it } from 'vitest';
import { indentTable, joinBlocks } from '../../../src/cli/terminal/blocks.ts';

it('blocks stand apart by one empty line, and one without lines leaves none', () => {
  expect(joinBlocks([['a', 'b'], [], ['c']])).toBe('a\nb\n\nc');
  expect(joinBlocks([[], []])).toBe('');
});

it('a table under a head is indented line by line', () => {
  expect(indentTable('A  B\n1  2')).toEqual(['  A  B', '  1  2']);
});
