// Tasks of a page's thread over 50 ms, as reported by the browser (Long Tasks API), which omits shorter ones.

import type { Page } from 'playwright-core';

interface Task {
  /** Since the navigation, in ms. */
  readonly startTime: number;
  readonly duration: number;
}

interface Told {
  readonly tasks: readonly Task[];
  /** When the element first existed. */
  readonly readyMs: number | undefined;
  readonly nowMs: number;
}

/** Applies to every page opened next. Also records when `selector` first matches. */
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
