// Debian's Chromium, driven by playwright-core. What a page must never do is noted: errors on the console, reports of its
// policy, requests to elsewhere.

import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';

/** Debian's Chromium. */
export const CHROMIUM = '/usr/bin/chromium';

/** Nothing of it asks the network by itself; root needs to do without the sandbox. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Runs in the page: a report of the policy becomes an error on its console. */
const TELL_POLICY = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI);
});`;

/** `more`: arguments of Chromium. */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  return await chromium.launch({ executablePath: CHROMIUM, args: [...ARGUMENTS, ...more] });
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What went wrong in it, in words. */
  readonly faults: string[];
}

/** `mayFail`: whether answers of the API other than 2xx are part of the test; the browser tells them on the console. */
export async function openPage(
  browser: Browser,
  baseURL: string,
  { mayFail = false, ...options }: BrowserContextOptions & { mayFail?: boolean } = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({ baseURL, locale: 'en-GB', timezoneId: 'UTC', ...options });
  const faults: string[] = [];
  const page = await context.newPage();
  page.on('console', (message) => {
    const isOfAnswer = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !(mayFail && isOfAnswer)) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (/^https?:$/.test(protocol) && origin !== new URL(baseURL).origin)
      faults.push(`elsewhere: ${request.url()}`);
  });
  await page.addInitScript(TELL_POLICY);
  return { page, context, faults };
}
