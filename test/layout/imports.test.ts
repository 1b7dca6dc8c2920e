// Which modules may import which.

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  bench,
  featureOf,
  filesIn,
  namesImported,
  offenders,
  ownImports,
  PURE,
  ROOT,
  roomOf,
  sources,
  TEST_ENDS,
  topOf,
  withoutComments,
} from '../support/tests/sources.ts';

/**
 * The modules, and the modules that each may import. Each imports only modules listed above it. Processes assemble the
 * others: their `main.ts` and the few files in ENTRIES.
 */
const MAY_IMPORT: Readonly<Record<string, string>> = {
  dns: '',
  billing: '',
  zone: 'dns',
  checks: 'dns',
  edge: 'dns zone',
  process: 'dns zone',
  mail: '',
  resolver: 'dns zone checks process',
  analytics: 'billing edge process',
  store: 'dns billing zone checks edge process',
  jobs: 'zone checks resolver store',
  nameserver: 'dns zone process store',
  api: 'dns billing zone checks edge process resolver analytics store jobs',
  'cli/terminal': 'dns zone process resolver store jobs',
  features: 'dns billing zone checks edge process mail resolver analytics store jobs api cli/terminal',
  cli: 'dns billing zone checks edge process resolver store jobs cli/terminal features',
  start: 'dns zone process resolver store jobs nameserver features',
  workers: 'dns zone checks process mail resolver analytics store jobs features',
  processes:
    'dns billing checks process mail resolver analytics store jobs nameserver api cli/terminal features cli start workers',
};
/** Files that begin a process or a thread, besides `main.ts`. */
const ENTRIES = ['src/api/large/large-thread.ts', 'src/api/print-description.ts'];
/** Plain JavaScript that installs missing packages before any TypeScript can run. Every program starts through it. */
const LAUNCHER = 'src/start/run.mjs';
/** Packages that only compute: hashes and signatures, IDNA and the public suffix list. */
const COMPUTING = ['node:buffer', 'node:crypto', 're2js', 'tr46', 'tldts', 'zod'];
const SQL = ['kysely', 'pg'];
const MAY_USE_SQL = /^src\/features\/(migrat\w+|[^/]+\/sql[\w-]*)\.ts$/;
/** A vantage point has no database and no queue, so its process loads neither. */
const OBSERVER = 'workers/observer/main.ts';
/** Exports that only tests import, and why. */
const EXPORTED_FOR_TESTS: Readonly<Record<string, string>> = {
  'src/billing/gateway.ts: signOrder': 'tests compare the signature in a payment URL with it',
  'src/start/supervise.ts: restartDelayMs': 'no test waits for its longer delays',
};

const EXPORT =
  /^export (?:declare |async |abstract )*(function\*?|class|const|let|interface|type|enum) (\w+)/gm;

describe('imports', () => {
  it('lead only to modules that the table allows', () => {
    const found = offenders((source) =>
      ownImports(source).filter((target) => {
        if (target === LAUNCHER && source.path.endsWith('.mjs')) return false;
        const module = moduleOf(target);
        return module !== moduleOf(source.path) && !allowed(moduleOf(source.path)).includes(module);
      }),
    );
    expect(found).toEqual([]);
    expect([...new Set(sources.map(({ path }) => moduleOf(path)))].sort()).toEqual(
      Object.keys(MAY_IMPORT).sort(),
    );
  });

  it('use everything that the table allows', () => {
    const used = new Set(
      sources.flatMap((source) =>
        ownImports(source).map((target) => `${moduleOf(source.path)}: ${moduleOf(target)}`),
      ),
    );
    const unused = Object.keys(MAY_IMPORT)
      .flatMap((row) => allowed(row).map((module) => `${row}: ${module}`))
      .filter((arrow) => !used.has(arrow));
    expect(unused).toEqual([]);
  });

  it('form no cycle of folders', () => {
    const targets = new Map<string, Set<string>>();
    for (const source of sources) {
      const reached = targets.get(source.room) ?? new Set();
      for (const target of ownImports(source))
        if (roomOf(target) !== source.room) reached.add(roomOf(target));
      targets.set(source.room, reached);
    }
    expect(cyclesIn(targets)).toEqual([]);
  });

  it('name existing files, with their extension', () => {
    expect(
      offenders((source) => ownImports(source).filter((target) => !existsSync(join(ROOT, target)))),
    ).toEqual([]);
  });

  it('form no cycle of files, type imports included', () => {
    expect(cyclesIn(new Map([...sources, ...bench].map((file) => [file.path, ownImports(file)])))).toEqual(
      [],
    );
    expect(cyclesIn(new Map(Object.entries({ a: 'b', b: 'c', c: 'b' })))).toEqual(['b -> c -> b']);
  });

  it('of the settings and the log occur only in main.ts files', () => {
    const found = offenders((source) => {
      if (basename(source.path) === 'main.ts' || source.room === 'process/settings') return [];
      return ownImports(source).filter((target) =>
        /^src\/process\/(settings\/read-settings|log)\.ts$/.test(target),
      );
    });
    expect(found).toEqual([]);
  });

  it('never name a main.ts', () => {
    expect(
      offenders((source) => ownImports(source).filter((target) => basename(target) === 'main.ts')),
    ).toEqual([]);
  });

  it('of SQL packages occur only in src/store and in files of features that begin with sql', () => {
    const found = offenders((source) => {
      if (topOf(source) === 'store' || MAY_USE_SQL.test(source.path)) return [];
      return source.imports.filter((name) =>
        SQL.some((module) => name === module || name.startsWith(`${module}/`)),
      );
    });
    expect(found).toEqual([]);
  });

  it('of the observer do not reach the database, the queue or the API', () => {
    const reached = reachedFrom(OBSERVER);
    expect(
      reached.filter((name) => /^(pg|kysely|bullmq|ioredis|fastify)\b|^src\/(store|jobs|api)\//.test(name)),
    ).toEqual([]);
    expect(reached).toContain('src/resolver/resolver.ts');
    expect(reachedFrom('workers/main.ts')).toEqual(expect.arrayContaining(['pg', 'bullmq']));
  });

  it('name the file that declares the export: there are no barrel files', () => {
    const found = offenders(({ path, text }) => [
      ...(/^export\s+(\*|(type\s+)?\{[^}]*\})\s*(as \w+ )?from/m.test(text) ? ['re-exports'] : []),
      ...(/^index\./.test(basename(path)) ? ['is an index'] : []),
    ]);
    expect(found).toEqual([]);
  });
});

