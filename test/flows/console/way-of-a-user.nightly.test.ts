// The way of a new user in one go, on the demo's private internet: sign in, see what to enter at the registrar, enter it there,
// see the domain become active by itself, import a zone file, edit, see it in `dig`, take it back, share, sign out.

import { execFileSync } from 'node:child_process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, openPage } from '../../support/browser/browser.ts';
import { builtConsole } from '../../support/browser/built-console.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { FreshClone, type StartedClone } from '../../support/processes/fresh-clone.ts';
import { until } from '../../support/tests/until.ts';

const NAME = 'meadow.test';
const PATIENCE_MS = 180_000;

let clone: FreshClone;
let started: StartedClone;
let browser: Browser;
let page: Page;
let faults: string[];
let dnsPort: number;

beforeAll(async () => {
  const ports = [await freePort(), await freePort(), await freePort(2)] as const;
  dnsPort = ports[0];
  clone = new FreshClone({ user: {}, ports, installed: true });
  const settings = { CONSOLE: 'on', CONSOLE_FILES: await builtConsole(), ROOT_HINTS: '' };
  started = clone.start(settings, ['--demo']);
  await started.ready();
  browser = await openBrowser();
  // The account has no session at first, analytics are off, and a wrong draft is refused: the browser tells each on its console.
  const opened = await openPage(browser, `http://${clone.environment.API_LISTEN}`, { mayFail: true });
  ({ page, faults } = opened);
  page.setDefaultTimeout(PATIENCE_MS / 2);
});

afterAll(async () => {
  await browser?.close();
  started?.npm.kill('SIGTERM');
  await started?.ended;
  await clone?.remove();
});

const printed = (pattern: RegExp) => pattern.exec(started.output)?.[1] ?? '';
const button = (name: string | RegExp) => page.getByRole('button', { name });
const dig = (name: string) =>
  execFileSync('dig', ['@127.0.0.1', '-p', String(dnsPort), name, 'A', '+short', '+tries=1', '+timeout=60'], {
    encoding: 'utf8',
  }).trim();

async function answers(name: string, address: string): Promise<void> {
  await until(() => dig(name) === address, `${name} is answered with "${address}"`, PATIENCE_MS);
}

describe('a new user', () => {
  it('signs in with the printed link, and finds a domain with what to do', async () => {
    await page.goto(printed(/^ {2}sign in {3}(\S+)/m).replace(/^https?:\/\/[^/]+/, ''));
    await button('Sign in with this link').click();
    await page.getByRole('link', { name: NAME }).click();
    await page.getByRole('heading', { name: 'Enter this at your registrar' }).waitFor();
    for (const server of ['ns1', 'ns2'])
      await page.getByText(`${server}.zonefleet.example`, { exact: true }).first().waitFor();
  });

  it('enters the nameservers at the registrar, and the page turns live by itself', async () => {
    const registrar = await page.context().newPage();
    await registrar.goto(printed(/^ {2}registrar (http:\S+)/m));
    const form = registrar.locator(`form[id="${NAME}"]`);
    await form.getByRole('textbox').fill('ns1.zonefleet.example\nns2.zonefleet.example');
    await form.getByRole('button', { name: 'Save' }).click();
    await registrar.close();
    await page.getByText(`${NAME} is live`).waitFor({ timeout: PATIENCE_MS });
  });

  it('imports a zone file, seen before it is saved', async () => {
    await page.getByRole('link', { name: 'Records', exact: true }).click();
    await page.getByRole('link', { name: 'Import…' }).click();
    await page.getByRole('textbox').fill('shop 300 IN A 192.0.2.77\nmail 300 IN A 192.0.2.78\n');
    await button('Read it').click();
    await button('Import: 2 changes').click();
    await answers(`shop.${NAME}`, '192.0.2.77');
  });

  it('edits a record: what is typed survives a reload, and is confirmed as a diff', async () => {
    await page.goto(`/console/domains/${NAME}/records`);
    await page.getByRole('gridcell', { name: '192.0.2.77' }).click();
    await page.getByLabel('IPv4 address').fill('192.0.2.99');
    await button('Done').click();
    await page.reload();
    await button(/^Review and save/).click();
    const review = page.getByRole('dialog');
    await review.getByText('192.0.2.99').first().waitFor();
    expect(dig(`shop.${NAME}`)).toBe('192.0.2.77');
    await review.getByRole('button', { name: /^Save/ }).click();
    await answers(`shop.${NAME}`, '192.0.2.99');
  });

  it('takes the change back', async () => {
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page
      .getByRole('link', { name: /^Change \d+/ })
      .first()
      .click();
    await button('Take it back…').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take it back', exact: true }).click();
    await answers(`shop.${NAME}`, '192.0.2.77');
  });

  it('shares the domain, and signs out', async () => {
    await page.getByRole('link', { name: 'Sharing', exact: true }).click();
    await page.getByLabel('Email').fill('friend@shop.example');
    await button('Invite').click();
    await page.getByText('friend@shop.example is invited').waitFor();
    await button('Sign out').click();
    await page.getByLabel('Password').waitFor();
    expect(faults).toEqual([]);
  });
});
