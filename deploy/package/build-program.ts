// Builds the files that all packages share: the compiled programs, the files that they read, and the console.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { compileForPackage } from '../../src/start/compile.mjs';
import type { Build } from './build.ts';

/** Programs that start others. Everything else in `src` that is not TypeScript is data. */
const LAUNCHERS = [
  'src/cli/zonefleet.mjs',
  'src/cli/programs.mjs',
  'src/start/run.mjs',
  'src/start/stamp.mjs',
  'src/start/archive.mjs',
];
const DATA = /^(?!start\/).*\.(sql|txt|root|anchors)$/;
/** Packages that only translate TypeScript. */
const TRANSLATORS = ['esbuild', 'tsx'];

interface Manifest {
  readonly [field: string]: unknown;
  readonly dependencies: Readonly<Record<string, string>>;
}

/** Replaces `folder` by the files of a package, without its npm packages. */
export async function buildProgram(root: string, folder: string, build: Build): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await compileForPackage(root, join(folder, 'compiled'));
  const data = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    DATA.test(path),
  );
  for (const path of [...LAUNCHERS, ...data.map((name) => join('src', name)), 'LICENSE'])
    copy(root, folder, path);
  buildConsole(root, join(folder, 'console/dist'));
  writeJson(join(folder, 'package.json'), packageManifest(root, build));
  writeJson(join(folder, 'build.json'), { version: build.version, commit: build.commit });
}

function copy(root: string, folder: string, path: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  cpSync(join(root, path), join(folder, path));
}

function buildConsole(root: string, folder: string): void {
  const cwd = join(root, 'console');
  if (!existsSync(join(cwd, 'node_modules/vite')))
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], {
      cwd,
      stdio: ['ignore', 2, 2],
    });
  const vite = join(cwd, 'node_modules/vite/bin/vite.js');
  execFileSync(process.execPath, [vite, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'warn'], {
    cwd,
    stdio: ['ignore', 2, 2],
    env: { ...process.env, NODE_ENV: 'production' },
  });
}

/** The package is meant to be installed, so it is not private and has no scripts. */
function packageManifest(root: string, { version }: Build): Manifest {
  const { name, description, license, type, engines, bin, dependencies } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  ) as Manifest;
  const needed = Object.entries(dependencies).filter(([each]) => !TRANSLATORS.includes(each));
  return {
    name,
    version,
    description,
    license,
    type,
    engines,
    bin,
    dependencies: Object.fromEntries(needed),
  };
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
