// Every screen with the data and the hour of the kept answers: the main ones look like their kept pictures, and all of them
// have no fault of layout, at 360, 1280 and 1920 px, light and dark.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../../support/browser/browser.ts';
import { builtConsole } from '../../support/browser/built-console.ts';
import { PICTURES, readKept } from '../../support/pictures/kept-answers.ts';
import { LAYOUT_FAULTS } from '../../support/pictures/layout-faults.ts';
import {
  differenceOf,
  isSame,
  majorOf,
  openKept,
  openScreen,
  takePicture,
} from '../../support/pictures/picture.ts';
import { NARROW, nameOf, SCREENS, SHOWN, VARIANTS } from '../../support/pictures/screens.ts';

/** Where pictures that differ are left to be looked at. */
const DIFFERENT = join(tmpdir(), `zonefleet-pictures-${process.getuid?.()}`);
const FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf';

const kept = readKept();
let browser: Browser;
let folder: string;
let isCompared: boolean;

beforeAll(async () => {
  folder = await builtConsole();
  browser = await openBrowser();
  isCompared = majorOf(browser) === kept.chromium && existsSync(FONT);
  if (!isCompared)
    console.warn(
      `layout checks only: the kept pictures are of Chromium ${kept.chromium} with fonts-dejavu-core, here is ${majorOf(browser)}`,
    );
});

afterAll(() => browser?.close());

describe.each(VARIANTS)('$viewport.width px, $colorScheme', (variant) => {
  it('has no fault of layout, and looks as it did', async () => {
    const { context, page, faults } = await openKept(browser, kept, folder, variant);
    const found: unknown[] = [];
    for (const screen of SCREENS) {
      await openScreen(page, screen);
      const layout = await page.evaluate<string[]>(LAYOUT_FAULTS);
      if (layout.length > 0) found.push([screen.name, ...layout]);
      if (screen.isMain !== true || !isCompared) continue;
      const name = `${nameOf(screen, variant)}.png`;
      const before = readFileSync(join(PICTURES, name));
      const now = await takePicture(page);
      if (isSame(before, now)) continue;
      mkdirSync(DIFFERENT, { recursive: true });
      writeFileSync(join(DIFFERENT, name), now);
      found.push(`${name}: ${(100 * differenceOf(before, now)).toFixed(2)} % differs: see ${DIFFERENT}`);
    }
    expect([...found, ...faults]).toEqual([]);
    await context.close();
  });
});

describe('what finds faults', () => {
  it('finds each kind', async () => {
    const { context, page } = await openKept(browser, kept, folder, NARROW);
    await openScreen(page, SCREENS[0]);
    expect(await page.evaluate<string[]>(LAYOUT_FAULTS)).toEqual([]);
    await page.evaluate(`{
      const add = (text, css) => {
        const button = document.createElement('button');
        button.textContent = text;
        Object.assign(button.style, css);
        document.querySelector('main').append(button);
      };
      add('wide', { display: 'block', width: '500px' });
      add('first', { position: 'absolute', top: '300px', left: '20px', width: '90px' });
      add('second', { position: 'absolute', top: '305px', left: '40px', width: '90px' });
      add('cut off at its end', { display: 'block', width: '40px', height: '1em', overflow: 'hidden', whiteSpace: 'nowrap' });
    }`);
    const faults = await page.evaluate<string[]>(LAYOUT_FAULTS);
    for (const kind of ['is wider than', 'lies over', 'is cut off'])
      expect(faults.some((fault) => fault.includes(kind))).toBe(true);
    await context.close();
  });

  it('sees a word in another colour, and no difference in what is the same', async () => {
    const { context, page } = await openKept(browser, kept, folder, SHOWN);
    await openScreen(page, SCREENS[0]);
    const before = await takePicture(page);
    expect(differenceOf(before, await takePicture(page))).toBe(0);
    await page.locator('h1').evaluate((heading: { style: { color: string } }) => {
      heading.style.color = 'rgb(200, 0, 0)';
    });
    expect(isSame(before, await takePicture(page))).toBe(false);
    await context.close();
  });
});
