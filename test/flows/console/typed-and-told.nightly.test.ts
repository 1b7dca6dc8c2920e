// Input is not lost and not shown to other accounts, and failures are reported: with a browser that stores nothing, two tabs, two
// accounts one after the other, truncated responses, a session that ends, a wrong clock, and a screen whose own code fails.

import { sql } from 'kysely';
import type { Page, Route } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import type { WatchedPage } from '../../support/browser/browser.ts';
import { ownConsole, PASSWORD } from '../../support/browser/console-api.ts';
import { newDomain } from '../../support/database/domains.ts';

const NAME = 'ann.example';
const ANN = 'ann@shop.example';
const BOB = 'bob@shop.example';
const FAILED = 'This part of the page failed to load.';

const own = ownConsole();
let bob: number;

beforeAll(async () => {
  const ann = await own.makePerson(ANN);
  bob = await own.makePerson(BOB);
  await newDomain(own.database.db, ann, `${NAME}.`);
});

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

const openAs = (email: string) => own.openAs(email, { mayFail: true });
const isPost = (route: Route) => route.request().method() === 'POST';

it('a browser without storage shows the console and signs out without an error', async () => {
  const { page, faults } = await openAs(ANN);
  await page.addInitScript(() => {
    Object.defineProperty(globalThis, 'localStorage', {
      get: () => {
        throw new DOMException('denied', 'SecurityError');
      },
    });
  });
  await page.goto('/console/tickets/new');
  await page.getByLabel('Subject').fill('Hello');
  await page.getByRole('button', { name: /dark|light/i }).click();
  expect(await page.getByLabel('Subject').inputValue()).toBe('Hello');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('Email').waitFor();
  expect(faults).toEqual([]);
});

describe('drafts', () => {
  it('of two tabs are shared, and no tab overwrites what is typed in the other', async () => {
    const { context, page } = await openAs(ANN);
    const other = await context.newPage();
    const path = `/console/domains/${NAME}/records`;
    for (const each of [page, other]) {
      await each.goto(path);
      await each.getByRole('button', { name: 'Add a record' }).click();
    }
    await page.getByRole('textbox', { name: 'Name' }).fill('one');
    await other.getByText('one', { exact: true }).first().waitFor();
    await other.getByRole('textbox', { name: 'Name' }).first().fill('two');
    await page.getByText('two', { exact: true }).first().waitFor();
    await page.reload();
    for (const name of ['one', 'two']) await page.getByText(name, { exact: true }).first().waitFor();
  });

  it('are kept for the same account after the session ended, and hidden from others', async () => {
    const { context, page } = await openAs(ANN);
    await page.goto('/console/tickets/new');
    await page.getByLabel('Subject').fill('My trouble');
    await context.clearCookies();
    await page.getByLabel('Message').fill('It is so');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Your session has ended').waitFor();
    await signIn(page, ANN);
    expect(await page.getByLabel('Subject').inputValue()).toBe('My trouble');
    await context.clearCookies();
    await page.reload();
    await signIn(page, BOB);
    expect(await page.getByLabel('Subject').inputValue()).toBe('');
  });
});

describe('a failure is reported', () => {
  it('if a response is truncated, and the request is repeated', async () => {
    const { context, page, faults } = await openAs(ANN);
    let broken = 0;
    await context.route('**/users/me', (route) => {
      broken++;
      if (broken === 1) return route.fulfill({ contentType: 'application/json', body: '{"email":"an' });
      if (broken === 2) return route.fulfill({ contentType: 'application/json', body: '' });
      return route.fallback();
    });
    await page.goto('/console/account');
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await context.route('**/users/me/sessions*', (route) =>
      route.fulfill({ contentType: 'application/json', body: '[{"id":' }),
    );
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByText('The connection was lost before the response was complete.').waitFor();
    expect(faults).toEqual([]);
  });

  it('if the draft cannot be checked, which is repeated as soon as possible', async () => {
    const { context, page } = await openAs(ANN);
    await context.route('**/records/batch*', (route) => route.abort());
    await page.goto(`/console/domains/${NAME}/records`);
    await page.getByRole('button', { name: 'Add a record' }).click();
    await page.getByRole('textbox', { name: 'Name' }).first().fill('judged');
    await page.getByRole('textbox', { name: 'IPv4 address' }).first().fill('192.0.2.7');
    const bar = page.getByRole('region', { name: 'Unsaved changes' });
    await bar.getByText('The server did not respond.').waitFor();
    await context.unroute('**/records/batch*');
    await bar.getByText('The server did not respond.').waitFor({ state: 'hidden' });
  });
});

it('a write whose response was lost takes effect once, however often it is sent', async () => {
  const { context, page } = await openAs(BOB);
  await page.goto('/console/tickets/new');
  let sent = 0;
  await context.route('**/tickets', async (route) => {
    if (!isPost(route) || sent++ > 0) return route.fallback();
    await route.fetch();
    await route.abort();
  });
  await page.getByLabel('Subject').fill('Lost');
  await page.getByLabel('Message').fill('Where is it?');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('The server did not respond.').waitFor();
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('heading', { name: 'Lost' }).waitFor();
  const { rows } = await sql`select 1 from tickets where subject = 'Lost'`.execute(own.database.db);
  expect(rows).toHaveLength(1);
});

