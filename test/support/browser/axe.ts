// What axe-core finds wrong with a page for people who use it by keyboard, enlarged or read aloud.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** In words: the rule, and the elements that break it. */
export async function axeFaults(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return await page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | ')))`,
  );
}
