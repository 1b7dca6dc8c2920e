// The board of the queues in a browser: it opens from the console, shows what waits, and can neither be framed nor ask
// another host for anything.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { JobQueue } from '../../../src/queue/job-queue.ts';
import { backgroundChecks, CHECK_DELEGATION } from '../../../src/queue/jobs.ts';
import { openBrowser } from '../../support/browser/browser.ts';
import { type ConsoleApi, startConsoleApi } from '../../support/browser/console-api.ts';

const ADMIN = 'admin@shop.example';

let own: ConsoleApi;
let browser: Browser;
let jobId: string;

beforeAll(async () => {
  own = await startConsoleApi();
  await own.makePerson(ADMIN, { isAdmin: true });
  await own.makePerson('ann@shop.example');
  browser = await openBrowser();
  const queue = new JobQueue({ databaseUrl: own.database.url, redisUrl: undefined }, CHECK_DELEGATION);
  try {
    await queue.enqueue(backgroundChecks([4711]));
    const [job] = await queue.queue.getJobs(['prioritized']);
    jobId = String(job?.id);
  } finally {
    await queue.close();
  }
});

afterAll(async () => {
  await browser?.close();
  await own?.stop();
});

it.each([
  'light',
  'dark',
] as const)('opens from the operator’s queues and shows each job, in %s colours', async (colorScheme) => {
  const { page, context, faults } = await own.openAs(browser, ADMIN, { colorScheme });
  await page.goto('/console/operator/queues');
  const link = page.getByRole('link', { name: 'Look at the jobs' });
  expect([await link.getAttribute('href'), await link.getAttribute('target')]).toEqual([
    '/console/queues/',
    '_blank',
  ]);
  await page.goto('/console/queues/');
  await page.getByRole('link', { name: 'check-delegation' }).first().waitFor();
  await page.goto('/console/queues/queue/check-delegation?status=prioritized');
  await page.getByText('4711').first().waitFor();
  for (const tab of ['Options', 'Data']) await page.getByRole('tab', { name: tab }).first().click();
  await page.goto(`/console/queues/queue/check-delegation/${jobId}?status=prioritized`);
  await page.getByText('4711').first().waitFor();
  await page.goto('/console/queues/job-schedulers');
  await page.waitForLoadState('networkidle');
  expect(faults).toEqual([]);
  await context.close();
});

it('is not there for others, nor in a frame', async () => {
  const { page, context } = await own.openAs(browser, 'ann@shop.example', { mayFail: true });
  expect((await page.goto('/console/queues/'))?.status()).toBe(404);
  await context.close();

  const host: Server = createServer((_request, response) => {
    response
      .setHeader('content-type', 'text/html')
      .end(`<iframe src="${own.api.url}/console/queues/"></iframe>`);
  }).listen(0, '127.0.0.1');
  try {
    await new Promise((resolve) => host.once('listening', resolve));
    const admin = await own.openAs(browser, ADMIN, { mayFail: true });
    await admin.page.goto(`http://127.0.0.1:${(host.address() as AddressInfo).port}/`);
    await expect
      .poll(() => admin.faults.filter((fault) => /frame-ancestors|X-Frame-Options/i.test(fault)).length, {
        timeout: 30_000,
      })
      .toBeGreaterThan(0);
    expect(await admin.page.frames()[1]?.locator('#root').count()).toBe(0);
    await admin.context.close();
  } finally {
    host.close();
  }
});