it('a clock that is wrong by a day does not change times of the server', async () => {
  const { page } = await openAs(ANN);
  await page.addInitScript(() => {
    const real = Date.now.bind(Date);
    Date.now = () => real() - 86_400_000;
  });
  await page.goto('/console/account/sessions');
  await page.locator('time').first().waitFor();
  const told = await page.locator('time').allInnerTexts();
  expect(told.filter((text) => /\bin\b|tomorrow|yesterday/.test(text))).toEqual([]);
});

async function openRecords(): Promise<WatchedPage> {
  const opened = await openAs(ANN);
  await opened.page.goto(`/console/domains/${NAME}/records/import`);
  await opened.page.getByRole('heading', { name: 'Import a zone file' }).waitFor();
  return opened;
}

describe('a screen', () => {
  it('with failing code reports this, while other screens work and input is kept', async () => {
    const { context, page, faults } = await openRecords();
    await page.getByRole('textbox').fill('shop 300 IN A 192.0.2.77');
    // No response has this form, so its reader throws.
    const changes = `**/domains/${NAME}/changes?*`;
    await context.route(changes, (route) => route.fulfill({ json: [null] }));
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.getByRole('main').getByRole('alert').getByText(FAILED).waitFor();
    await page.getByRole('link', { name: 'Records', exact: true }).click();
    await page.getByText(FAILED).waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('link', { name: 'Import…' }).click();
    await page.getByRole('heading', { name: 'Import a zone file' }).waitFor();
    expect(await page.getByRole('textbox').inputValue()).toContain('192.0.2.77');
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.getByText(FAILED).waitFor();
    await context.unroute(changes);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText(FAILED).waitFor({ state: 'hidden' });
    expect(faults.filter((fault) => fault.startsWith('error:'))).toEqual([]); // caught, and logged to the console
    expect(faults.some((fault) => fault.startsWith('console:'))).toBe(true);
  });

  it('whose file could not be loaded is loaded on retry', async () => {
    const { context, page } = await openRecords();
    await context.route(/assets\/history-screen/, (route) => route.abort());
    await page.getByRole('link', { name: 'History', exact: true }).click();
    await page.getByText(FAILED).waitFor();
    await context.unroute(/assets\/history-screen/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('button', { name: 'Refresh' }).waitFor();
    expect(await page.getByText(FAILED).count()).toBe(0);
  });
});

describe('a warning', () => {
  const WARNED = '1 warning: this is probably not what you want';

  it('of a missing final dot is shown before the import, and the text can be read with dots added', async () => {
    const { page, faults } = await openRecords();
    await page.getByRole('textbox').fill('www 300 IN CNAME shop.example.net');
    await page.getByRole('button', { name: 'Read the file' }).click();
    await page.getByText(WARNED).waitFor();
    await page.getByText(/^Line 1: www CNAME: "shop\.example\.net" has no final dot/).waitFor();
    await page.getByText(`shop.example.net.${NAME}`, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Treat names without a final dot as full names' }).click();
    await page.getByText('shop.example.net', { exact: true }).waitFor();
    expect(await page.getByText(WARNED).count()).toBe(0);
    expect(await page.getByRole('checkbox').isChecked()).toBe(true);
    expect(faults).toEqual([]);
  });

  it('is not shown for a text that was read again with dots added while the first reading was slow', async () => {
    const { context, page } = await openRecords();
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await context.route('**/records/import/parse', async (route) => {
      await held;
      await route.fallback();
    });
    await page.getByRole('textbox').fill('www 300 IN CNAME shop.example.net');
    await page.getByRole('button', { name: 'Read the file' }).click();
    await page.getByRole('checkbox').check();
    release();
    await page.getByText('shop.example.net', { exact: true }).waitFor();
    expect(await page.getByText(WARNED).count()).toBe(0);
  });

  it('of an edited record is shown in the review and once more after the save', async () => {
    const { page, faults } = await openAs(BOB);
    await newDomain(own.database.db, bob, 'bob.example.');
    await page.goto('/console/domains/bob.example/records');
    await page.getByRole('button', { name: 'Add a record' }).click();
    await page.getByRole('combobox', { name: 'Type' }).last().selectOption('MX');
    await page.getByRole('textbox', { name: 'Full name of the mail server' }).fill('mail.bob.example');
    await page.getByLabel('Priority').fill('10');
    await page.getByRole('button', { name: /^Review and save/ }).click();
    const review = page.getByRole('dialog');
    await review.getByText(WARNED).waitFor();
    await review.getByRole('button', { name: /^Save/ }).click();
    await review.waitFor({ state: 'detached' });
    await page.getByText(WARNED).waitFor();
    await page.reload();
    await page.getByRole('gridcell', { name: /mail\.bob\.example/ }).waitFor();
    expect(await page.getByText(WARNED).count()).toBe(0);
    expect(faults).toEqual([]);
  });
});

it('an unknown address is reported, whatever its name is', async () => {
  for (const place of ['nowhere', 'constructor']) {
    const { page, faults } = await openAs(ANN);
    await page.goto(`/console/${place}`);
    await page.getByRole('main').getByText('Page not found').waitFor();
    expect([place, faults]).toEqual([place, []]);
  }
});
