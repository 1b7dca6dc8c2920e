// Installs the packages of package-lock.json that node_modules lacks, then runs the given program, a TypeScript file or
// vitest, in this process, so that signals and the exit code are the program's own.
//   node src/start/run.mjs src/nameserver/main.ts [ARGUMENT…]
//   node src/start/run.mjs vitest run [--prove] [ARGUMENT…]

import { spawn } from 'node:child_process';
import { linkSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [program, ...args] = process.argv.slice(2);
if (program === undefined) fail('usage: node src/start/run.mjs PROGRAM [ARGUMENT…]');
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  fail(`Node ${process.versions.node} is too old: 20.19 or newer is required, 24 is recommended`);
}
const files = openFileLimit();
if (files < 256)
  fail(`the limit of open files is ${files}: at least 256 are required, 4096 are recommended (ulimit -n)`);

endWithNpm();
const isTest = program === 'vitest';
if (isStale(isTest)) await installOnce(isTest);
if (isTest) {
  await becomeVitest(args);
} else {
  await becomeProgram(args);
}

/** Known only on Linux. With too few files, a program would end in the middle of its imports with a stack trace. */
function openFileLimit() {
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

/**
 * npm forwards signals, but a killed npm cannot. Without this check, we would continue unnoticed and keep ports and the
 * database.
 */
function endWithNpm() {
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 100);
  watch.unref();
}

/** Returns the root of the code. A process that drops root privileges must still be able to read code for later threads. */
async function placeOfCode() {
  const wanted = process.env.RUN_AS?.trim() || undefined;
  const givesUp = process.getuid?.() === 0 && !/^(off|root|0)$/i.test(wanted ?? '');
  if (!givesUp || !/(nameserver|api|workers|start)\/main\.ts$/.test(program) || isOpenToAll()) return root;
  (await import('tsx/esm/api')).register();
  const { chooseUser, loadAccounts } = await import('../process/run-as.ts');
  const { placeProgram } = await import('./place-program.ts');
  try {
    return placeProgram(resolve(root), chooseUser(wanted, loadAccounts()));
  } catch (error) {
    fail(error.message);
  }
}

/** True if everyone may read the checkout, which is usual and needs no further checks. */
function isOpenToAll() {
  for (let at = resolve(root); ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false;
    if (dirname(at) === at) break;
  }
  const some = ['package.json', 'src/process/thread.mjs', 'node_modules/koffi/package.json'];
  return some.every((file) => (statSync(join(root, file)).mode & 0o004) !== 0);
}

/** Compares the lock file with npm's record of what it installed. An interrupted installation leaves no record. */
function isStale(withDevelopment) {
  const wanted = readPackages('package-lock.json');
  const installed = readPackages('node_modules/.package-lock.json');
  return Object.entries(wanted).some(([path, entry]) => {
    if (!path.startsWith('node_modules/') || (entry.dev && !withDevelopment)) return false;
    const there = installed[path];
    return there === undefined ? !entry.optional : there.version !== entry.version;
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  } catch {
    return {};
  }
}

/** One installation at a time: others wait for it and then check again. */
async function installOnce(withDevelopment) {
  const lock = join(root, '.npm-install.lock');
  const mine = `${lock}.${process.pid}`;
  for (let waited = 0; ; waited++) {
    if (claim(lock, mine)) break;
    if (waited === 0) say('waiting for another npm install');
    await pause(500);
    if (!isStale(withDevelopment)) return;
  }
  try {
    if (isStale(withDevelopment)) await install();
  } finally {
    rmSync(lock, { force: true });
  }
}

function claim(lock, mine) {
  writeFileSync(mine, String(process.pid));
  try {
    linkSync(mine, lock); // atomic, and never overwrites another's
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!isAlive(lock)) rmSync(lock, { force: true });
    return false;
  } finally {
    rmSync(mine, { force: true });
  }
}

function isAlive(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')), 0);
    return Date.now() - statSync(lock).mtimeMs < 3_600_000;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

async function install() {
  say('installing packages');
  // All packages work without their install scripts. npm 11 warns about each skipped script unless it is disabled.
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--include=dev', '--include=optional'];
  for (let attempt = 1; ; attempt++) {
    const { code, output } = await npm(['ci', ...flags]);
    if (code === 0) return;
    // npm ci rejects a lock file that does not match package.json. Only then may npm choose versions.
    const lockUnfit = output.includes('EUSAGE');
    if (lockUnfit && (await npm(['install', ...flags])).code === 0) return;
    if (lockUnfit || attempt === 3) fail('npm could not install the packages; see its messages above');
    say(`npm failed; trying again in ${attempt * 2} s`);
    await pause(attempt * 2000);
  }
}

/** Uses the npm that started us, if there is one. */
function npm(words) {
  const [command, ...first] = process.env.npm_execpath?.endsWith('npm-cli.js')
    ? [process.execPath, process.env.npm_execpath]
    : ['npm'];
  const settings = {
    npm_config_fetch_timeout: '120000',
    npm_config_fetch_retries: '3',
    npm_config_fetch_retry_factor: '4',
    npm_config_fetch_retry_mintimeout: '1000',
  };
  const child = spawn(command, [...first, ...words], {
    cwd: root,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 2, 'pipe'],
  });
  const forward = (signal) => child.kill(signal);
  process.on('SIGTERM', forward).on('SIGINT', forward);
  return new Promise((done) => {
    let output = '';
    child.on('error', (error) => done({ code: 1, output: error.message }));
    child.stderr.on('data', (text) => {
      output += text;
      process.stderr.write(text);
    });
    child.on('close', (code, signal) => {
      process.off('SIGTERM', forward).off('SIGINT', forward);
      if (signal === 'SIGTERM' || signal === 'SIGINT') fail('stopped while installing');
      done({ code, output });
    });
  });
}

/** Runs the compiled program if possible, because it starts in a fraction of the time. */
async function becomeProgram(rest) {
  const code = await placeOfCode();
  process.argv = [process.argv[0], resolve(code, program), ...rest];
  const dataDirectory = resolve(process.env.DATA_DIR || join(root, 'data'));
  const isSource = program.endsWith('.ts');
  const compiled = isSource
    ? await (await import('./compile.mjs')).compile(code, program, { dataDirectory, say })
    : undefined;
  if (compiled === undefined) (await import('tsx/esm/api')).register();
  else process.setSourceMapsEnabled(true);
  await import(pathToFileURL(compiled ?? resolve(code, program)).href);
}

/** Returns the tests that do more with --prove: they check for the scale or for installed packages. */
function longTests() {
  const files = readdirSync(join(root, 'test'), { recursive: true }).filter((path) =>
    path.endsWith('.test.ts'),
  );
  return files
    .map((path) => join('test', path))
    .filter((path) => /\/scale\.ts'|ZONEFLEET_PROVE/.test(readFileSync(join(root, path), 'utf8')));
}

async function becomeVitest([command, ...rest]) {
  const proves = rest[0] === '--prove';
  if (proves) process.env.ZONEFLEET_PROVE = '1';
  const [name, ...others] = rest.slice(1);
  const filters = !proves ? rest : name === undefined ? longTests() : [`/${name}`, ...others];
  process.chdir(root);
  process.argv = [process.argv[0], join(root, 'node_modules/vitest/vitest.mjs'), command, ...filters];
  await import(pathToFileURL(process.argv[1]).href);
}

function say(text) {
  process.stderr.write(`zonefleet: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
