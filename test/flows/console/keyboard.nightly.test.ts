import { execFileSync } from 'node:child_process';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser, openPage } from '../../support/browser/browser.ts';
import { builtConsole } from '../../support/browser/built-console.ts';
import { FreshClone, type StartedClone } from '../../support/processes/fresh-clone.ts';
import { until } from '../../support/tests/until.ts';

// A keyboard user without a pointer, who moves between controls with Tab and always sees the focus.

/** More than any page has controls. */
const MOST_STEPS = 150;

interface Focused {
  readonly role: string;
  readonly name: string;
}

class Keyboard {
  readonly #page: Page;
  readonly #session: CDPSession;

  private constructor(page: Page, session: CDPSession) {
    this.#page = page;
    this.#session = session;
  }

  static async of(page: Page): Promise<Keyboard> {
    return new Keyboard(page, await page.context().newCDPSession(page));
  }

  /** Returns the focused element, by `document.activeElement`. */
  async focused(): Promise<Focused> {
    const { result } = await this.#session.send('Runtime.evaluate', { expression: 'document.activeElement' });
    const { nodes } = await this.#session.send('Accessibility.getPartialAXTree', {
      objectId: result.objectId as string,
      fetchRelatives: false,
    });
    return { role: nodes[0]?.role?.value ?? '', name: nodes[0]?.name?.value ?? '' };
  }

  /** Presses Tab until the control has the focus, and checks at each step that the focus is visible. */
  async tabTo(role: string, name: string | RegExp): Promise<void> {
    const passed: string[] = [];
    for (let step = 0; step < MOST_STEPS; step++) {
      await this.#page.keyboard.press('Tab');
      const at = await this.focused();
      passed.push(`${at.role} "${at.name}"`);
      expect([at, await this.#page.evaluate(IS_SEEN)]).toEqual([at, true]);
      if (at.role === role && (typeof name === 'string' ? at.name === name : name.test(at.name))) return;
    }
    throw new Error(`${role} ${name} is not reached; passed: ${passed.join(', ')}`);
  }

  async press(key: string): Promise<void> {
    await this.#page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.#page.keyboard.type(text);
  }

  /** Checks that a page element has the focus again after a dialog or the focused element disappeared. */
  async holdsFocus(): Promise<void> {
    await until(
      () => this.#page.evaluate<boolean>('document.activeElement !== document.body'),
      'something has the focus',
      10_000,
    );
  }
}

/** True for an outline or shadow inside the window. After the last control, the focus is in the browser's own frame. */
const IS_SEEN = `(() => {
  const element = document.activeElement;
  if (element === document.body) return true;
  const box = (element.closest('label') ?? element).getBoundingClientRect();
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  const isMarked = (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  const isInside = box.bottom > 0 && box.right > 0 && box.top < innerHeight && box.left < innerWidth;
  return isMarked && isInside && box.width > 1 && box.height > 1;
})()`;

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
    await page.getByRole('heading', { name: 'Enter these nameservers at your registrar' }).waitFor();
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
    await page.getByRole('button', { name: 'More' }).waitFor();
    await choose('button', 'More');
    await choose('link', 'Import…');
    await page.getByRole('heading', { name: 'Import a zone file' }).waitFor();
    await keys.tabTo('textbox', 'Or paste its text');
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
    await page.getByRole('button', { name: /^Revert… / }).waitFor();
    await choose('button', /^Revert… /);
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await keys.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await keys.focused()).toEqual({ role: 'button', name: expect.stringMatching(/^Revert… \d+$/) });
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
