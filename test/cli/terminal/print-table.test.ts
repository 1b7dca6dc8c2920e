import { expect, it } from 'vitest';
import { printTable } from '../../../src/cli/terminal/print-table.ts';

it('columns are aligned, numbers to the right, and no line ends in blanks', () => {
  const rows = [
    ['ams1', 12, 'live'],
    ['fra', 1234, ''],
  ];
  expect(printTable(['NODE', 'ZONES', 'STATE'], rows).split('\n')).toEqual([
    'NODE  ZONES  STATE',
    'ams1     12  live',
    'fra    1234',
  ]);
});

it('a table without rows is its heads', () => {
  expect(printTable(['NODE', 'ZONES'], [])).toBe('NODE  ZONES');
});
