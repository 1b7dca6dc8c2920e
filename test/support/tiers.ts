// Which tests run when: `npm run test:unit` runs `unit`, `npm test` also `postgres` and `flows`, `npm run test:all` also
// `whole`, and `everyPostgres` once more on Postgres 15. A test's imports tell where it belongs.

import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';

export interface Tiers {
  /** Reach nothing outside their process, which they share with the modules that it has loaded. */
  readonly unit: readonly string[];
  /** Call the store, the API, the workers and the command line; they share processes too, and reach Postgres. */
  readonly postgres: readonly string[];
  /** Sockets, threads and processes; each file has a process for itself. */
  readonly flows: readonly string[];
  readonly whole: readonly string[];
  /** Of the others: what holds for every Postgres that is supported. */
  readonly everyPostgres: readonly string[];
}

/** The first minutes with a clone, outages, crashes, and fleets of processes: each takes many seconds. */
const WHOLE = [
  'api-visibility',
  'atomic-batch',
  'bulk-load',
  'check-outages',
  'existing-names',
  'first-run',
  'load-to-answer',
  'restart',
  'scan-recall',
  'scan-written',
];
/** What needs a process for itself, or starts others. */
const APART = /^node:(child_process|cluster|dgram|net|worker_threads)$|\/(run-cli|redis|supervise)\.ts$/;
/** A process remembers whether statements are prepared: another file's fault would count. */
const ALONE = ['preparing-client'];
const POSTGRES = /^pg$|\/support\/database\.ts$/;
/** They replace modules, functions or clocks for all files that share their process. */
const REPLACES = /\bvi\.(mock|spyOn|useFakeTimers)\(/;
const IN_PROCESS = /^test\/(store|api|cli|workers)\//;

const ROOT = join(import.meta.dirname, '../..');

export function sortTests(): Tiers {
  const tests = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => `test/${path}`)
    .sort();
  const isWhole = (path: string) => WHOLE.includes(basename(path, '.test.ts'));
  const gone = WHOLE.filter((name) => !tests.some((path) => basename(path, '.test.ts') === name));
  if (gone.length > 0)
    throw new Error(`test/support/tiers.ts names tests that do not exist: ${gone.join(', ')}`);
  const tiers = {
    unit: [] as string[],
    postgres: [] as string[],
    flows: [] as string[],
    whole: [] as string[],
  };
  for (const path of tests) tiers[isWhole(path) ? 'whole' : tierOf(path)].push(path);
  return { ...tiers, everyPostgres: tests.filter((path) => read(path).includes('testServers()')) };
}

/** The long proofs keep a process for themselves: some measure memory. */
function tierOf(path: string): 'unit' | 'postgres' | 'flows' {
  const reached = [...reach(path)];
  const isApart =
    reached.some((name) => APART.test(name)) ||
    REPLACES.test(read(path)) ||
    ALONE.includes(basename(path, '.test.ts'));
  if (isApart || path.startsWith('test/proofs/')) return 'flows';
  if (!reached.some((name) => POSTGRES.test(name))) return 'unit';
  return IN_PROCESS.test(path) ? 'postgres' : 'flows';
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
