// What is copied out of a table: the rows that are shown, and no formula.

import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowser } from '../../support/browser/browser.ts';
import { type ConsoleApi, startConsoleApi } from '../../support/browser/console-api.ts';
import { newDomain } from '../../support/database/domains.ts';

const NAME = 'ann.example';
const ANN = 'ann@shop.example';

let own: ConsoleApi;
let browser: Browser;

beforeAll(async () => {
  own = await startConsoleApi();
  await newDomain(own.database.db, await own.makePerson(ANN), `${NAME}.`);
  browser = await openBrowser();
});

afterAll(async () => {
  await browser?.close();
  await own?.stop();
});

it('are the records that the filter shows, with their comments', async () => {
  const { page, context } = await own.openAs(browser, ANN);
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: own.api.url });
  const answer = await context.request.put(`/domains/${NAME}/records/batch`, {
    headers: { origin: own.api.url },
    data: {
      create: [
        { name: 'www', type: 'A', destination: '192.0.2.1', comment: '=cmd()' },
        { name: '@', type: 'MX', destination: 'mail.example.net', mx_priority: 7 },
        { name: 'other', type: 'TXT', destination: 'left out' },
      ],
    },
  });
  expect(answer.status()).toBe(200);
  const copied = async (search: string) => {
    await page.goto(`/console/domains/${NAME}/records?q=${search}`);
    await page.getByRole('button', { name: 'Copy the table' }).click();
    await page.getByText(/rows? copied/).waitFor();
    const [head, ...rows] = (await page.evaluate('navigator.clipboard.readText()').then(String)).split('\n');
    expect(head).toBe('Name\tType\tValue\tComment\tTTL\tEdge');
    return rows.map((row) => row.split('\t').slice(0, 4));
  };
  expect(await copied('192.0.2.1')).toEqual([['www', 'A', '192.0.2.1', "'=cmd()"]]);
  expect(await copied('mail')).toEqual([["'@", 'MX', '7 mail.example.net', '']]);
  await context.close();
});
