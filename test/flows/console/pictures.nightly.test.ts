// Every screen with the data and time of the stored responses: the main ones match their stored pictures, and none
// has a layout fault, at 360, 1280 and 1920 px, light and dark.

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
import { nameOf, SCREENS, VARIANTS } from '../../support/pictures/screens.ts';

/** Directory for pictures that differ. */
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
      `layout checks only: the stored pictures are from Chromium ${kept.chromium} with fonts-dejavu-core, but this is ${majorOf(browser)}`,
    );
});

afterAll(() => browser?.close());

describe.each(VARIANTS)('$viewport.width px, $colorScheme', (variant) => {
  it('has no layout fault, and matches its picture', async () => {
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
