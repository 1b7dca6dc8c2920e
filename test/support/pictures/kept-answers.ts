// Records the API's responses to every screen of the console in the demo, and replays them: the same data at the same time,
// without the API, a database or a network.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { BrowserContext, Response } from 'playwright-core';
import { ConsoleFiles } from '../../../src/api/console/console-files.ts';

/** Runs in the page: an event stream that stays open and sends nothing. */
const NOTHING_HAPPENS = `globalThis.EventSource = class extends EventTarget {
  static CLOSED = 2;
  readyState = 1;
  close() {}
};`;

export const PICTURES = resolve(import.meta.dirname, '../../../fixtures/console');
const FILE = resolve(PICTURES, 'answers.json.gz');

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly link?: string;
  readonly body: string;
}

export interface KeptAnswers {
  /** The page's clock, in ISO 8601. */
  readonly now: string;
  /** Major version of the Chromium that made the stored pictures. */
  readonly chromium: number;
  /** By path and query. */
  readonly answers: Readonly<Record<string, Answer>>;
}

export function readKept(): KeptAnswers {
  if (!existsSync(FILE)) throw new Error(`${FILE} is not there: npm run pictures -- --record makes it`);
  return JSON.parse(gunzipSync(readFileSync(FILE)).toString('utf8'));
}

export function writeKept(kept: KeptAnswers): void {
  writeFileSync(FILE, gzipSync(JSON.stringify(kept), { level: 9 }));
}

/** Records the first response to each read of the API by the context's pages. */
export function recordAnswers(context: BrowserContext): { settle(): Promise<Map<string, Answer>> } {
  const answers = new Map<string, Answer>();
  const pending: Promise<void>[] = [];
  context.on('response', (response) => {
    if (response.request().method() !== 'GET' || !isOfApi(response.url())) return;
    pending.push(note(response, answers).catch(() => {})); // the page has moved on, so the response is not needed
  });
  return {
    async settle() {
      await Promise.all(pending.splice(0));
      return answers;
    },
  };
}

async function note(response: Response, answers: Map<string, Answer>): Promise<void> {
  const headers = response.headers();
  if (answers.has(keyOf(response.url()))) return;
  answers.set(keyOf(response.url()), {
    status: response.status(),
    type: headers['content-type'] ?? '',
    ...(headers.link !== undefined && { link: headers.link }),
    body: await response.text(),
  });
}

/** Answers for the API and for the console's files. `missing` receives requests without a recorded response. */
export async function answerFrom(
  context: BrowserContext,
  kept: KeptAnswers,
  folder: string,
  missing: string[],
): Promise<void> {
  await context.clock.setFixedTime(kept.now);
  await context.addInitScript(NOTHING_HAPPENS);
  await context.route('**/*', async (route) => {
    const url = route.request().url();
    const answer = kept.answers[keyOf(url)];
    if (answer === undefined || route.request().method() !== 'GET') {
      missing.push(`${route.request().method()} ${keyOf(url)}`);
      return route.abort();
    }
    const { status, type, link, body } = answer;
    const headers = { 'content-type': type, ...(link !== undefined && { link }) };
    return route.fulfill({ status, headers, body });
  });
  await serveConsole(context, folder); // the last route is used first
}

/** Serves files from a directory instead of a server. */
export async function serveConsole(context: BrowserContext, folder: string): Promise<void> {
  const files = await new ConsoleFiles(folder).all();
  if (files === undefined) throw new Error(`${folder} has no console`);
  await context.route('**/console/**', (route) => {
    const path = new URL(route.request().url()).pathname.slice('/console/'.length);
    const file = files.get(path) ?? files.get('index.html');
    return route.fulfill({ contentType: file?.type ?? '', body: file?.bytes ?? '' });
  });
}

function isOfApi(url: string): boolean {
  const { pathname } = new URL(url);
  return !pathname.startsWith('/console/') && !pathname.endsWith('/events');
}

function keyOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
