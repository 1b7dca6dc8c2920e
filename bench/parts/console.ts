// The console in a browser: size and speed of the first load, scrolling, and memory leaks.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { openBrowser, openPage } from '../../test/support/browser/browser.ts';
import type { Held } from '../../test/support/browser/page-figures.ts';
import { onEnd } from '../cleanup.ts';
import { type Changed, changeScreens } from '../console/change-screens.ts';
import { type Loaded, loadPage, SLOWER } from '../console/load-page.ts';
import { PEERS } from '../console/peer-pages.ts';
import { type Scrolled, scrollRecords } from '../console/scroll-records.ts';
import { LARGE, type ServedConsole, serveConsoleWith } from '../console/served-console.ts';
import type { Part } from '../part.ts';
import { type Cell, count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';

const FIRST_LOAD_KIB = 120;
const INTERACTIVE_MS = 1000;
const RECORDS = 10_000;
const CHANGES = 200;
/** Peers request fonts and news from other sites, which would be included in the time. */
const NOTHING_ELSEWHERE = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1';
/** Ratio of the figure after the changes to the one before. */
const FLAT = 1.05;

export const console: Part = {
  names: ['console'],
  async run({ rounds, directory }) {
    const browser = await openBrowser([NOTHING_ELSEWHERE]);
    const closeBrowser = onEnd(() => browser.close());
    say(`${count(RECORDS)} records`);
    const served = await serveConsoleWith(RECORDS);
    const blocks = [
      `Chromium ${browser.version()} with the API and Postgres on the same machine, a window of 1280 × 800. ` +
        `An account with 61 domains, of which one has ${count(RECORDS)} records.`,
      ...(await firstLoads(browser, served, rounds, directory)),
      ...(await scrolls(browser, served, rounds)),
      ...(await memory(browser, served)),
    ];
    await served.stop();
    await closeBrowser();
    return [{ part: 'console', title: 'The console in a browser', blocks, charts: [] }];
  },
};

async function firstLoads(
  browser: Browser,
  served: ServedConsole,
  rounds: number,
  directory: string,
): Promise<string[]> {
  say('first load');
  const rows: Cell[][] = [];
  const missing: string[] = [];
  const times = async (load: () => Promise<Loaded>) => {
    const loads: Loaded[] = [];
    for (let i = 0; i < rounds; i++) loads.push(await load());
    return {
      kib: median(loads.map(({ kib }) => kib)),
      requests: median(loads.map(({ requests }) => requests)),
      ms: median(loads.map(({ interactiveMs }) => interactiveMs)),
      used: median(loads.map(({ processorMs }) => processorMs)),
    };
  };
  const ours = [
    ['the sign-in', '/console/', 'input[type=password]', false],
    ['the list of domains', '/console/domains', '.domains tbody tr', true],
    [`${count(RECORDS)} records`, `/console/domains/${LARGE}/records`, '.rec-row[data-key]', true],
  ] as const;
  for (const [title, path, selector, isSignedIn] of ours) {
    const { kib, requests, ms, used } = await times(async () => {
      const { page, context } = await (isSignedIn ? served.open(browser) : openPage(browser, served.url));
      const loaded = await loadPage(page, path, selector);
      await context.close();
      return loaded;
    });
    // The response with all records is by far the largest, and not part of the page.
    const isFirst = path !== ours[2][1];
    const limits = isFirst ? ([FIRST_LOAD_KIB, INTERACTIVE_MS] as const) : [undefined, undefined];
    rows.push([
      `**Console**: ${title}`,
      judged(kib, limits[0], 1),
      requests,
      judged(ms, limits[1], 0),
      fixed(used, 0),
    ]);
  }
  for (const peer of PEERS) {
    if (!peer.isInstalled) {
      say(`${peer.title} is left out: ${peer.needs} is not installed`);
      missing.push(`${peer.title} is left out: Debian's \`${peer.needs}\` is not installed.`);
      continue;
    }
    const place = join(directory, peer.needs);
    mkdirSync(place, { recursive: true });
    const { url, path, selector, stop } = await peer.serve(place);
    const stopPeer = onEnd(stop);
    const { kib, requests, ms, used } = await times(async () => {
      const { page, context } = await openPage(browser, url, { viewport: { width: 1280, height: 800 } });
      const loaded = await loadPage(page, path, selector);
      await context.close();
      return loaded;
    });
    rows.push([peer.title, fixed(kib, 1), requests, fixed(ms, 0), fixed(used, 0)]);
    await stopPeer();
  }
  return [
    '### First load',
    `With an empty cache, on a processor ${SLOWER} times slower (CDP). KiB includes headers and the responses of the API. ` +
      "The page is interactive when its content is present and no task over 50 ms follows. The last column is the processor time of the page's thread until it is idle. Bull Board has a queue of 500 jobs. " +
      'Requests of both peers to other sites (fonts, news) are refused immediately and not counted.',
    table(['', 'KiB', 'requests', 'interactive, ms', 'processor, ms'], rows),
    ...missing,
  ];
}

async function scrolls(browser: Browser, served: ServedConsole, rounds: number): Promise<string[]> {
  const rows: Cell[][] = [];
  for (const slower of [1, SLOWER]) {
    say(`scrolling, processor ${slower} times slower`);
    const runs: Scrolled[] = [];
    for (let i = 0; i < rounds; i++) {
      const { page, context } = await served.open(browser);
      runs.push(await scrollRecords(page, LARGE, slower));
      await context.close();
    }
    rows.push([
      slower === 1 ? 'unchanged' : `${slower} times slower`,
      judged(median(runs.map(({ longTasks }) => longTasks)), 0, 0),
      `${Math.max(...runs.map(({ longTasks }) => longTasks))}`,
      fixed(median(runs.map(({ longestMs }) => longestMs)), 0),
      fixed(median(runs.map(({ processorMs }) => processorMs)), 0),
      Math.max(...runs.map(({ rowsDrawn }) => rowsDrawn)),
    ]);
  }
  return [
    `### Scrolling ${count(RECORDS)} records`,
    'With 120 turns of the wheel, 20 jumps to other positions, and the keys End, Home and PageDown. The browser reports only tasks over 50 ms: 0 means that there was none.',
    table(
      [
        'processor',
        'tasks over 50 ms',
        'maximum of a run',
        'longest, ms',
        'longest in processor time, ms',
        'maximum of rows drawn',
      ],
      rows,
    ),
  ];
}

async function memory(browser: Browser, served: ServedConsole): Promise<string[]> {
  say(`${CHANGES} screen changes`);
  const { page, context } = await served.open(browser);
  const asItIs = await changeScreens(page, LARGE, CHANGES);
  await context.close();
  say('the same without compiled code');
  const interpreting = await openBrowser([NOTHING_ELSEWHERE, '--js-flags=--jitless']);
  const closeBrowser = onEnd(() => interpreting.close());
  const second = await served.open(interpreting);
  const interpreted = await changeScreens(second.page, LARGE, CHANGES);
  await closeBrowser();
  const row = (
    title: string,
    { before, halfway, after }: Changed,
    of: (held: Held) => number,
    most: number | undefined = FLAT,
  ): Cell[] => [
    title,
    ...[before, halfway, after].map((held) => count(of(held))),
    judged(of(after) / of(before), most),
  ];
  const kib = ({ heapBytes }: Held) => heapBytes / 1024;
  return [
    `### Memory after ${count(asItIs.changes)} screen changes`,
    'The browser visits all pages of a domain and all screens of the navigation, first twice to load them and then repeatedly. Memory is measured at the list of domains, after a garbage collection. ' +
      'V8 gradually compiles code that runs often, and keeps the result in its heap. A browser that compiles nothing shows the memory of the page alone.',
    table(
      ['', 'before', 'halfway', 'after', 'after ÷ before'],
      [
        row('heap of scripts without compiled code, KiB', interpreted, kib),
        row('heap of scripts with it, KiB', asItIs, kib, undefined),
        row('DOM nodes', asItIs, ({ nodes }) => nodes),
        row('listeners', asItIs, ({ listeners }) => listeners),
        row('documents', asItIs, ({ documents }) => documents),
      ],
    ),
  ];
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
