// The first load of a page: the transferred data, and the time until a user can use it.

import type { Page } from 'playwright-core';
import { countTransfer } from '../../test/support/browser/page-figures.ts';
import { tasksOf, watchTasks } from './long-tasks.ts';

/** Lighthouse's factor for a mobile phone. */
export const SLOWER = 4;
/** Time without a task over 50 ms after which the page counts as idle. */
const QUIET_MS = 2000;
const LONGEST_MS = 60_000;

export interface Loaded {
  readonly kib: number;
  readonly requests: number;
  /** Since the start of the navigation. NaN if the page was never idle. */
  readonly interactiveMs: number;
  /** CPU time of the page's thread until it was idle, which does not depend on the load of the machine. */
  readonly processorMs: number;
}

/**
 * With an empty cache on a processor that is `SLOWER` times slower. The page is interactive when `selector` exists and the
 * last long task before the page is idle has ended.
 */
export async function loadPage(page: Page, path: string, selector: string): Promise<Loaded> {
  const session = await page.context().newCDPSession(page);
  const transfer = await countTransfer(session);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  await watchTasks(page, selector);
  await page.goto(path, { waitUntil: 'commit' });
  await page.locator(selector).first().waitFor({ state: 'attached', timeout: LONGEST_MS });
  for (;;) {
    const { tasks, readyMs, nowMs } = await tasksOf(page);
    const atMs = Math.max(readyMs ?? nowMs, ...tasks.map(({ startTime, duration }) => startTime + duration));
    const isAtRest = nowMs - atMs >= QUIET_MS;
    if (isAtRest || nowMs > LONGEST_MS) {
      const { bytes, requests } = transfer();
      const { metrics } = await session.send('Performance.getMetrics');
      const used = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
      return {
        kib: bytes / 1024,
        requests,
        interactiveMs: isAtRest ? atMs : Number.NaN,
        processorMs: used * 1000,
      };
    }
    await page.waitForTimeout(200);
  }
}
