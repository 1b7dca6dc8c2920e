// Scrolls a table of many records with the wheel, by jumps, and with the keys.

import type { Browser, Page } from 'playwright-core';
import { forgetTasks, tasksOf, watchTasks } from './long-tasks.ts';

const ROW = '.rec-row[data-key]';
const WHEEL_STEPS = 120;
const WHEEL_PX = 700;
const LEAPS = 20;
const KEYS = ['End', 'Home', ...Array.from({ length: 10 }, () => 'PageDown')];

export interface Scrolled {
  /** Tasks over 50 ms. */
  readonly longTasks: number;
  /** In milliseconds. 0 if no task exceeds 50 ms. */
  readonly longestMs: number;
  /** Maximum CPU time of a task in milliseconds, which does not depend on the load of the machine. */
  readonly processorMs: number;
  /** Maximum number of rows in the page. */
  readonly rowsDrawn: number;
}

/** `slower`: how many times slower the processor is while it scrolls. */
export async function scrollRecords(page: Page, domain: string, slower: number): Promise<Scrolled> {
  await watchTasks(page, ROW);
  await page.goto(`/console/domains/${domain}/records`);
  await page.locator(ROW).first().waitFor();
  await page.waitForTimeout(1000); // the load itself is not measured
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: slower });
  await forgetTasks(page);
  const browser = page.context().browser() as Browser;
  await browser.startTracing(page, { categories: ['toplevel'] });
  let rowsDrawn = 0;
  const pass = async () => {
    rowsDrawn = Math.max(
      rowsDrawn,
      await page.evaluate<number>(`new Promise((done) => requestAnimationFrame(() =>
        requestAnimationFrame(() => done(document.querySelectorAll('${ROW}').length))))`),
    );
  };
  await page.mouse.move(640, 500);
  for (let i = 0; i < WHEEL_STEPS; i++) {
    await page.mouse.wheel(0, WHEEL_PX);
    await pass();
  }
  for (let i = 0; i < LEAPS; i++) {
    // Jumps up and down the whole list, never to the current position.
    const share = ((i * 7) % LEAPS) / LEAPS;
    await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight * ${share})`);
    await pass();
  }
  await page.locator(ROW).first().focus();
  for (const key of KEYS) {
    await page.keyboard.press(key);
    await pass();
  }
  await page.waitForTimeout(500); // the observer reports a task after its end
  const durations = (await tasksOf(page)).tasks.map(({ duration }) => duration);
  const processorMs = longestTask(await browser.stopTracing());
  return { longTasks: durations.length, longestMs: Math.max(0, ...durations), processorMs, rowsDrawn };
}

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Processor time of the thread, in µs. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/** CPU time of the threads that run pages, in milliseconds. */
function longestTask(trace: Buffer): number {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: readonly TraceEvent[] };
  const threads = new Set(
    traceEvents
      .filter(({ ph, args }) => ph === 'M' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const used = traceEvents
    .filter(({ name, pid, tid }) => name.endsWith('::RunTask') && threads.has(`${pid} ${tid}`))
    .map(({ tdur }) => (tdur ?? 0) / 1000);
  return Math.max(...used);
}
