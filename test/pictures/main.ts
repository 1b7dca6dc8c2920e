// `npm run pictures`: makes the kept pictures of the console's screens, and those of docs/console, from the kept answers of
// the demo. `npm run pictures -- --record LINK` first keeps its answers anew; LINK is the sign-in link that
// `npm start -- --demo` has printed.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../support/browser/browser.ts';
import { builtConsole } from '../support/browser/built-console.ts';
import { type KeptAnswers, PICTURES, readKept, writeKept } from '../support/pictures/kept-answers.ts';
import { majorOf, openKept, openScreen, takePicture } from '../support/pictures/picture.ts';
import { recordDemo } from '../support/pictures/record-demo.ts';
import { nameOf, SCREENS, SHOWN, VARIANTS } from '../support/pictures/screens.ts';

const DOCS = resolve(import.meta.dirname, '../../docs/console');

const { values } = parseArgs({ options: { record: { type: 'string' } } });
mkdirSync(PICTURES, { recursive: true });
mkdirSync(DOCS, { recursive: true });
const folder = await builtConsole();
const browser = await openBrowser();
try {
  const chromium = majorOf(browser);
  const kept: KeptAnswers =
    values.record === undefined
      ? { ...readKept(), chromium }
      : { ...(await recordDemo(browser, values.record, folder)), chromium };
  writeKept(kept);
  await makePictures(browser, kept);
} finally {
  await browser.close();
}

async function makePictures(browser: Browser, kept: KeptAnswers): Promise<void> {
  for (const folder of [PICTURES, DOCS])
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.png')))
      rmSync(join(folder, file));
  const main = SCREENS.filter(({ isMain }) => isMain === true);
  for (const variant of VARIANTS) {
    const { context, page, faults } = await openKept(browser, kept, folder, variant);
    for (const screen of main) {
      await openScreen(page, screen);
      const picture = await takePicture(page);
      writeFileSync(join(PICTURES, `${nameOf(screen, variant)}.png`), picture);
      if (nameOf(screen, variant) === nameOf(screen, SHOWN))
        writeFileSync(join(DOCS, `${screen.name}.png`), picture);
    }
    await context.close();
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }
  process.stdout.write(`${main.length} screens, ${VARIANTS.length} pictures of each\n`);
}
