// File names, the number of files per folder, and the location of tests.

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  filesIn,
  offenders,
  ROOT,
  sources,
  TEST_END,
  tests,
  withoutComments,
} from '../support/tests/sources.ts';

describe('files', () => {
  it('begin with a comment that describes them', () => {
    const bare = sources.filter(({ text }) => !/^(#!.*\n)?\/\/ \S/.test(text));
    expect(bare.map(({ path }) => path)).toEqual([]);
  });

  it('are at most 25 in a folder, except record types, which are a list', () => {
    const sizes = new Map<string, number>();
    for (const path of ['src', 'workers', 'test', 'bench'].flatMap(filesIn)) {
      if (/\.(ts|mts|mjs)$/.test(path)) sizes.set(dirname(path), (sizes.get(dirname(path)) ?? 0) + 1);
    }
    const full = [...sizes].filter(([folder, files]) => files > 25 && !folder.endsWith('dns/record/types'));
    expect(full).toEqual([]);
  });

  it('have descriptive kebab-case names', () => {
    const names = [
      ...sources.map(({ path }) => path),
      ...filesIn('test').filter((path) => path.endsWith('.ts')),
    ];
    const empty = /(^|-)(utils?|helpers?|manager|service|handler|data|info)$/; // the last word is the noun
    const bad = names.filter((path) => {
      const name = basename(path)
        .replace(TEST_END, '')
        .replace(/(\.d)?\.(ts|mjs)$/, '');
      return !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || empty.test(name);
    });
    expect(bad).toEqual([]);
  });

  it('read the environment only where a process begins', () => {
    const allowed = /(\/main\.ts|\.mjs)$/;
    expect(
      offenders(({ path, text }) =>
        allowed.test(path) ? [] : (withoutComments(text).match(/process\.env\b/g) ?? []),
      ),
    ).toEqual([]);
  });
});

describe('tests', () => {
  it('mirror the sources by file or by folder', () => {
    const strays = tests.filter((path) => {
      if (/^test\/(flows|proofs|mutants|support|layout|tables)\//.test(path)) return false;
      if (
        existsSync(join(ROOT, dirname(path).replace(/^test\/features\/(\w+)$/, 'src/features/$1/feature.ts')))
      )
        return false;
      const stem = path.replace(/^test\//, '').replace(TEST_END, '');
      const console = stem.replace(/^console\//, 'console/src/');
      return ![
        `src/${stem}.ts`,
        `src/${stem}.mjs`,
        `src/${stem}`,
        `${stem}.ts`,
        stem,
        `${console}.ts`,
        console,
      ].some((source) => existsSync(join(ROOT, source)));
    });
    expect(strays).toEqual([]);
  });

  it("do not measure the speed of the machine, which is the benchmark's task", () => {
    const timed =
      /expect\((?:[^;]*performance\.now\(\)|\w*(?:elapsed|duration|took)\w*\)|\w+Ms\)\.toBeLess)/gi;
    const found = tests.flatMap((path) =>
      (readFileSync(join(ROOT, path), 'utf8').match(timed) ?? []).map((text) => `${path}: ${text}`),
    );
    expect(found).toEqual([]);
  });
});
