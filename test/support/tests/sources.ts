// The source tree for the layout tests.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '../../..');
/** Pure folders: they compute results from arguments. */
export const PURE = ['billing', 'dns', 'zone', 'checks', 'edge'];

export interface Source {
  /** Relative to the repository's root. */
  readonly path: string;
  /** `dns`, `dns/record`, `workers`, … */
  readonly room: string;
  readonly text: string;
  readonly imports: readonly string[];
}

export const sources = [...filesIn('src'), ...filesIn('workers')]
  .filter((path) => /\.(ts|mjs)$/.test(path))
  .map(readSource);
export const bench = filesIn('bench')
  .filter((path) => path.endsWith('.ts'))
  .map(readSource);
export const TEST_ENDS = ['', '.postgres', '.sockets', '.flow', '.nightly'].map((tier) => `${tier}.test.ts`);
/** The part of a test's path that its tier determines. */
export const TEST_END = /(?:\.(postgres|sockets|flow|nightly))?\.test\.ts$/;
export const tests = filesIn('test').filter((path) => path.endsWith('.test.ts'));

export function filesIn(folder: string): string[] {
  const start = join(ROOT, folder);
  if (!existsSync(start)) return [];
  return readdirSync(start, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const found = text.matchAll(/\bfrom\s+'([^']+)'|\bimport\s+'([^']+)'|\bimport\(\s*'([^']+)'/g);
  return {
    path,
    room: roomOf(path),
    text,
    imports: [...found].map(([, a, b, c]) => (a ?? b ?? c) as string),
  };
}

/** Returns a file's imports of our modules, each as `path: name`. `path: *` is the whole module. */
export function namesImported(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const clauses = [
    ...text.matchAll(/\bimport\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g),
    ...text.matchAll(/\{([^{}]*)\}\s*=\s*await\s+import\(\s*'(\.[^']+)'/g),
    ...[...text.matchAll(/\(await\s+import\(\s*'(\.[^']+)'\s*,?\s*\)\)\.(\w+)/g)].map(([all, path, name]) => [
      all,
      name,
      path,
    ]),
    ...text.matchAll(/\bimport\s+(\*)\s+as\s+\w+\s+from\s+'(\.[^']+)'/g),
  ];
  return clauses.flatMap(([, names = '', target = '']) =>
    names.split(',').map((clause) => {
      const [name] = clause
        .trim()
        .replace(/^type\s+/, '')
        .split(/\s+as\s+|:/);
      return `${join(dirname(path), target)}: ${name}`;
    }),
  );
}

/** Returns the imports of our modules as paths from the root. */
export function ownImports({ path, imports }: Pick<Source, 'path' | 'imports'>): string[] {
  return imports.filter((name) => name.startsWith('.')).map((name) => join(dirname(path), name));
}

/** Two folders deep: deeper ones belong to the same module. The files that assemble all features form a separate module. */
export function roomOf(path: string): string {
  if (dirname(path) === 'src/features' && path !== 'src/features/feature.ts') return 'features/every';
  return dirname(path)
    .replace(/^src\//, '')
    .split('/')
    .slice(0, 2)
    .join('/');
}

export function topOf({ room }: Source): string {
  return room.split('/')[0] as string;
}

export function offenders(rule: (source: Source) => string[]): string[] {
  return sources.flatMap((source) => rule(source).map((what) => `${source.path}: ${what}`));
}

export function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
}

/** Returns the feature whose folder has the file, or undefined. */
export function featureOf(path: string): string | undefined {
  return /^src\/features\/([^/]+)\//.exec(path)?.[1];
}
