// Each runbook is listed in their index, and a test runs its commands.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RunbookPage } from '../support/runbooks/page.ts';
import { filesIn, ROOT } from '../support/tests/sources.ts';

const FOLDER = 'docs/operating/runbooks';
const pages = readdirSync(join(ROOT, FOLDER))
  .filter((file) => file !== 'README.md')
  .map((file) => file.replace(/\.md$/, ''))
  .sort();
const namedIn = (text: string, pattern: RegExp) =>
  [...new Set([...text.matchAll(pattern)].map(([, name]) => name as string))].sort();

it('the index of runbooks lists every page', () => {
  const index = readFileSync(join(ROOT, FOLDER, 'README.md'), 'utf8');
  expect(namedIn(index, /\]\(([\w-]+)\.md\)/g)).toEqual(pages);
});

it('a test runs the commands of every runbook', () => {
  const texts = filesIn('test/flows/runbooks').map((path) => readFileSync(join(ROOT, path), 'utf8'));
  expect(namedIn(texts.join('\n'), /\brunbook\('([\w-]+)'\)/g)).toEqual(pages);
});

it.each(pages)('%s has commands under its headings', (page) => {
  expect(new RunbookPage(page).rest().length).toBeGreaterThan(0);
});
