// The version and the commit that processes report.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { parseBuild, printBuild, readBuild } from '../../src/process/build.ts';

const COMMIT = '5245abc7a1b2c3d4e5f60718293a4b5c6d7e8f90';
const SHOWN = '5245abc7a1b2';
const BRANCH = 'ref: refs/heads/main\n';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'build-'));
  write('package.json', '{ "version": "1.2.3" }');
});
afterEach(() => rmSync(root, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function commitWith(files: Readonly<Record<string, string>>): string | undefined {
  for (const [path, text] of Object.entries(files)) write(path, text);
  return readBuild(root).commit;
}

it('has the version of package.json', () => {
  expect(readBuild(root)).toEqual({ version: '1.2.3', commit: undefined });
});

it('has the commit of build.json, which takes precedence over .git', () => {
  expect(commitWith({ 'build.json': JSON.stringify({ version: '1.2.3', commit: COMMIT }) })).toBe(SHOWN);
  expect(commitWith({ '.git/HEAD': `${'0'.repeat(40)}\n` })).toBe(SHOWN);
});

it.each([
  ['a detached HEAD', { '.git/HEAD': `${COMMIT}\n` }],
  ['a branch', { '.git/HEAD': BRANCH, '.git/refs/heads/main': `${COMMIT}\n` }],
  [
    'a packed branch',
    { '.git/HEAD': BRANCH, '.git/packed-refs': `# pack-refs\n${COMMIT} refs/heads/main\n` },
  ],
  [
    'a linked worktree',
    {
      '.git': 'gitdir: clone/.git/worktrees/old\n',
      'clone/.git/worktrees/old/HEAD': BRANCH,
      'clone/.git/worktrees/old/commondir': '../..\n',
      'clone/.git/refs/heads/main': `${COMMIT}\n`,
    },
  ],
  ['hashes of SHA-256', { '.git/HEAD': `${COMMIT}${COMMIT.slice(0, 24)}\n` }],
])('has the commit of a clone with %s', (_what, files) => {
  expect(commitWith(files)).toBe(SHOWN);
});

it.each([
  ['a branch without a commit', { '.git/HEAD': BRANCH }],
  ['a HEAD of another format', { '.git/HEAD': 'ref: refs/heads/.invalid\n' }],
  ['a commit that is not a hash', { 'build.json': '{ "commit": "main" }' }],
])('has no commit with %s', (_what, files) => {
  expect(commitWith(files)).toBeUndefined();
});

it('prints the commit as build metadata, and parses it again', () => {
  for (const build of [
    { version: '1.2.3', commit: SHOWN },
    { version: '1.2.3', commit: undefined },
  ])
    expect(parseBuild(printBuild(build))).toEqual(build);
  expect(printBuild({ version: '1.2.3', commit: SHOWN })).toBe(`1.2.3+${SHOWN}`);
});
