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

it('what a customer wrote neither steers the terminal nor makes another row', () => {
  const rows = [['\u001b[2Jx\n1 root\u202e', 1]];
  expect(printTable(['NAME', 'ID'], rows).split('\n')).toEqual([
    'NAME           ID',
    '\ufffd[2Jx\ufffd1 root\ufffd   1',
  ]);
});
