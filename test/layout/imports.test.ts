// Who imports whom.

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MAY_IMPORT } from '../support/tests/rooms.ts';
import {
  bench,
  filesIn,
  namesImported,
  offenders,
  ownImports,
  PURE,
  ROOT,
  roomOf,
  type Source,
  sources,
  TEST_ENDS,
  topOf,
  withoutComments,
} from '../support/tests/sources.ts';

/** Plain JavaScript that installs what is missing before any TypeScript can run: every program starts through it. */
const LAUNCHER = 'src/start/run.mjs';
/** Packages that only compute: hashes and signatures, IDNA and the public suffix list. */
const COMPUTING = ['node:buffer', 'node:crypto', 're2js', 'tr46', 'tldts', 'zod'];
const SQL = ['kysely', 'pg'];
/** An observer elsewhere has no database and no queue, so its process loads neither. */
const OBSERVER = 'workers/observer/main.ts';
/** What only tests import, and why it stands with the sources. */
const EXPORTED_FOR_TESTS: Readonly<Record<string, string>> = {
  'src/zone/find-answer.ts: findAnswer': 'the reference that answers from the image are compared with',
  'workers/rounds/watch-uptime.ts: judgeNext': 'tests judge one minute after the other',
  'src/start/supervise.ts: restartDelayMs': 'no test waits for its longer delays',
};

const EXPORT =
  /^export (?:declare |async |abstract )*(function\*?|class|const|let|interface|type|enum) (\w+)/gm;

describe('imports', () => {
  it('follow the table of who may import whom', () => {
    const found = offenders((source) =>
      ownImports(source).filter((target) => {
        if (target === LAUNCHER && source.path.endsWith('.mjs')) return false;
        const room = roomOf(target);
        return room !== source.room && !allowed(source.room).includes(room);
      }),
    );
    expect(found).toEqual([]);
    expect(sources.filter(({ room }) => !(room in MAY_IMPORT)).map(({ path }) => path)).toEqual([]);
  });

  it('go from a row of the table to rows above it only', () => {
    const rows = Object.keys(MAY_IMPORT);
    const wrong = rows.flatMap((row, at) =>
      allowed(row)
        .filter((room) => !rows.slice(0, at).includes(room))
        .map((room) => `${row}: ${room}`),
    );
    expect(wrong).toEqual([]);
  });

  it('use everything that the table allows', () => {
    const used = new Set(
      sources.flatMap((source) => ownImports(source).map((target) => `${source.room}: ${roomOf(target)}`)),
    );
    const idle = Object.keys(MAY_IMPORT).flatMap((row) =>
      allowed(row)
        .map((room) => `${row}: ${room}`)
        .filter((arrow) => !used.has(arrow)),
    );
    expect(idle).toEqual([]);
  });

  it('name files that exist, with their extension', () => {
    expect(
      offenders((source) => ownImports(source).filter((target) => !existsSync(join(ROOT, target)))),
    ).toEqual([]);
  });

  it('make no circle of files, not even of types', () => {
    expect(circlesOf([...sources, ...bench])).toEqual([]);
    const circle = ['b.ts', 'c.ts', 'b.ts'].map((name) => `./${name}`);
    const made = ['a.ts', 'b.ts', 'c.ts'].map((path, at) => ({ path, imports: [circle[at] as string] }));
    expect(circlesOf(made)).toEqual(['b.ts -> c.ts -> b.ts']);
  });

  it('of the settings and the log stand in main.ts files only', () => {
    const found = offenders((source) => {
      if (basename(source.path) === 'main.ts' || source.room === 'process/settings') return [];
      return ownImports(source).filter((target) =>
        /^src\/process\/(settings\/read-settings|log)\.ts$/.test(target),
      );
    });
    expect(found).toEqual([]);
  });

  it('of a process main.ts do not happen', () => {
    expect(
      offenders((source) => ownImports(source).filter((target) => basename(target) === 'main.ts')),
    ).toEqual([]);
  });

  it('of SQL stand in src/store only', () => {
    const found = offenders((source) => {
      if (topOf(source) === 'store') return [];
      return source.imports.filter((name) =>
        SQL.some((module) => name === module || name.startsWith(`${module}/`)),
      );
    });
    expect(found).toEqual([]);
  });

  it('of the observer lead to no database, no queue and nothing of the fleet’s', () => {
    const reached = reachedFrom(OBSERVER);
    expect(
      reached.filter((name) => /^(pg|kysely|bullmq|ioredis|fastify)\b|^src\/(store|queue|api)\//.test(name)),
    ).toEqual([]);
    expect(reached).toContain('src/resolver/resolver.ts');
    expect(reachedFrom('workers/main.ts')).toEqual(expect.arrayContaining(['pg', 'bullmq']));
  });

  it('name the file that does the work: there is no barrel', () => {
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
        const users = kind === 'type' || kind === 'interface' ? byAnything : byPrograms;
        const what = `${path}: ${name}`;
        return { what, isUsed: users.has(what) || users.has(`${path}: *`) };
      }),
    );

  it('are there for another file of src, workers or bench; a type also for a test', () => {
    const idle = exported.filter(({ what, isUsed }) => !isUsed && !(what in EXPORTED_FOR_TESTS));
    expect(idle.map(({ what }) => what)).toEqual([]);
  });

  it('for tests alone are still there, and no program imports them', () => {
    const idle = exported.filter(({ isUsed }) => !isUsed).map(({ what }) => what);
    expect(Object.keys(EXPORTED_FOR_TESTS).filter((what) => !idle.includes(what))).toEqual([]);
  });
});

describe('pure folders', () => {
  const pure = sources.filter((source) => PURE.includes(topOf(source)));

  it('touch no clock, no I/O, no settings and no log', () => {
    const touches =
      /\b(Date\.now|new Date\(\)|performance\.|process\.|setTimeout|setInterval|console\.|Math\.random|fetch\()/;
    expect(pure.filter(({ text }) => touches.test(withoutComments(text))).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it('import nothing from outside', () => {
    const outside = pure.flatMap(({ path, imports }) =>
      imports
        .filter((name) => !name.startsWith('.') && !COMPUTING.includes(name))
        .map((name) => `${path}: ${name}`),
    );
    expect(outside).toEqual([]);
  });

  it('have a test beside every file that does something, or one for its folder', () => {
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

/** One circle for each file from which a walk along the imports comes back to a file on its way. */
function circlesOf(files: readonly Pick<Source, 'path' | 'imports'>[]): string[] {
  const targets = new Map(files.map((file) => [file.path, ownImports(file)]));
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (path: string, way: readonly string[]): void => {
    const begun = way.indexOf(path);
    if (begun >= 0) circles.push([...way.slice(begun), path].join(' -> '));
    if (begun >= 0 || done.has(path)) return;
    for (const target of targets.get(path) ?? []) walk(target, [...way, path]);
    done.add(path);
  };
  for (const path of targets.keys()) walk(path, []);
  return circles;
}

/** Files of ours and packages, over all files on the way. */
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

function allowed(room: string): string[] {
  return (MAY_IMPORT[room] ?? '').split(' ').filter((name) => name !== '');
}

it('tests of the console reach no package of its own, so that they run in a fresh clone', () => {
  const reached = new Set<string>();
  const reach = (path: string) => {
    if (reached.has(path)) return;
    reached.add(path);
    const text = readFileSync(join(ROOT, path), 'utf8');
    // types are gone when it runs
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
