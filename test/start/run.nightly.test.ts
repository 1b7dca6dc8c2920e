// Uses a replacement for npm that records its calls and creates node_modules. No registry is contacted.

import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let root: string;

const NPM = `
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
appendFileSync('npm.calls', process.argv[2] + '\\n');
appendFileSync('npm.flags', process.argv.filter((word) => /=dev$/.test(word)) + '\\n');
const calls = readFileSync('npm.calls', 'utf8').trim().split('\\n').length;
const fault = process.env.NPM_FAULT ?? '';
if (!process.argv.includes('--ignore-scripts')) console.error('npm warn install-scripts 3 packages have install scripts');
if (fault === 'slow') await new Promise((done) => setTimeout(done, 300));
if (fault === 'once' && calls === 1) { console.error('npm error ETIMEDOUT'); process.exit(1); }
if (fault === 'unfit' && process.argv[2] === 'ci') { console.error('npm error code EUSAGE'); process.exit(1); }
mkdirSync('node_modules/tsx/esm', { recursive: true });
writeFileSync('node_modules/tsx/package.json', JSON.stringify({ name: 'tsx', exports: { './esm/api': './esm/api.mjs' } }));
writeFileSync('node_modules/tsx/esm/api.mjs', 'export function register() {}');
cpSync('package-lock.json', 'node_modules/.package-lock.json');
`;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'zf-run-'));
  mkdirSync(join(root, 'src/start'), { recursive: true });
  for (const file of ['run', 'stamp', 'install-packages'].map((name) => `src/start/${name}.mjs`))
    cpSync(join(import.meta.dirname, '../..', file), join(root, file));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  writeFileSync(join(root, 'npm-cli.js'), NPM);
  writeFileSync(
    join(root, 'program.mjs'),
    'console.log("runs", ...process.argv.slice(2)); process.exitCode = Number(process.argv[2] ?? 0);',
  );
  writeLock('4.0.0');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function writeLock(version: string): void {
  const packages = {
    '': {},
    'node_modules/tsx': { version },
    'node_modules/elsewhere': { version: '1.0.0', optional: true },
  };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
}

const environment = (fault: string) => ({
  PATH: process.env.PATH,
  npm_execpath: join(root, 'npm-cli.js'),
  NPM_FAULT: fault,
});

function run(args: string[] = [], fault = '', program = 'program.mjs'): SpawnSyncReturns<string> {
  const words = ['src/start/run.mjs', program, ...args];
  return spawnSync(process.execPath, words, {
    cwd: root,
    env: environment(fault),
    encoding: 'utf8',
    timeout: 30_000,
  });
}

/** The same, concurrently with other events. */
const begin = (fault = '') =>
  spawn(process.execPath, ['src/start/run.mjs', 'program.mjs'], { cwd: root, env: environment(fault) });

function npmCalls(): string[] {
  const file = join(root, 'npm.calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
}

describe('a program', () => {
  it('gets its arguments, and its exit code is kept', () => {
    const { stdout, status } = run(['7', '--flag']);
    expect(stdout).toBe('runs 7 --flag\n');
    expect(status).toBe(7);
  });

  it('gets the signals, because it is the process itself', async () => {
    run();
    writeFileSync(
      join(root, 'program.mjs'),
      'process.on("SIGTERM", () => process.exit(3)); console.log("up"); setInterval(() => {}, 1000);',
    );
    const child = begin();
    const ended = new Promise((done) => child.once('exit', done));
    await new Promise((done) => child.stdout.once('data', done));
    child.kill('SIGTERM');
    expect(await ended).toBe(3);
  });
});

describe.skipIf(process.platform !== 'linux')('too few open files', () => {
  it('are reported in one line before anything is loaded', () => {
    const words = 'ulimit -n 64; exec "$0" src/start/run.mjs program.mjs';
    const { status, stdout, stderr } = spawnSync('sh', ['-c', words, process.execPath], {
      cwd: root,
      env: environment(''),
      encoding: 'utf8',
    });
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^zonefleet: the limit of open files is 64: [^\n]+\n$/);
  });
});

describe('packages', () => {
  it('are installed without warnings about skipped scripts', () => {
    const { stderr, status } = run();
    expect([stderr, status]).toEqual(['zonefleet: installing packages\n', 0]);
  });

  it.each<[string, () => void, string[]]>([
    ['not installed again while they are there', () => {}, ['ci']],
    ['installed again if the lock has another version', () => writeLock('4.0.1'), ['ci', 'ci']],
    [
      'installed again after an interrupted installation, which leaves no record',
      () => rmSync(join(root, 'node_modules/.package-lock.json')),
      ['ci', 'ci'],
    ],
  ])('are %s', (_, change, calls) => {
    expect(run().stdout).toBe('runs\n');
    change();
    expect(run().stdout).toBe('runs\n');
    expect(npmCalls()).toEqual(calls);
  });

  it.each([
    ['requested once more if the registry fails', 'once', ['ci', 'ci']],
    ['chosen by npm only if the lock does not fit package.json', 'unfit', ['ci', 'install']],
  ])('are %s', (_, fault, calls) => {
    expect(run([], fault).stdout).toBe('runs\n');
    expect(npmCalls()).toEqual(calls);
  });

  it('for development are omitted, unless this checkout already has some', () => {
    expect(run().status).toBe(0);
    writeFileSync(
      join(root, 'node_modules/.package-lock.json'),
      JSON.stringify({ packages: { 'node_modules/vitest': { version: '1.0.0', dev: true } } }),
    );
    expect(run().status).toBe(0);
    expect(readFileSync(join(root, 'npm.flags'), 'utf8')).toBe('--omit=dev\n--include=dev\n');
  });

  it('for development are installed for a benchmark', () => {
    mkdirSync(join(root, 'bench'));
    writeFileSync(join(root, 'bench/main.mjs'), '');
    expect(run([], '', 'bench/main.mjs').status).toBe(0);
    expect(readFileSync(join(root, 'npm.flags'), 'utf8')).toBe('--include=dev\n');
  });

  it('are installed once by two concurrent runs', async () => {
    const codes = await Promise.all([1, 2].map(() => new Promise((done) => begin('slow').on('exit', done))));
    expect(codes).toEqual([0, 0]);
    expect(npmCalls()).toEqual(['ci']);
  });

  it('are installed although a killed run has left its lock', () => {
    writeFileSync(join(root, '.npm-install.lock'), '4194305');
    expect(run().stdout).toBe('runs\n');
    expect(existsSync(join(root, '.npm-install.lock'))).toBe(false);
  });
});
