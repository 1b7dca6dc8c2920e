// The console's sign-in: a link works once and not by being opened, and a password leads where the person wanted to go.

import { existsSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeLink } from '../../../src/store/people/account-links.ts';
import { CHROMIUM, openBrowser, openPage } from '../../support/browser/browser.ts';
import { type ConsoleApi, PASSWORD, startConsoleApi } from '../../support/browser/console-api.ts';

const needs = existsSync(CHROMIUM) ? '' : ` (skipped: needs ${CHROMIUM})`;

describe.skipIf(needs !== '')(`the console${needs}`, () => {
  let own: ConsoleApi;
  let browser: Browser;
  let annId: number;

  beforeAll(async () => {
    own = await startConsoleApi();
    annId = await own.makePerson('ann@shop.example');
    browser = await openBrowser();
  });

  afterAll(async () => {
    await browser?.close();
    await own?.stop();
  });

  it('signs in once by the button of a link, not by opening the link', async () => {
    const token = await makeLink(own.database.db, { kind: 'sign-in', accountId: annId });
    for (const visit of ['a scanner', 'Ann']) {
      const { page, context, faults } = await openPage(browser, own.api.url, { mayFail: true });
      await page.goto(`/console/#sign-in=${token}`);
      await page.getByRole('button', { name: 'Sign in with this link' }).waitFor();
      expect(page.url()).not.toContain(token);
      if (visit === 'Ann') {
        await page.getByRole('button', { name: 'Sign in with this link' }).click();
        await page.getByRole('heading', { name: 'Domains' }).waitFor();
      }
      expect(faults).toEqual([]);
      await context.close();
    }
    const late = await openPage(browser, own.api.url, { mayFail: true });
    await late.page.goto(`/console/#sign-in=${token}`);
    await late.page.getByRole('button', { name: 'Sign in with this link' }).click();
    await late.page.getByText('The link was used, or is too old').waitFor();
    await late.context.close();
  });

  it('leads to the requested page after sign-in, and deletes drafts at sign-out', async () => {
    const { page, context, faults } = await openPage(browser, own.api.url, { mayFail: true });
    await page.goto('/console/account');
    await page.getByLabel('Email').fill('ann@shop.example');
    await page.getByLabel('Password').fill(`${PASSWORD}!`);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Email').inputValue()).toBe('ann@shop.example');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/account');
    await page.evaluate("localStorage.setItem('draft:x', '1')");
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
    expect(await page.evaluate("localStorage.getItem('draft:x')")).toBeNull();
    expect(faults).toEqual([]);
    await context.close();
  });
});
