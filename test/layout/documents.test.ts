// Checks that targets of references in documents and comments exist.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { QueryCounters } from '../../src/nameserver/answer/query-counters.ts';
import { createMetrics } from '../../src/nameserver/metrics/metrics.ts';
import { filesIn, ROOT, TEST_ENDS } from '../support/tests/sources.ts';

it('docs/architecture.md lists every source folder', () => {
  const text = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `([\w/-]+)` \| .+ \|$/gm)].map(([, folder]) => folder as string);
  const below = (folder: string) =>
    readdirSync(join(ROOT, folder), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${folder}/${name}`);
  const folders = [...below('src'), 'agent', 'workers', ...below('src/features')];
  expect(rows.sort()).toEqual(folders.sort());
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

  it('from a document to a file or folder lead to an existing one', () => {
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

  it('to a section of a document name an existing file and heading', () => {
    const broken = texts.flatMap(({ path, text }) =>
      [...text.matchAll(/(?<![\w./-])([\w./-]+\.md),? "([^"\n]+)"/g)]
        .filter(([, file, heading]) => !headingsOf(file as string).includes(heading as string))
        .map(([cited]) => `${path}: ${cited}`),
    );
    expect(broken).toEqual([]);
  });
});

it('the metrics that documents name exist, and those of nodes have the documented labels', () => {
  const read = (paths: string[]) => paths.map((path) => readFileSync(join(ROOT, path), 'utf8')).join('\n');
  const code = read(['src', 'workers'].flatMap(filesIn).filter((path) => path.endsWith('.ts')));
  const documented = read(filesIn('docs').filter((path) => path.endsWith('.md'))).matchAll(
    /\b(zonefleet_[a-z][a-z0-9_]*?)(?:_bucket|_sum|_count)?\b(?:\{([^}]*)\})?/g,
  );
  const registry = createMetrics(() => new QueryCounters(), {} as Parameters<typeof createMetrics>[1]);
  const wrong = [...documented].flatMap(([cited, name = '', labels = '']) => {
    if (!new RegExp(`['"\`]${name}['"\`]`).test(code)) return [cited];
    const ofNode = registry.getSingleMetric(name) as { labelNames?: readonly string[] } | undefined;
    const known = ofNode?.labelNames; // undefined for histograms, whose labels are not declared
    const named = labels === '' ? [] : labels.split(',').map((label) => label.replace(/=.*/, ''));
    return known === undefined || named.every((label) => known.includes(label)) ? [] : [cited];
  });
  expect(wrong).toEqual([]);
});

/** Joins each paragraph to one line, because a comment's citation may continue on its next line. */
function joinLines(text: string): string {
  return text.replaceAll(/\n[ \t]*(?:\/\/|\*(?!\/))?[ \t]*(?=\S)/g, ' ');
}

function headingsOf(file: string): string[] {
  const path = join(ROOT, file);
  if (!existsSync(path)) return [];
  return [...readFileSync(path, 'utf8').matchAll(/^#+ +(.+)$/gm)].map(([, heading]) => heading as string);
}
