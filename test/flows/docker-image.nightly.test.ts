// The image can be built: the files that the Dockerfile copies exist, and reach the builder.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

/** Returns the paths that `COPY` takes from the build context, without those of earlier stages. */
function copiedSources(dockerfile: string): string[] {
  const lines = dockerfile.replaceAll(/\\\n/g, ' ').split('\n');
  return lines
    .filter((line) => /^COPY\s/i.test(line) && !/\s--from=/.test(line))
    .flatMap((line) => line.trim().split(/\s+/).slice(1, -1))
    .filter((word) => !word.startsWith('--'));
}

/**
 * Decides as the builder does: the last pattern that matches a path or a parent folder applies, and `!` includes it.
 */
function isLetThrough(path: string, ignore: string): boolean {
  const parts = path.replace(/^\.?\//, '').split('/');
  const above = parts.map((_, index) => parts.slice(0, index + 1).join('/'));
  let through = true;
  for (const line of ignore.split('\n').map((text) => text.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const pattern = shape(line.replace(/^!/, '').replace(/^\/|\/$/g, ''));
    if (above.some((part) => pattern.test(part))) through = line.startsWith('!');
  }
  return through;
}

/** `*` and `?` do not match a slash, `**` does. */
function shape(pattern: string): RegExp {
  const parts = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' } as Record<string, string>;
  const text = pattern.replaceAll(
    /\*\*\/|\*\*|\*|\?|[.+^${}()|[\]\\]/g,
    (found) => parts[found] ?? `\\${found}`,
  );
  return new RegExp(`^${text}$`);
}

describe('.dockerignore', () => {
  it('includes everything that the Dockerfile copies', () => {
    const sources = copiedSources(read('Dockerfile'));
    expect(sources).toEqual(expect.arrayContaining(['package-lock.json', 'src', 'workers']));
    expect(sources.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    expect(sources.filter((path) => !isLetThrough(path, read('.dockerignore')))).toEqual([]);
  });

  it('excludes secrets, the history and the packages of this machine', () => {
    const kept = ['.env', '.git/config', 'data/npm-start.json', 'node_modules/koffi/package.json'];
    expect(kept.filter((path) => isLetThrough(path, read('.dockerignore')))).toEqual([]);
  });
});
