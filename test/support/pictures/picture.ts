// Pictures of screens: taken when a screen is static, compared with a tolerance, and small enough for a repository.

import pixelmatch from 'pixelmatch';
import type { Browser, Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { openPage, type WatchedPage } from '../browser/browser.ts';
import { answerFrom, type KeptAnswers } from './kept-answers.ts';
import type { Screen, Variant } from './screens.ts';

/** There is no server: every request is answered before it leaves the browser. */
const ORIGIN = 'http://console.test';

/** Colour distance, 0 to 1: tolerance for antialiasing. */
const THRESHOLD = 0.1;
/** Fraction of all pixels. A word or a line of another colour is more. */
const MOST_DIFFERENT = 0.0005;

/** Plain areas and text are smallest without a filter. No alpha channel. */
const SMALL = { colorType: 2, filterType: 0, deflateLevel: 9, deflateStrategy: 0 } as const;

/** Opens the screen, and waits until nothing is loading. */
export async function openScreen(page: Page, { path }: Screen): Promise<void> {
  await page.goto(`/console/${path}`);
  await page.getByRole('main').waitFor();
  await page.waitForLoadState('networkidle');
  await page.getByText('Loading…').first().waitFor({ state: 'hidden' });
  await page.evaluate('document.fonts.ready.then(() => {})');
}

export async function takePicture(page: Page): Promise<Buffer> {
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' });
  return PNG.sync.write(PNG.sync.read(png), SMALL);
}

/** Returns the fraction of pixels that differ beyond the tolerance. Returns 1 if the sizes differ. */
export function differenceOf(kept: Buffer, made: Buffer): number {
  const [a, b] = [PNG.sync.read(kept), PNG.sync.read(made)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  return (
    pixelmatch(a.data, b.data, undefined, a.width, a.height, { threshold: THRESHOLD }) / (a.width * a.height)
  );
}

export function isSame(kept: Buffer, made: Buffer): boolean {
  return differenceOf(kept, made) <= MOST_DIFFERENT;
}

export function majorOf(browser: Browser): number {
  return Number.parseInt(browser.version(), 10);
}

/** Opens a page of the user for whom the responses were recorded. `faults` includes missing responses. */
export async function openKept(
  browser: Browser,
  kept: KeptAnswers,
  folder: string,
  variant: Variant,
): Promise<WatchedPage> {
  const watched = await openPage(browser, ORIGIN, { ...variant, mayFail: true, reducedMotion: 'reduce' });
  await answerFrom(watched.context, kept, folder, watched.faults);
  return watched;
}
