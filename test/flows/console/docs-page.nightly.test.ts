import { expect, it } from 'vitest';
import { ownConsole } from '../../support/browser/console-api.ts';

const own = ownConsole();

it('/docs lists and opens operations, and loads nothing from other hosts', async () => {
  const { page, faults } = await own.open();
  await page.goto('/docs');
  const operations = page.locator('.opblock-summary');
  await operations.first().waitFor();
  expect(await operations.count()).toBeGreaterThan(100);
  await operations.first().click();
  await page.locator('.opblock-body').first().waitFor();
  expect(faults).toEqual([]);
});
