// Bull Board without a server: its page, its files, and the calls that only read. The responses identify the row that
// a job is about, but contain no secrets.

import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { type JobQueue, within } from '../../../jobs/job-queue.ts';
import { isJobMember } from '../../../jobs/jobs.ts';
import { hidePasswords, hideTokens } from '../../../process/hide-passwords.ts';
import { type ConsoleFile, fileOf, typeOf } from '../console-files.ts';
import { boardPage } from './board-page.ts';

type Adapter = Parameters<typeof createBullBoard>[0]['serverAdapter'];
type CallRoute = Parameters<Adapter['setApiRoutes']>[0][number];
type BoardQueues = Parameters<Adapter['setQueues']>[0];

/** Each call to a queue is limited to 2 s. A page of the board queries each queue several times concurrently. */
const LONGEST_MS = 5000;
const POLL_SECONDS = 10;

const SETTINGS = {
  boardTitle: 'Zonefleet',
  hideDocsLink: true, // links to another site
  hideRedisDetails: true,
  showWorkers: false, // would list all clients at each refresh
  pollingInterval: { forceInterval: POLL_SECONDS },
};

interface Read {
  readonly pattern: RegExp;
  readonly handler: CallRoute['handler'];
}

/** Response of the board. `body` is JSON. */
interface ReadAnswer {
  readonly status: number;
  readonly body: string;
}

export interface Board {
  readonly page: ConsoleFile;
  /** `path` is relative to `static/`. */
  file(path: string): Promise<ConsoleFile | undefined>;
  /** `path` is decoded: `/api/…`. Returns undefined if it is not readable, and rejects after 5 seconds. */
  read(path: string, query: Readonly<Record<string, unknown>>): Promise<ReadAnswer | undefined>;
}

/** `base` is the path below which it is served, with a trailing slash. */
export async function openBoard(queues: readonly JobQueue<object>[], base: string): Promise<Board> {
  const kept = keepParts(queues);
  const template = await readFile(join(kept.views, 'index.ejs'), 'utf8');
  const page = await zipped(Buffer.from(boardPage(template, base, kept.settings)), 'index.html');
  const names = new Set(readdirSync(kept.statics, { recursive: true, encoding: 'utf8' }));
  const files = new Map<string, ConsoleFile>();
  return {
    page,
    async file(path) {
      if (!names.has(path) || typeOf(path) === undefined) return undefined;
      const known = files.get(path);
      if (known !== undefined) return known;
      const file = await zipped(await readFile(join(kept.statics, path)), path);
      // Locales and images keep their names across versions.
      const isHashed = /\.[0-9a-f]{10}\.(js|css)$/.test(path);
      files.set(path, { ...file, isHashed });
      return { ...file, isHashed };
    },
    async read(path, query) {
      for (const { pattern, handler } of kept.reads) {
        const params = pattern.exec(path)?.groups;
        if (params === undefined) continue;
        const request = {
          queues: kept.queues,
          uiConfig: kept.settings,
          params,
          query,
          body: {},
          headers: {},
        };
        const deadline = performance.now() + LONGEST_MS;
        const { status = 200, body } = await within(deadline, Promise.resolve(handler(request as never)));
        return { status, body: JSON.stringify(body, shown) };
      }
      return undefined;
    },
  };
}

async function zipped(bytes: Buffer, path: string): Promise<ConsoleFile> {
  return fileOf(bytes, await promisify(gzip)(bytes), typeOf(path) as string);
}

/** Collects what Bull Board would mount on a server. */
function keepParts(queues: readonly JobQueue<object>[]) {
  const kept = {
    views: '',
    statics: '',
    settings: {},
    queues: new Map() as BoardQueues,
    reads: [] as Read[],
  };
  const adapter: Adapter = {
    setQueues(all) {
      kept.queues = all;
      return adapter;
    },
    setViewsPath(folder) {
      kept.views = folder;
      return adapter;
    },
    setStaticPath(_path, folder) {
      kept.statics = folder;
      return adapter;
    },
    setUIConfig(settings) {
      kept.settings = settings;
      return adapter;
    },
    setEntryRoute: () => adapter,
    setErrorHandler: () => adapter,
    setApiRoutes(routes) {
      kept.reads = routes.filter(({ method }) => method === 'get').flatMap(readsOf);
      return adapter;
    },
  };
  createBullBoard({
    // BullMQAdapter is typed against another copy of BullMQ.
    queues: queues.map(
      ({ queue }) => new BullMQAdapter(queue as never, { readOnlyMode: true, allowRetries: false }),
    ),
    serverAdapter: adapter,
    options: { uiConfig: SETTINGS },
  });
  return kept;
}

function readsOf({ route, handler }: CallRoute): Read[] {
  return [route].flat().map((path) => {
    const source = path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)');
    return { pattern: new RegExp(`^${source}$(?<end>)`), handler };
  });
}

const NOT_SHOWN = 'not shown';

/** Replacer for JSON.stringify. The data of a job consists of ids. A member that is not a known id is not shown. */
function shown(key: string, value: unknown): unknown {
  if (typeof value === 'string') return hideTokens(hidePasswords(value));
  if (key !== 'data' || typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, isJobMember(name) ? each : NOT_SHOWN]),
  );
}
