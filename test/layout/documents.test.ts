// What documents and comments refer to is there.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesIn, ROOT, TEST_ENDS } from '../support/tests/sources.ts';

describe('the map in the README', () => {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| `([\w/]+)` \| (.+) \|$/gm)].map(([, folder = '', text = '']) => ({
    folder,
    text,
  }));
  const foldersIn = (folder: string) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .sort();

  it('has a row for each folder of sources', () => {
    const folders = [...foldersIn('src').map((name) => `src/${name}`), 'agent', 'workers'];
    expect(rows.map(({ folder }) => folder).sort()).toEqual(folders.sort());
  });

  it.each(rows)('$folder', ({ folder, text }) => {
    const rooms = foldersIn(folder);
    const named = new Set([...text.matchAll(/`([\w-]+)`/g)].map(([, name]) => name as string));
    expect(rooms.filter((name) => !named.has(name))).toEqual([]);
    const files = filesIn(folder).map((path) => basename(path, '.ts'));
    expect([...named].filter((name) => !rooms.includes(name) && !files.includes(name))).toEqual([]);
  });
});

describe('references', () => {
  const texts = [...['src', 'workers', 'agent', 'test', 'bench', 'docs'].flatMap(filesIn), 'README.md']
    .filter((path) => /\.(ts|mts|mjs|md|sql|service)$/.test(path) && path !== 'test/layout/documents.test.ts')
    .map((path) => ({ path, text: joinLines(readFileSync(join(ROOT, path), 'utf8')) }));

  it('do not lead to documents outside the repository', () => {
    const documents = ['.', 'bench', 'docs', 'fixtures'].flatMap((folder) =>
      folder === '.' ? readdirSync(ROOT) : filesIn(folder),
    );
    const known = new Set(documents.map((path) => basename(path)));
    const outside = texts.flatMap(({ path, text }) =>
      (text.match(/\bspec §|\b[\w-]+\.md\b/g) ?? [])
        .filter((cited) => !known.has(cited))
        .map((cited) => `${path}: ${cited}`),
    );
    expect(outside).toEqual([]);
  });

  it('of a document to a file or a folder lead to one', () => {
    const broken = texts
      .filter(({ path }) => path.endsWith('.md'))
      .flatMap(({ path, text }) =>
        [...text.matchAll(/`((?:src|workers|test|bench|fixtures|docs)\/[\w./-]+)`/g)]
          .map(([, named]) => named as string)
          .filter((named) => !['', '.ts', ...TEST_ENDS].some((end) => existsSync(join(ROOT, named + end))))
          .map((named) => `${path}: ${named}`),
      );
    expect(broken).toEqual([]);
  });

  it('to a section of a document name a file and a heading that exist', () => {
    const broken = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/(?<![\w./-])([\w./-]+\.md),? "([^"\n]+)"/g)]
        .filter(([, file, heading]) => !headingsOf(file as string).includes(heading as string))
        .map(([cited]) => `${path}: ${cited}`),
    );
    expect(broken).toEqual([]);
  });
});

/** As one line a paragraph, since a comment's citation may go on in its next line. */
function joinLines(text: string): string {
  return text.replaceAll(/\n[ \t]*(?:\/\/|\*(?!\/))?[ \t]*(?=\S)/g, ' ');
}

function headingsOf(file: string): string[] {
  const path = join(ROOT, file);
  if (!existsSync(path)) return [];
  return [...readFileSync(path, 'utf8').matchAll(/^#+ +(.+)$/gm)].map(([, heading]) => heading as string);
}
