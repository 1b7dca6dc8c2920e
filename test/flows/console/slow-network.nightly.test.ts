// The console over a network as slow as an old telephone's: every action shows that it is under way, is done once however
// often it is asked for, and what was typed is there until it is saved.

import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser, openPage } from '../../support/browser/browser.ts';
import { type ConsoleApi, PASSWORD, startConsoleApi } from '../../support/browser/console-api.ts';

/** As Chromium's own profile of slow 3G: octets a second, and milliseconds before an answer. */
const SLOW = { offline: false, latency: 400, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const ANN = 'ann@shop.example';
const NAME = 'slow.example';

/** The same button before it was pressed, and after no answer came. */
const SAVE = /^(Save|Send it again)/;

/** Runs in the page: notes what each control says when it begins to be at work. */
const NOTE_BUSY = `globalThis.busy = [];
new MutationObserver((changes) => {
  for (const { target } of changes)
    if (target.getAttribute('aria-busy') === 'true') busy.push(target.textContent);
}).observe(document, { subtree: true, attributeFilter: ['aria-busy'] });`;

let own: ConsoleApi;
let browser: Browser;
let page: Page;
let session: CDPSession;
let faults: string[];
const posts: string[] = [];

beforeAll(async () => {
  own = await startConsoleApi({ ALLOW_RESERVED_NAMES: 'on' });
  await own.makePerson(ANN);
  browser = await openBrowser();
  ({ page, faults } = await openPage(browser, own.api.url, { mayFail: true }));
  await page.addInitScript(NOTE_BUSY);
  page.on('request', (request) => {
    if (request.method() !== 'GET') posts.push(new URL(request.url()).pathname);
  });
  session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', SLOW);
});

afterAll(async () => {
  await browser?.close();
  await own?.stop();
});

const busy = () => page.evaluate<string[]>('busy.splice(0)');
const button = (name: string | RegExp) => page.getByRole('button', { name });
/** What was written since, without the dry runs of what is being typed. */
const written = () => posts.splice(0).filter((path) => !path.endsWith('/validate'));

it('signs in', async () => {
  await page.goto('/console/', { waitUntil: 'commit' });
  await page.getByLabel('Email').fill(ANN);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByLabel('Password').press('Enter');
  await page.getByLabel('Password').press('Enter');
  await button('Add a domain').first().waitFor();
  expect(await busy()).toEqual(['Sign in']);
  expect(written()).toEqual(['/auth/login']);
});

it('adds a domain', async () => {
  await button('Add a domain').first().click();
  const name = page.getByRole('dialog').getByLabel('Name', { exact: false }).first();
  await name.fill(NAME);
  await name.press('Enter');
  await name.press('Enter');
  expect(await name.inputValue()).toBe(NAME);
  await page.getByRole('heading', { name: NAME }).waitFor();
  expect(await busy()).toHaveLength(1);
  expect(written()).toEqual(['/domains/']);
});

it('saves an edited record, also after the network was away', async () => {
  const made = await page.context().request.post(`/domains/${NAME}/records/`, {
    data: { name: 'www', type: 'A', destination: '192.0.2.25' },
    headers: { origin: own.api.url },
  });
  expect(made.status()).toBe(200);
  await page.getByRole('link', { name: 'Records', exact: true }).click();
  await page.getByRole('gridcell', { name: '192.0.2.25' }).click();
  await page.getByLabel('IPv4 address').fill('192.0.2.99');
  await button('Done').click();
  await button(/^Review and save/).click();
  const review = page.getByRole('dialog');
  await review.getByText('192.0.2.99').first().waitFor();
  await session.send('Network.emulateNetworkConditions', { ...SLOW, offline: true });
  await busy();
  await review.getByRole('button', { name: SAVE }).click();
  await review.getByRole('alert').waitFor();
  expect(await busy()).toContainEqual(expect.stringMatching(SAVE));
  expect(await own.api.ask('GET', `/domains/${NAME}/records/?search=www`)).toMatchObject({
    body: [{ destination: '192.0.2.25' }],
  });

  await session.send('Network.emulateNetworkConditions', SLOW);
  await page.reload({ waitUntil: 'commit' });
  await page.getByRole('gridcell', { name: '192.0.2.99' }).waitFor();
  written();
  await button(/^Review and save/).click();
  await review.getByRole('button', { name: SAVE }).click();
  await review.waitFor({ state: 'hidden' });
  expect(await busy()).toContainEqual(expect.stringMatching(SAVE));
  const { body } = await own.api.ask('GET', `/domains/${NAME}/records/?search=www`);
  expect(body).toMatchObject([{ name: 'www', destination: '192.0.2.99' }]);
  expect(faults).toEqual([]);
});
