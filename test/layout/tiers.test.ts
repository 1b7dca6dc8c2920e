// A test's suffix is its tier. A test may use only what its tier allows (docs/contributing.md).

import { readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, TEST_END, tests } from '../support/tests/sources.ts';

const POSTGRES = /^pg$|\/support\/database\/database\.ts$/;
const OWN_PROCESS = /^node:(child_process|cluster|dgram|net|worker_threads)$/;
const STARTS_PROGRAMS =
  /\/support\/[a-z]+\/(api-process|forked-worker|fresh-clone|nodes|run-cli|supervise|workers-process)\.ts$/;
/** Replaces modules, functions or clocks for all files of the process. */
const REPLACES = /\bvi\.(mock|spyOn|useFakeTimers)\(/;

it('a unit test uses no Postgres, sockets, threads or processes, and replaces nothing', () => {
  expect(offenders(undefined, POSTGRES, OWN_PROCESS, REPLACES)).toEqual([]);
});

it('a postgres test uses no sockets, threads or processes, and replaces nothing', () => {
  expect(offenders('postgres', OWN_PROCESS, REPLACES)).toEqual([]);
});

it('a sockets test does not start a program of Zonefleet', () => {
  expect(offenders('sockets', STARTS_PROGRAMS)).toEqual([]);
});

it('a postgres test uses Postgres', () => {
  const needless = tests.filter(
    (path) => tierOf(path) === 'postgres' && ![...reachedBy(path)].some((name) => POSTGRES.test(name)),
  );
  expect(needless).toEqual([]);
});

function offenders(tier: string | undefined, ...forbidden: readonly RegExp[]): string[] {
  return tests
    .filter((path) => tierOf(path) === tier)
    .flatMap((path) => {
      const used = [...reachedBy(path), ...(read(path).match(REPLACES) ?? [])];
      const found = used.find((name) => forbidden.some((each) => each.test(name)));
      return found === undefined ? [] : [`${path}: ${found}`];
    });
}

function tierOf(path: string): string | undefined {
  return TEST_END.exec(path)?.[1];
}

/** Imports of a test, directly or through the support code that it uses. Type imports load nothing. */
function reachedBy(path: string, seen = new Set<string>()): Set<string> {
  for (const name of importsOf(path)) {
    if (seen.has(name)) continue;
    seen.add(name);
    if (name.startsWith('test/support/')) reachedBy(name, seen);
  }
  return seen;
}

function importsOf(path: string): string[] {
  const clauses = read(path).matchAll(/\b(?:import|export)\s+(?!type\b)([^;'"]*?)\bfrom '([^']+)'/g);
  return [...clauses]
    .filter(([, names = '']) => !/^\{(\s*type \w+(?: as \w+)?,?\s*)+\}\s*$/.test(names))
    .map(([, , name = '']) => (name.startsWith('.') ? normalize(join(dirname(path), name)) : name));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
