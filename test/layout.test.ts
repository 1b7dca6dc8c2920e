// The house rules of the source tree, read off the files: who imports whom, what is tested where, how files are named.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

/** What the files of a folder may import besides their own folder. `start` composes the processes by running them. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  dns: [],
  queue: [],
  zone: ['dns'],
  checks: ['dns'],
  resolver: ['dns', 'checks'],
  store: ['dns', 'zone', 'checks'],
  nameserver: ['dns', 'zone', 'store'],
  api: ['dns', 'zone', 'checks', 'store', 'queue'],
  cli: ['dns', 'zone', 'checks', 'resolver', 'store', 'queue'],
  workers: ['dns', 'zone', 'checks', 'resolver', 'store', 'queue'],
  start: ['dns', 'zone', 'store', 'queue'],
};
/** Plain JavaScript that installs what is missing before any TypeScript can run: every program starts through it. */
const LAUNCHER = 'src/start/run.mjs';
const PURE = ['dns', 'zone', 'checks'];
/** Packages that only compute: IDNA and the public suffix list. */
const COMPUTING = ['node:buffer', 'tr46', 'tldts'];
const SQL = ['kysely', 'pg'];

interface Source {
  /** From the repository's root. */
  readonly path: string;
  /** `dns`, `workers`, …; undefined for the files directly in src/. */
  readonly folder: string | undefined;
  readonly text: string;
  readonly imports: readonly string[];
}

const sources = [...filesIn('src'), ...filesIn('workers')]
  .filter((path) => /\.(ts|mjs)$/.test(path))
  .map(readSource);
const tests = filesIn('test').filter((path) => path.endsWith('.test.ts'));

function filesIn(folder: string): string[] {
  const start = join(ROOT, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const [first, second] = path.split('/');
  const folder = first === 'workers' ? first : path.split('/').length > 2 ? second : undefined;
  const found = text.matchAll(/\bfrom\s+'([^']+)'|\bimport\s+'([^']+)'|\bimport\(\s*'([^']+)'/g);
  return { path, folder, text, imports: [...found].map(([, a, b, c]) => (a ?? b ?? c) as string) };
}

/** The imports of ours, as paths from the root. */
function ownImports({ path, imports }: Source): string[] {
  return imports.filter((name) => name.startsWith('.')).map((name) => join(dirname(path), name));
}

function folderOf(path: string): string | undefined {
  return readFolder.get(path);
}
const readFolder = new Map(sources.map(({ path, folder }) => [path, folder]));

function offenders(rule: (source: Source) => string[]): string[] {
  return sources.flatMap((source) => rule(source).map((what) => `${source.path}: ${what}`));
}

describe('imports', () => {
  it('follow the table of who may import whom', () => {
    const found = offenders((source) =>
      ownImports(source).filter((target) => {
        if (target === LAUNCHER && source.path.endsWith('.mjs')) return false;
        const folder = folderOf(target);
        if (source.folder === undefined || folder === undefined || folder === source.folder) return false;
        return !(MAY_IMPORT[source.folder] ?? []).includes(folder);
      }),
    );
    expect(found).toEqual([]);
    expect(sources.map(({ folder }) => folder).filter((folder) => folder && !(folder in MAY_IMPORT))).toEqual(
      [],
    );
  });

  it('name files that exist, with their extension', () => {
    expect(
      offenders((source) => ownImports(source).filter((target) => !existsSync(join(ROOT, target)))),
    ).toEqual([]);
  });

  it('of the settings and the log stand in main.ts files only', () => {
    const found = offenders((source) => {
      if (basename(source.path) === 'main.ts' || source.path === 'src/config.ts') return [];
      return ownImports(source).filter((target) => /^src\/(config|log)\.ts$/.test(target));
    });
    expect(found).toEqual([]);
  });

  it('of a process main.ts do not happen', () => {
    expect(
      offenders((source) => ownImports(source).filter((target) => basename(target) === 'main.ts')),
    ).toEqual([]);
  });

  it('of SQL stand in src/store only', () => {
    const found = offenders(({ folder, imports }) => {
      if (folder === 'store') return [];
      return imports.filter((name) => SQL.some((module) => name === module || name.startsWith(`${module}/`)));
    });
    expect(found).toEqual([]);
  });

  it('name the file that does the work: there is no barrel', () => {
    const found = offenders(({ path, text }) => [
      ...(/^export\s+(\*|(type\s+)?\{[^}]*\})\s*(as \w+ )?from/m.test(text) ? ['re-exports'] : []),
      ...(/^index\./.test(basename(path)) ? ['is an index'] : []),
    ]);
    expect(found).toEqual([]);
  });
});

describe('pure folders', () => {
  const pure = sources.filter(({ folder }) => PURE.includes(folder ?? ''));

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
      return ![`${stem}.test.ts`, `${dirname(stem)}.test.ts`].some((test) => existsSync(join(ROOT, test)));
    });
    expect(bare.map(({ path }) => path)).toEqual([]);
  });
});

describe('files', () => {
  it('begin with a comment that says what they do', () => {
    const bare = sources.filter(({ text }) => !/^(#!.*\n)?\/\/ \S/.test(text));
    expect(bare.map(({ path }) => path)).toEqual([]);
  });

  it('have kebab-case names that say something', () => {
    const names = [
      ...sources.map(({ path }) => path),
      ...filesIn('test').filter((path) => path.endsWith('.ts')),
    ];
    const empty = /(^|-)(utils?|helpers?|manager|service|handler|data|info)$/; // the noun, the last word
    const bad = names.filter((path) => {
      const name = basename(path).replace(/(\.test|\.d)?\.(ts|mjs)$/, '');
      return !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || empty.test(name);
    });
    expect(bad).toEqual([]);
  });

  it('read the environment in the settings and where a process begins only', () => {
    const allowed = /(^src\/config\.ts|\/main\.ts|\.mjs)$/;
    expect(
      offenders(({ path, text }) =>
        allowed.test(path) ? [] : (withoutComments(text).match(/process\.env\b/g) ?? []),
      ),
    ).toEqual([]);
  });
});

describe('tests', () => {
  it('mirror the sources file for file, or folder for folder', () => {
    const strays = tests.filter((path) => {
      if (/^test\/(flows|proofs|chaos|support)\//.test(path) || path === 'test/layout.test.ts') return false;
      const stem = path.replace(/^test\//, '').replace(/\.test\.ts$/, '');
      return ![`src/${stem}.ts`, `src/${stem}.mjs`, `src/${stem}`, `${stem}.ts`].some((source) =>
        existsSync(join(ROOT, source)),
      );
    });
    expect(strays).toEqual([]);
  });

  it('do not measure how fast the machine is: figures are the benchmark’s', () => {
    const timed =
      /expect\((?:[^;]*performance\.now\(\)|\w*(?:elapsed|duration|took)\w*\)|\w+Ms\)\.toBeLess)/gi;
    const found = tests.flatMap((path) =>
      (readFileSync(join(ROOT, path), 'utf8').match(timed) ?? []).map((text) => `${path}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}
