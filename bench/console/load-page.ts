// The first load of a page: what comes over the wire, and when a person can use it.

import type { Page } from 'playwright-core';
import { countTransfer } from '../../test/support/browser/page-figures.ts';
import { tasksOf, watchTasks } from './long-tasks.ts';

/** As Lighthouse takes for a telephone. */
export const SLOWER = 4;
/** Without a task over 50 ms: then the page is taken as at rest. */
const QUIET_MS = 2000;
const LONGEST_MS = 60_000;

export interface Loaded {
  readonly kib: number;
  readonly requests: number;
  /** From the start of the navigation. NaN: it was never at rest. */
  readonly interactiveMs: number;
  /** What the page's thread used of the processor until it was at rest: the same however busy the machine is. */
  readonly processorMs: number;
}

/**
 * With an empty cache on a processor `SLOWER` times slower. Interactive: what `selector` names is there, and the last long
 * task before the page is at rest has ended.
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