describe('exports', () => {
  const importers = ['src', 'workers', 'bench', 'test']
    .flatMap(filesIn)
    .filter((path) => /\.m?[tj]s$/.test(path));
  const programs = importers.filter((path) => !path.startsWith('test/'));
  const byPrograms = new Set(programs.flatMap(namesImported));
  const byAnything = new Set(importers.flatMap(namesImported));
  const exported = sources
    .filter((source) => source.path.endsWith('.ts'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(EXPORT)].map(([, kind, name]) => {
        // A feature's files are large, so that a test may be the only user of a part.
        const isTested = kind === 'type' || kind === 'interface' || featureOf(path) !== undefined;
        const users = isTested ? byAnything : byPrograms;
        const what = `${path}: ${name}`;
        return { what, isUsed: users.has(what) || users.has(`${path}: *`) };
      }),
    );

  it('are used by another file of src, workers or bench; types and parts of features also by a test', () => {
    const idle = exported.filter(({ what, isUsed }) => !isUsed && !(what in EXPORTED_FOR_TESTS));
    expect(idle.map(({ what }) => what)).toEqual([]);
  });

  it('listed in EXPORTED_FOR_TESTS exist and are not imported by programs', () => {
    const idle = exported.filter(({ isUsed }) => !isUsed).map(({ what }) => what);
    expect(Object.keys(EXPORTED_FOR_TESTS).filter((what) => !idle.includes(what))).toEqual([]);
  });
});

describe('pure folders', () => {
  const pure = sources.filter((source) => PURE.includes(topOf(source)));

  it('use no clock, I/O, settings or log', () => {
    const touches =
      /\b(Date\.now|new Date\(\)|performance\.|process\.|setTimeout|setInterval|console\.|Math\.random|fetch\()/;
    expect(pure.filter(({ text }) => touches.test(withoutComments(text))).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it('import only packages that compute', () => {
    const outside = pure.flatMap(({ path, imports }) =>
      imports
        .filter((name) => !name.startsWith('.') && !COMPUTING.includes(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(outside).toEqual([]);
  });

  it('have a test for every file with functions, or for its folder', () => {
    const bare = pure.filter(({ path, text }) => {
      if (!/^export (async )?(function|class)\b|^export const \w+ = (\(|async|function)/m.test(text))
        return false;
      const stem = path.replace(/^src\//, 'test/').replace(/\.ts$/, '');
      return ![stem, dirname(stem)].some((test) =>
        TEST_ENDS.some((end) => existsSync(join(ROOT, test + end))),
      );
    });
    expect(bare.map(({ path }) => path)).toEqual([]);
  });
});

/** Returns one cycle for each node that is reachable from itself along the imports. */
function cyclesIn(targets: ReadonlyMap<string, Iterable<string>>): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, way: readonly string[]): void => {
    const begun = way.indexOf(path);
    if (begun >= 0) cycles.push([...way.slice(begun), path].join(' -> '));
    if (begun >= 0 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) walk(target, [...way, path]);
    done.add(path);
  };
  for (const path of targets.keys()) walk(path, []);
  return cycles;
}

/** Returns the files and packages that a file loads, directly or indirectly. */
function reachedFrom(path: string): string[] {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const reached = new Set([path]);
  for (const each of reached) {
    const source = byPath.get(each);
    if (source === undefined) continue;
    for (const name of [...ownImports(source), ...source.imports.filter((one) => !one.startsWith('.'))])
      reached.add(name);
  }
  return [...reached];
}

function allowed(module: string): string[] {
  return (MAY_IMPORT[module] ?? '').split(' ').filter((name) => name !== '');
}

function moduleOf(path: string): string {
  if (basename(path) === 'main.ts' || ENTRIES.includes(path)) return 'processes';
  const room = roomOf(path);
  return room in MAY_IMPORT ? room : (room.split('/')[0] as string);
}

it('tests of the console need none of its packages, so they run in a fresh clone', () => {
  const reached = new Set<string>();
  const reach = (path: string) => {
    if (reached.has(path)) return;
    reached.add(path);
    const text = readFileSync(join(ROOT, path), 'utf8');
    // types are erased at run time
    for (const [, name = ''] of text.matchAll(/^(?:import|export)(?! type) [^;]*?\bfrom '([^']+)'/gm)) {
      if (name.startsWith('.')) reach(join(dirname(path), name));
      else if (path.startsWith('console/')) reached.add(name);
    }
  };
  for (const path of filesIn('test/console').filter((each) => each.endsWith('.test.ts'))) reach(path);
  expect([...reached].filter((path) => path.startsWith('console/src/')).length).toBeGreaterThan(20);
  expect(
    [...reached].filter((path) => path.endsWith('.tsx') || !/[/]/.test(path) || path.startsWith('@')),
  ).toEqual([]);
});
