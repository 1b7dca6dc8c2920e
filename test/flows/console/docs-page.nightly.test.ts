// The description of the API as a browser shows it.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, openPage } from '../../support/browser/browser.ts';
import { type ConsoleApi, startConsoleApi } from '../../support/browser/console-api.ts';

let own: ConsoleApi;
let browser: Browser;
beforeAll(async () => {
  own = await startConsoleApi();
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await own?.stop();
});

it('/docs lists the operations, opens one, and loads nothing from another host', async () => {
  const { page, faults } = await openPage(browser, own.api.url);
  await page.goto('/docs');
  const operations = page.locator('.opblock-summary');
  await operations.first().waitFor();
  expect(await operations.count()).toBeGreaterThan(100);
  await operations.first().click();
  await page.locator('.opblock-body').first().waitFor();
  expect(faults).toEqual([]);
});
