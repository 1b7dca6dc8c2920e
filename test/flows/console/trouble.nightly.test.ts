// What a screen does when its own code fails, and when its file does not come.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, type WatchedPage } from '../../support/browser/browser.ts';
import { type ConsoleApi, startConsoleApi } from '../../support/browser/console-api.ts';
import { newDomain } from '../../support/database/domains.ts';

const FAILED = 'This part of the page could not be loaded, or failed.';
const NAME = 'ann.example';

let own: ConsoleApi;
let browser: Browser;

beforeAll(async () => {
  own = await startConsoleApi();
  const ann = await own.makePerson('ann@shop.example');
  await newDomain(own.database.db, ann, `${NAME}.`);
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await own?.stop();
});

async function openRecords(): Promise<WatchedPage> {
  const opened = await own.openAs(browser, 'ann@shop.example', { mayFail: true });
  await opened.page.goto(`/console/domains/${NAME}/records/import`);
  await opened.page.getByRole('textbox').waitFor();
  return opened;
}

describe('a screen', () => {
  it('whose code fails is told, while the rest goes on and what was typed is there', async () => {
    const { context, page, faults } = await openRecords();
    await page.getByRole('textbox').fill('shop 300 IN A 192.0.2.77');
    // No answer has this form: whatever reads it throws.
    const changes = `**/domains/${NAME}/changes?*`;
    await context.route(changes, (route) => route.fulfill({ json: [null] }));
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.getByRole('main').getByRole('alert').getByText(FAILED).waitFor();
    await page.getByRole('link', { name: 'Records', exact: true }).click();
    await page.getByText(FAILED).waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'Import…' }).click();
    await page.getByRole('textbox').waitFor();
    expect(await page.getByRole('textbox').inputValue()).toContain('192.0.2.77');
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.getByText(FAILED).waitFor();
    await context.unroute(changes);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(FAILED).waitFor({ state: 'hidden' });
    expect(faults.filter((fault) => fault.startsWith('error:'))).toEqual([]); // caught, and on the console
    expect(faults.some((fault) => fault.startsWith('console:'))).toBe(true);
    await context.close();
  });

  it('whose file did not come is loaded when it is tried again', async () => {
    const { context, page } = await openRecords();
    await context.route(/assets\/history-screen/, (route) => route.abort());
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.getByText(FAILED).waitFor();
    await context.unroute(/assets\/history-screen/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Look again' }).waitFor();
    expect(await page.getByText(FAILED).count()).toBe(0);
    await context.close();
  });
});

it('an address that there is not is told, whatever its name is', async () => {
  for (const place of ['nowhere', 'constructor']) {
    const { context, page, faults } = await own.openAs(browser, 'ann@shop.example', { mayFail: true });
    await page.goto(`/console/${place}`);
    await page.getByRole('main').getByText('There is no such page').waitFor();
    expect([place, faults]).toEqual([place, []]);
    await context.close();
  }
});
