// RESULTS.md: sections are written one by one in any order.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PartName } from '../../../bench/part.ts';
import { writeSection } from '../../../bench/report/results-file.ts';

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'zonefleet-test-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const FROM = {
  command: 'npm run bench',
  date: '2026-11-20',
  machine: 'two cores',
  runs: 'medians of 5 runs',
};

function write(part: PartName, text: string): string {
  const bars = [{ label: 'a <b>', value: 2, isOurs: true }];
  const chart = { name: part, title: part, unit: 'µs', digits: 2, bars };
  writeSection(
    directory,
    { part, title: part, blocks: [text], charts: [chart] },
    ['answers', 'tcp', 'latency'],
    FROM,
  );
  return readFileSync(join(directory, 'RESULTS.md'), 'utf8');
}

it('a repeated measurement replaces only its own section', () => {
  write('tcp', 'before');
  write('answers', 'first');
  const text = write('tcp', 'afterwards');
  expect(text).toContain('afterwards');
  expect(text).not.toContain('before');
  expect(text.indexOf('first')).toBeLessThan(text.indexOf('afterwards'));
  expect(text.match(/^## /gm)).toHaveLength(2);
});

it('charts are separate files with escaped text', () => {
  write('latency', 'soon');
  const svg = readFileSync(join(directory, 'charts', 'latency.svg'), 'utf8');
  expect(svg).toContain('a &lt;b&gt;');
  expect(svg).toContain('2.00 µs');
});
