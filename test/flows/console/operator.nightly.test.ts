// What an operator does in a browser: moves are frozen by hand and let through again.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addCheckCounts } from '../../../src/store/checks/breaker-store.ts';
import { openBrowser } from '../../support/browser/browser.ts';
import { type ConsoleApi, startConsoleApi } from '../../support/browser/console-api.ts';

const ADMIN = 'admin@shop.example';

let own: ConsoleApi;
let browser: Browser;

beforeAll(async () => {
  own = await startConsoleApi();
  await own.makePerson(ADMIN, { isAdmin: true });
  await addCheckCounts(own.database.db, [{ parent: 'example.', checked: 40, turned: 2, off: 2 }]);
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await own?.stop();
});

it('moves are frozen below a zone with a reason, and let through again', async () => {
  const { page, context, faults } = await own.openAs(browser, ADMIN, { mayFail: true });
  await page.goto('/console/operator/registries');
  await page.getByRole('button', { name: 'Freeze changes…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Why').fill('The registry restores its zone.');
  await dialog.getByLabel('Only below the zone').fill('exampel');
  await dialog.getByLabel('Until').selectOption({ label: '24 hours' });
  await dialog.getByRole('button', { name: 'Freeze them' }).click();
  await dialog.getByText('is not the zone above any domain here', { exact: true }).waitFor();
  await dialog.getByLabel('Only below the zone').fill('example');
  await dialog.getByRole('button', { name: 'Freeze them' }).click();
  await page.getByRole('heading', { name: 'Changes of status are frozen by hand below example' }).waitFor();
  await page.getByText(/admin@shop\.example wrote: “The registry restores its zone\.”/).waitFor();
  await page.getByRole('button', { name: 'Let the changes through…' }).click();
  await dialog.getByText('This ends what was frozen by hand.').waitFor();
  await dialog.getByRole('button', { name: 'Let them through' }).click();
  await page.getByText('Changes of status go through').waitFor();
  const row = page.getByRole('row').filter({ hasText: 'The registry restores its zone.' });
  expect(await row.textContent()).toContain(ADMIN);
  expect(faults).toEqual([]);
  await context.close();
});
