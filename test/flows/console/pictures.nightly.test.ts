// Every screen with the data and time of the stored responses: the main ones match their stored pictures, and none
// has a layout fault, at 390, 820 and 1440 px, light and dark.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openBrowser } from '../../support/browser/browser.ts';
import { builtConsole } from '../../support/browser/built-console.ts';
import { PICTURES, readKept } from '../../support/pictures/kept-answers.ts';
import {
  differenceOf,
  isSame,
  majorOf,
  openKept,
  openScreen,
  takePicture,
} from '../../support/pictures/picture.ts';
import { nameOf, SCREENS, VARIANTS } from '../../support/pictures/screens.ts';

// Runs in a page: describes faults of its layout. Scrollable areas may be wider than the page, and text that ends in an
// ellipsis is truncated on purpose.

const LAYOUT_FAULTS = `(() => {
  const faults = [];
  const root = document.documentElement;
  const describe = (element) => {
    const text = element.getAttribute('aria-label') ?? element.textContent.trim();
    return element.tagName.toLowerCase() + ' "' + text.slice(0, 40) + '"';
  };
  const styleOf = (element) => getComputedStyle(element);
  const isShown = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 1 && height > 1 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
      element.closest('.only-read, .skip') === null;
  };
  if (root.scrollWidth > root.clientWidth)
    faults.push('the page is wider than the window: ' + root.scrollWidth + ' px of ' + root.clientWidth);

  const controls = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter(isShown);
  const layerOf = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      if (['fixed', 'sticky'].includes(styleOf(at).position) || at.popover) return at;
    }
    return null;
  };
  const boxes = controls.map((element) => ({ element, layer: layerOf(element), box: visibleBox(element) }));
  for (const [i, a] of boxes.entries()) {
    for (const b of boxes.slice(i + 1)) {
      if (a.layer !== b.layer || a.element.contains(b.element) || b.element.contains(a.element)) continue;
      const width = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const height = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (width > 2 && height > 2) faults.push(describe(a.element) + ' lies over ' + describe(b.element));
    }
  }
  /** Returns the part that remains visible inside the surrounding scrollable areas. */
  function visibleBox(element) {
    let { left, right, top, bottom } = element.getBoundingClientRect();
    for (let at = element.parentElement; at !== null && at !== document.body; at = at.parentElement) {
      if (styleOf(at).overflowX === 'visible') continue;
      const box = at.getBoundingClientRect();
      left = Math.max(left, box.left);
      right = Math.min(right, box.right);
      top = Math.max(top, box.top);
      bottom = Math.min(bottom, box.bottom);
    }
    return { left, right, top, bottom };
  }

  for (const element of document.querySelectorAll('body *')) {
    if (!isShown(element) || element.closest('svg, textarea, select') !== null) continue;
    const { overflowX, overflowY, textOverflow } = styleOf(element);
    const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
    if (!hasText || textOverflow === 'ellipsis') continue;
    const hides = (overflow) => overflow === 'hidden' || overflow === 'clip';
    if ((hides(overflowX) && element.scrollWidth > element.clientWidth + 1) ||
      (hides(overflowY) && element.scrollHeight > element.clientHeight + 1))
      faults.push(describe(element) + ' is cut off');
  }
  return faults;
})()`;

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
