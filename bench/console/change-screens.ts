// Switches between screens within the page, and measures the memory that remains in use.

import type { Page } from 'playwright-core';
import { type Held, heldBy } from '../../test/support/browser/page-figures.ts';
import { walkScreens } from '../../test/support/browser/walk-screens.ts';

export interface Changed {
  /** Number of screen changes. */
  readonly changes: number;
  readonly before: Held;
  readonly halfway: Held;
  readonly after: Held;
}

/** Walks that load every screen and fill its caches. */
const WALKS_BEFORE = 2;

/** Makes at least `wanted` changes after these walks. All figures are measured at the list of domains. */
export async function changeScreens(page: Page, domain: string, wanted: number): Promise<Changed> {
  const session = await page.context().newCDPSession(page);
  await page.goto('/console/domains');
  for (let i = 0; i < WALKS_BEFORE; i++) await walkScreens(page, domain);
  const held = async () => {
    await page.waitForTimeout(1000); // responses that no screen waits for
    return await heldBy(session);
  };
  const before = await held();
  let changes = 0;
  while (changes < wanted / 2) changes += await walkScreens(page, domain);
  const halfway = await held();
  while (changes < wanted) changes += await walkScreens(page, domain);
  return { changes, before, halfway, after: await held() };
}
