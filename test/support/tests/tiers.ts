// Which tests run when: `npm run test:unit` runs `unit`, `npm test` also `postgres` and `sockets`, `npm run test:all` also
// `thorough` and `whole`, and `everyPostgres` once more on Postgres 15. A test's folder and imports tell where it belongs, and how
// long it takes: `npm test` is for every change.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

export interface Tiers {
  /** Reach nothing outside their process, which they share with the modules that it has loaded. */
  readonly unit: readonly string[];
  /** Call the store, the API, the workers and the command line; they share processes too, and reach Postgres. */
  readonly postgres: readonly string[];
  /** Sockets and threads; each file has a process for itself. */
  readonly sockets: readonly string[];
  /** As `postgres`, for many seconds each: they fill tables, count days, and play what accounts do to each other. */
  readonly thorough: readonly string[];
  /** Processes of ours, outages, the first minutes with a clone, proofs, and what tries everything. */
  readonly whole: readonly string[];
  /** Of the others: what holds for every Postgres that is supported. */
  readonly everyPostgres: readonly string[];
}

const LONG = /^test\/(flows|proofs)\//;
const OF_PROCESSES = /^test\/start\/|\/main\.test\.ts$/;
/** They wait for time-outs, or for npm. */
const PATIENT = [
  'build-console',
  'open-analytics',
  'open-public-checks',
  'outage-log',
  'report-position',
  'signing-lane',
  'start-image-thread',
  'store/postgres/database',
  'udp-threads',
];
/** They try everything: every call by every caller, every step of a rollover, every piece of a large zone. */
const EXHAUSTIVE = [
  'test/api/calls',
  'test/api/routes',
  'test/api/routes/reseller/every-reseller-route',
  'test/api/print/record-text',
  'test/outbound/acme/judge-answers',
  'test/queue/job-worker',
  'test/store/handover/hand-over',
  'test/store/keys/sign-change',
  'test/store/migrate/republish-domains',
  'test/store/signing/change-denial',
  'test/store/signing/sign-pieces',
  'test/workers/jobs/roll-keys',
  'test/workers/vantage/confirm-change',
  'test/zone/image/order-index',
].map((stem) => `${stem}.test.ts`);
/** Of those that call the store, the API and the workers: half of the time of all of them. */
const THOROUGH = [
  'api/analytics/ask-store',
  'api/edge/edge-feed',
  'api/large/large-work',
  'api/routes/analytics/questions',
  'api/routes/analytics/requests',
  'api/routes/analytics/traffic',
  'api/routes/edge/requests',
  'api/routes/rules/save-rules',
  'store/change/claim-name',
  'store/change/settle-name',
  'store/change/settle-offers',
  'store/checks/name-order',
  'store/claims/claim-sets',
  'store/domains/find-narrowed',
  'store/domains/list-domains',
  'store/housekeeping/purge-edge-changes',
  'store/money/charge',
  'store/money/settle-debts',
  'store/people/takeover-mails',
  'store/regions/sign-edge-sets',
  'workers/rounds/move-dns-counts',
  'workers/rounds/sign-zones',
  'workers/rounds/tell-traffic',
  'workers/rounds/watch-uptime',
  'workers/schedule',
].map((stem) => `test/${stem}.test.ts`);
const STARTS_PROCESSES =
  /\/support\/[a-z]+\/(api-process|fresh-clone|nodes|observer-process|run-cli|supervise|workers-process)\.ts$/;
/** What needs a process for itself, or starts others. */
const APART = /^node:(child_process|cluster|dgram|net|worker_threads)$|\/(run-cli|redis|supervise)\.ts$/;
const POSTGRES = /^pg$|\/support\/database\/database\.ts$/;
/** They replace modules, functions or clocks for all files that share their process. */
const REPLACES = /\bvi\.(mock|spyOn|useFakeTimers)\(/;
const IN_PROCESS = /^test\/(store|api|cli|workers)\//;

/** Debian's; without it the tests of the console in a browser are left out. */
export const CHROMIUM = '/usr/bin/chromium';

const ROOT = join(import.meta.dirname, '../../..');

export function sortTests(): Tiers {
  const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `test/${path}`)
    .filter((path) => existsSync(CHROMIUM) || !path.startsWith('test/flows/console/'))
    .sort();
  const tiers = {
    unit: [] as string[],
    postgres: [] as string[],
    sockets: [] as string[],
    thorough: [] as string[],
    whole: [] as string[],
  };
  for (const path of [...EXHAUSTIVE, ...THOROUGH])
    if (!tests.includes(path)) throw new Error(`there is no ${path}`);
  for (const path of tests) tiers[tierOf(path)].push(path);
  return { ...tiers, everyPostgres: tests.filter((path) => read(path).includes('testServers()')) };
}

function tierOf(path: string): Exclude<keyof Tiers, 'everyPostgres'> {
  const reached = [...reach(path)];
  const isApart = reached.some((from) => APART.test(from)) || REPLACES.test(read(path));
  const usesPostgres = reached.some((from) => POSTGRES.test(from));
  if (
    LONG.test(path) ||
    PATIENT.some((stem) => path.endsWith(`/${stem}.test.ts`)) ||
    EXHAUSTIVE.includes(path)
  )
    return 'whole';
  if (!isApart && !usesPostgres) return 'unit';
  if (OF_PROCESSES.test(path) || reached.some((from) => STARTS_PROCESSES.test(from))) return 'whole';
  if (!usesPostgres || isApart || !IN_PROCESS.test(path)) return 'sockets';
  return THOROUGH.includes(path) ? 'thorough' : 'postgres';
}

/** What it imports, and what the support that it uses imports. */
function reach(path: string, seen = new Set<string>()): Set<string> {
  for (const name of importsOf(path)) {
    if (seen.has(name)) continue;
    seen.add(name);
    if (name.startsWith('test/support/')) reach(name, seen);
  }
  return seen;
}

/** Ours as paths from the repository's root. */
function importsOf(path: string): string[] {
  return [...read(path).matchAll(/\bfrom '([^']+)'/g)].map(([, name = '']) =>
    name.startsWith('.') ? normalize(join(dirname(path), name)) : name,
  );
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
