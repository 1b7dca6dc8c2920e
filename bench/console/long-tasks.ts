// Tasks of a page's thread that take over 50 ms, as the browser tells them (Long Tasks API): shorter ones it does not tell.

import type { Page } from 'playwright-core';

interface Task {
  /** Since the navigation, in ms. */
  readonly startTime: number;
  readonly duration: number;
}

interface Told {
  readonly tasks: readonly Task[];
  /** When the element was there first. */
  readonly readyMs: number | undefined;
  readonly nowMs: number;
}

/** Of every page that is opened next; also notes when `selector` names something first. */
export async function watchTasks(page: Page, selector: string): Promise<void> {
  await page.addInitScript(`{
    const told = { tasks: [], readyMs: undefined };
    globalThis.benchTold = told;
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) told.tasks.push({ startTime, duration });
    }).observe({ type: 'longtask', buffered: true });
    const observer = new MutationObserver(() => {
      if (document.querySelector(${JSON.stringify(selector)}) === null) return;
      told.readyMs = performance.now();
      observer.disconnect();
    });
    observer.observe(document, { childList: true, subtree: true });
  }`);
}

export async function tasksOf(page: Page): Promise<Told> {
  return await page.evaluate<Told>('({ ...benchTold, nowMs: performance.now() })');
}

export async function forgetTasks(page: Page): Promise<void> {
  await page.evaluate('void (benchTold.tasks.length = 0)');
}
