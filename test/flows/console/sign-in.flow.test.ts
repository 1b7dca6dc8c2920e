import { existsSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { makeLink } from '../../../src/store/people/credentials.ts';
import { CHROMIUM } from '../../support/browser/browser.ts';
import { ownConsole, PASSWORD } from '../../support/browser/console-api.ts';

const needs = existsSync(CHROMIUM) ? '' : ` (skipped: needs ${CHROMIUM})`;

describe.skipIf(needs !== '')(`the console${needs}`, () => {
  const own = ownConsole();
  let annId: number;

  beforeAll(async () => {
    annId = await own.makePerson('ann@shop.example');
  });

  it('signs in once by the button of a link, not by opening the link', async () => {
    const token = await makeLink(own.database.db, { kind: 'sign-in', accountId: annId });
    for (const visit of ['a scanner', 'Ann']) {
      const { page, faults } = await own.open({ mayFail: true });
      await page.goto(`/console/#sign-in=${token}`);
      await page.getByRole('button', { name: 'Sign in with this link' }).waitFor();
      expect(page.url()).not.toContain(token);
      if (visit === 'Ann') {
        await page.getByRole('button', { name: 'Sign in with this link' }).click();
        await page.getByRole('heading', { name: 'Domains', exact: true }).waitFor();
      }
      expect(faults).toEqual([]);
    }
    const late = await own.open({ mayFail: true });
    await late.page.goto(`/console/#sign-in=${token}`);
    await late.page.getByRole('button', { name: 'Sign in with this link' }).click();
    await late.page.getByText('The link has already been used or has expired').waitFor();
  });

  it('leads to the requested page after sign-in, and deletes drafts at sign-out', async () => {
    const { page, faults } = await own.open({ mayFail: true });
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
  });

  it('confirms a new email address by its link, also in a page that is already open', async () => {
    const email = 'eve@shop.example';
    const accountId = await own.makePerson(email);
    const token = await makeLink(own.database.db, { kind: 'email', accountId, email: 'eva@shop.example' });
    const { page, faults } = await own.openAs(email);
    await page.goto('/console/account');
    await page.getByText(email).first().waitFor();
    await page.goto(`/console/account#email=${token}`);
    await page.getByRole('button', { name: 'Confirm your new address' }).click();
    await page.getByText('eva@shop.example').first().waitFor();
    expect(faults).toEqual([]);
  });

  it('is in the language of the browser, or in the one that was chosen', async () => {
    const { page, faults } = await own.openAs('ann@shop.example', {
      locale: 'fa-IR',
      viewport: { width: 390, height: 844 },
    });
    await page.goto('/console/domains');
    await page.getByRole('heading', { name: 'دامنه‌ها', exact: true }).waitFor();
    const isWide = 'document.documentElement.scrollWidth > innerWidth';
    expect([await page.locator('html').getAttribute('dir'), await page.evaluate(isWide)]).toEqual([
      'rtl',
      false,
    ]);
    await page.getByRole('button', { name: 'دامنه‌ها' }).click();
    await page.getByLabel('زبان').selectOption('English');
    await page.getByRole('heading', { name: 'Domains', exact: true }).waitFor();
    expect(await page.locator('html').getAttribute('dir')).toBe('ltr');
    expect(faults).toEqual([]);
  });
});
