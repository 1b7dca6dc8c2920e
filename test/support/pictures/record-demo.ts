// Signs in to a running demo, adds what a new account lacks, and records the API's responses for each screen.

import type { Browser, BrowserContext } from 'playwright-core';
import { openPage } from '../browser/browser.ts';
import { type KeptAnswers, recordAnswers, serveConsole } from './kept-answers.ts';
import { openScreen } from './picture.ts';
import { SCREENS } from './screens.ts';

/** `link` is printed by `npm start -- --demo`, and works once. */
export async function recordDemo(
  browser: Browser,
  link: string,
  folder: string,
): Promise<Omit<KeptAnswers, 'chromium'>> {
  const { origin, pathname, hash } = new URL(link);
  const { page, context } = await openPage(browser, origin, { mayFail: true });
  await serveConsole(context, folder); // the current version, regardless of the demo's build
  await page.goto(pathname + hash);
  await page.getByRole('button', { name: 'Sign in with this link' }).click();
  await page.getByRole('heading', { name: 'Domains', exact: true }).waitFor();
  await furnish(context, origin);
  const recording = recordAnswers(context);
  for (const screen of SCREENS) await openScreen(page, screen);
  const answers = Object.fromEntries(await recording.settle());
  await context.close();
  return { now: new Date().toISOString(), answers };
}

/** Existing objects may be rejected, since a demo can be recorded twice. */
async function furnish({ request }: BrowserContext, origin: string): Promise<void> {
  const ask = (method: string, path: string, data: object) =>
    request.fetch(path, { method, data, headers: { origin } });
  await ask('PUT', '/users/me/password', { password: 'a password of the demo' });
  await ask('POST', '/users/me/keys', { name: 'deploy' });
  await ask('POST', '/users/me/keys', { name: 'certificates', expires_in_days: 90 });
  await ask('POST', '/tickets', { subject: 'A second nameserver set', message: 'How do we get one?' });
  await ask('POST', '/domains/orchid.test/invites', { email: 'friend@orchid.test', role: 'editor' });
}
