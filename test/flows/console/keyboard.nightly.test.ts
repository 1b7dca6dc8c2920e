import { execFileSync } from 'node:child_process';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, openPage } from '../../support/browser/browser.ts';
import { builtConsole } from '../../support/browser/built-console.ts';
import { Keyboard } from '../../support/browser/keyboard.ts';
import { FreshClone, type StartedClone } from '../../support/processes/fresh-clone.ts';
import { until } from '../../support/tests/until.ts';

const NAME = 'meadow.test';
const PATIENCE_MS = 180_000;

let clone: FreshClone;
let started: StartedClone;
let browser: Browser;
let page: Page;
let keys: Keyboard;
let faults: string[];

beforeAll(async () => {
  clone = await FreshClone.make();
  started = clone.start({ CONSOLE: 'on', CONSOLE_FILES: await builtConsole(), ROOT_HINTS: '' }, ['--demo']);
  await started.ready();
  browser = await openBrowser();
  // The account has no session at first, and analytics are off. The browser logs both to its console.
  const opened = await openPage(browser, `http://${clone.environment.API_LISTEN}`, { mayFail: true });
  ({ page, faults } = opened);
  page.setDefaultTimeout(PATIENCE_MS / 2);
  keys = await Keyboard.of(page);
});

afterAll(async () => {
  await browser?.close();
  started?.npm.kill('SIGTERM');
  await started?.ended;
  await clone?.remove();
});

const printed = (pattern: RegExp) => pattern.exec(started.output)?.[1] ?? '';
const dig = (name: string) =>
  execFileSync('dig', ['@127.0.0.1', '-p', clone.dnsPort, name, 'A', '+short', '+tries=1', '+timeout=60'], {
    encoding: 'utf8',
  }).trim();
const answers = (name: string, address: string) =>
  until(() => dig(name) === address, `${name} is answered with "${address}"`, PATIENCE_MS);

async function choose(role: string, name: string | RegExp): Promise<void> {
  await keys.tabTo(role, name);
  await keys.press('Enter');
}

describe('a new user with only a keyboard', () => {
  it('signs in, and finds the data for the registrar', async () => {
    await page.goto(printed(/^ {2}sign in {3}(\S+)/m).replace(/^https?:\/\/[^/]+/, ''));
    await page.getByRole('button', { name: 'Sign in with this link' }).waitFor();
    await choose('button', 'Sign in with this link');
    await page.getByRole('link', { name: NAME }).waitFor();
    await choose('link', NAME);
    await page.getByRole('heading', { name: 'Enter this at your registrar' }).waitFor();
    await keys.tabTo('button', 'Copy ns1.zonefleet.example');
    await fetch(`${printed(/^ {2}registrar (http:\S+)/m)}/names/${NAME}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ nameservers: ['ns1.zonefleet.example', 'ns2.zonefleet.example'] }),
    });
    await page.getByText(`${NAME} is live`).waitFor({ timeout: PATIENCE_MS });
  });

  it('imports a zone file', async () => {
    await choose('link', 'Records');
    await page.getByRole('link', { name: 'Import…' }).waitFor();
    await choose('link', 'Import…');
    await page.getByRole('textbox').waitFor();
    await keys.tabTo('textbox', /./);
    await keys.type('shop 300 IN A 192.0.2.77\nmail 300 IN A 192.0.2.78\nblog 300 IN CNAME web.host.net\n');
    await choose('button', 'Read the file');
    await page.getByText('1 warning: this is probably not what you want').waitFor();
    await keys.tabTo('checkbox', /^Treat names without a final dot/);
    await keys.press('Space');
    await page.getByText('1 warning: this is probably not what you want').waitFor({ state: 'hidden' });
    await choose('button', 'Import 3 changes');
    await answers(`shop.${NAME}`, '192.0.2.77');
    await keys.holdsFocus();
  });

  it('edits a record in the table with the arrow keys, and confirms the diff', async () => {
    await choose('link', 'Records');
    await page.getByRole('gridcell', { name: '192.0.2.77' }).waitFor();
    await keys.tabTo('row', /./);
    await keys.press('Home');
    for (let step = 0; !(await keys.focused()).name.includes('192.0.2.77'); step++) {
      expect(step).toBeLessThan(20);
      await keys.press('ArrowDown');
    }
    await keys.press('Enter');
    await keys.tabTo('textbox', 'IPv4 address');
    await keys.press('Control+A');
    await keys.type('192.0.2.99');
    await choose('button', 'Done');
    expect((await keys.focused()).role).toBe('row');
    await choose('button', /^Review and save/);
    const review = page.getByRole('dialog');
    await review.getByText('192.0.2.99').first().waitFor();
    await choose('button', /^Save/);
    await answers(`shop.${NAME}`, '192.0.2.99');
    await review.waitFor({ state: 'detached' });
    await keys.holdsFocus();
  });

  it('reverts the change', async () => {
    await choose('link', 'History');
    await page
      .getByRole('link', { name: /^Change \d+/ })
      .first()
      .waitFor();
    await choose('link', /^Change \d+/);
    await page.getByRole('button', { name: 'Revert…' }).waitFor();
    await choose('button', 'Revert…');
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await keys.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await keys.focused()).toEqual({ role: 'button', name: 'Revert…' });
    await keys.press('Enter');
    await dialog.getByRole('button', { name: 'Revert', exact: true }).waitFor();
    await choose('button', 'Revert');
    await answers(`shop.${NAME}`, '192.0.2.77');
    await dialog.waitFor({ state: 'detached' });
    await keys.holdsFocus();
  });

  it('shares the domain, and signs out', async () => {
    await choose('link', 'Sharing');
    await page.getByLabel('Email').waitFor();
    await keys.tabTo('textbox', 'Email');
    await keys.type('friend@shop.example');
    await keys.press('Enter');
    await page.getByText('friend@shop.example was invited').waitFor();
    await keys.holdsFocus();
    await choose('button', 'Sign out');
    await page.getByLabel('Password').waitFor();
    expect(faults).toEqual([]);
  });
});
