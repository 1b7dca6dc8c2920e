// A person who goes through the console by its links: every page of a domain, then every screen that the side leads to.

import type { Locator, Page } from 'playwright-core';

/** Begins and ends at the list of domains. Gives how often the screen changed. */
export async function walkScreens(page: Page, domain: string): Promise<number> {
  await page.getByRole('main').getByRole('link', { name: domain, exact: true }).click();
  await arrive(page);
  let changes = 1;
  for (const links of [page.locator('.tabs'), page.locator('nav.side')]) {
    // The first one, where the side begins, is the list.
    const count = await links.getByRole('link').count();
    for (let i = 0; i < count; i++) {
      await follow(page, links.getByRole('link').nth((i + 1) % count));
      changes++;
    }
  }
  return changes;
}

async function follow(page: Page, link: Locator): Promise<void> {
  await link.click();
  await link.and(page.locator('[aria-current=page]')).waitFor();
  await arrive(page);
}

async function arrive(page: Page): Promise<void> {
  await page.getByText('Loading…').first().waitFor({ state: 'hidden' });
}
