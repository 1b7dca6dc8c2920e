import { expect, test } from 'vitest';
import { ProgressBar } from '../../../src/cli/terminal/progress-bar.ts';

function terminal(isTTY: boolean, columns = 60) {
  const written: string[] = [];
  return { written, isTTY, columns, write: (text: string) => written.push(text) > 0 };
}

test('a terminal is shown how far the work is, ten times a second at most, and is left clean', () => {
  const shown = terminal(true);
  let now = 0;
  const bar = new ProgressBar(shown as never, () => now);
  bar.show(0, 0, 'begins');
  bar.show(1, 4, 'too soon');
  now = 100;
  bar.show(3, 4, '3 of 4 names');
  now = 200;
  bar.show(9, 4, 'x'.repeat(100));
  bar.clear();
  bar.clear();
  expect(shown.written).toEqual([
    `\r\x1b[K[${'-'.repeat(24)}] begins`,
    `\r\x1b[K[${'#'.repeat(18)}${'-'.repeat(6)}] 3 of 4 names`,
    `\r\x1b[K${`[${'#'.repeat(24)}] ${'x'.repeat(100)}`.slice(0, 59)}`,
    '\r\x1b[K',
  ]);
});

test('a stream that is no terminal gets nothing', () => {
  const piped = terminal(false);
  const bar = new ProgressBar(piped as never);
  bar.show(1, 2, 'half');
  bar.clear();
  expect(piped.written).toEqual([]);
});
