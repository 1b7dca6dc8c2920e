// Programs are compiled once per version of their sources, and later starts find the result.

import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compile } from '../../src/start/compile.mjs';
import { findCompiled } from '../../src/start/stamp.mjs';

const REPOSITORY = resolve(import.meta.dirname, '../..');
const PROGRAM = 'src/api/main.ts';

let root: string;
let said: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'zf-compile-'));
  said = [];
  for (const folder of ['src/api', 'workers', 'node_modules'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const name of ['esbuild', '@esbuild', 'tsx'])
    symlinkSync(join(REPOSITORY, 'node_modules', name), join(root, 'node_modules', name));
  for (const file of [
    'process/compiled.ts',
    'process/start-thread.ts',
    'process/thread.mjs',
    'start/compile.mjs',
    'start/stamp.mjs',
    'start/archive.mjs',
  ])
    cpSync(join(REPOSITORY, 'src', file), join(root, 'src', file), { recursive: true });
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  writeFileSync(
    join(root, PROGRAM),
    `import { startThread } from '../process/start-thread.ts';
     const told: string = 'main at ' + import.meta.url;
     console.log(told);
     startThread('x', new URL('./some-thread.ts', import.meta.url), { given: 7 });`,
  );
  writeFileSync(
    join(root, 'src/api/some-thread.ts'),
    `import { workerData } from 'node:worker_threads';
     console.log('thread got ' + (workerData as { given: number }).given);
     if (process.env.FAIL) throw new Error('on purpose');`,
  );
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function make(program = PROGRAM): Promise<string | undefined> {
  return compile(root, program, {
    dataDirectory: join(root, 'data'),
    say: (text: string) => said.push(text),
  });
}

function run(file: string, env = {}) {
  return spawnSync(process.execPath, ['--enable-source-maps', file], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
}

it('a compiled program runs with its threads, finds files relative to its source, and its stack traces name the source', async () => {
  const file = (await make()) as string;
  expect(relative(root, file)).toMatch(
    /^node_modules\/.cache\/zonefleet\/[0-9a-f]{24}\/src\/api\/main\.mjs$/,
  );
  const { stdout } = run(file);
  expect(stdout).toContain(`main at file://${root}/src/api/main.ts`);
  expect(stdout).toContain('thread got 7');
  expect(run(file, { FAIL: '1' }).stderr).toMatch(/some-thread\.ts:3/);
  expect(statSync(file).mode & 0o777).toBe(0o644);
});

it('the next start finds it, and a start with other sources compiles again', async () => {
  const first = (await make()) as string;
  const made = statSync(first).ctimeMs;
  expect(await make()).toBe(first);
  expect(statSync(first).ctimeMs).toBe(made);
  expect(await make(join(root, PROGRAM))).toBe(first);
  expect(await make(`./${PROGRAM}`)).toBe(first);
  writeFileSync(join(root, 'src/api/some-thread.ts'), 'export {};');
  expect(await make()).not.toBe(first);
  expect(existsSync(first)).toBe(true);
});

it('a start that reads no source finds it, unless a source or a lock file has changed or others may write to it', async () => {
  const find = () => findCompiled(root, PROGRAM, join(root, 'data'));
  const changes = ['src/api/some-thread.ts', 'package-lock.json', 'node_modules/.package-lock.json'];
  for (const changed of changes) {
    await make();
    expect(find()).toBeUndefined(); // files have just been written
    await pause(2100);
    const file = (await make()) as string;
    expect(find()).toBe(file);
    writeFileSync(join(root, changed), `// ${changed}`);
    expect(find()).toBeUndefined();
  }
  await pause(2100);
  expect(find()).toBeUndefined();
  await make();
  expect(find()).toBeDefined();
  chmodSync(join(root, 'node_modules/.cache/zonefleet'), 0o777);
  expect(find()).toBeUndefined();
});

it('two concurrent starts both have it, and leave nothing unfinished', async () => {
  expect(new Set(await Promise.all([make(), make()])).size).toBe(1);
  expect(readdirSync(join(root, 'node_modules/.cache/zonefleet'))).toHaveLength(1);
});

it('it is stored in DATA_DIR if node_modules is not writable, and the source runs if nothing is', async () => {
  writeFileSync(join(root, 'node_modules/.cache'), 'no directory');
  const file = (await make()) as string;
  expect(relative(root, file)).toMatch(/^data\/compiled\//);
  rmSync(join(root, 'data'), { recursive: true });
  writeFileSync(join(root, 'data'), 'no directory either');
  expect(await make()).toBeUndefined();
  expect(said).toEqual([expect.stringContaining('cannot compile')]);
});

it('code that others may write to is not run, and tests, tools and foreign programs are not compiled', async () => {
  chmodSync(resolve((await make()) as string, '../../..'), 0o777);
  expect(await make()).toMatch(/data\/compiled/);
  const options = { dataDirectory: root, say: (text: string) => said.push(text) };
  expect(await compile(root, 'program.mjs', options)).toBeUndefined();
  expect(await compile(root, 'src/process/start-thread.ts', options)).toBeUndefined();
  mkdirSync(join(root, 'bench'));
  writeFileSync(join(root, 'bench/main.ts'), '');
  for (const program of ['src/none/main.ts', 'bench/main.ts'])
    expect(await compile(root, program, options)).toBeUndefined();
  expect(said).toEqual([]);
});

it('a code cache of commands that is missing or damaged is not used, and written again', async () => {
  mkdirSync(join(root, 'src/cli'));
  writeFileSync(join(root, 'src/cli/main.ts'), "void import('./say.ts').then(({ say }) => say('ran'));");
  writeFileSync(
    join(root, 'src/cli/say.ts'),
    'export function say(text) { console.log(text); process.exitCode = 0; }',
  );
  const file = (await make('src/cli/main.ts')) as string;
  const archive = JSON.stringify(join(REPOSITORY, 'src/start/archive.mjs'));
  const start = `import(${archive}).then(({ runArchive }) => runArchive(${JSON.stringify(file)}, ['--help']))`;
  const runArchived = () => spawnSync(process.execPath, ['-e', start], { encoding: 'utf8' });
  const [common, cache] = ['archive.cache', 'archive.help.cache'].map((end) => file.replace(/mjs$/, end));
  rmSync(common as string);
  expect(runArchived()).toMatchObject({ stdout: 'ran\n', status: 0 });
  const stored = readFileSync(cache as string);
  const middle = stored.length >> 1;
  const changed = Buffer.concat([
    stored.subarray(0, middle),
    Buffer.alloc(64, 0xff),
    stored.subarray(middle + 64),
  ]);
  for (const damaged of [changed, stored.subarray(0, middle), Buffer.alloc(0)]) {
    writeFileSync(cache as string, damaged);
    expect(runArchived()).toMatchObject({ stdout: 'ran\n', status: 0 });
    expect(readFileSync(cache as string)).not.toEqual(damaged);
  }
});
