// Debian's Chromium, driven by playwright-core. Forbidden events in a page are recorded: console errors, policy reports,
// and requests to other sites.

import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';

export const CHROMIUM = '/usr/bin/chromium';

/** Disables its own network requests, and the sandbox, which root cannot use. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Runs in the page: turns a policy report into a console error. */
const TELL_POLICY = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI);
});`;

/** `more`: additional arguments for Chromium. */
export async function openBrowser(more: readonly string[] = []): Promise<Browser> {
  return await chromium.launch({ executablePath: CHROMIUM, args: [...ARGUMENTS, ...more] });
}

export interface WatchedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  readonly faults: string[];
}

/** `mayFail`: the test expects API responses other than 2xx, which the browser logs on the console. */
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
