// A user who goes through the console by its links: every page of a domain, then every screen in the sidebar.

import type { Locator, Page } from 'playwright-core';

/** Starts and ends at the list of domains. Returns the number of screen changes. */
export async function walkScreens(page: Page, domain: string): Promise<number> {
  await page.getByRole('main').getByRole('link', { name: domain, exact: true }).click();
  await arrive(page);
  let changes = 1;
  for (const links of [page.locator('.tabs'), page.locator('nav.side')]) {
    // The first link of the sidebar is the list.
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
