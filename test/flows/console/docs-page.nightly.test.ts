import { expect, it } from 'vitest';
import { ownConsole } from '../../support/browser/console-api.ts';

const own = ownConsole();

it('/docs lists the operations, opens one, and loads nothing from another host', async () => {
  const { page, faults } = await own.open();
  await page.goto('/docs');
  const operations = page.locator('.opblock-summary');
  await operations.first().waitFor();
  expect(await operations.count()).toBeGreaterThan(100);
  await operations.first().click();
  await page.locator('.opblock-body').first().waitFor();
  expect(faults).toEqual([]);
});
