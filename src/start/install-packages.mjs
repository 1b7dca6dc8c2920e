// Installs the packages of package-lock.json that node_modules lacks.

import { spawn } from 'node:child_process';
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Resolves when node_modules has all packages, including those for development if `withDevelopment` is true. */
export async function installPackages(withDevelopment) {
  if (isStale(withDevelopment)) await installOnce(withDevelopment);
}

/** Returns true if a developer uses this checkout: packages for development stay installed when others change. */
function hasDevelopment() {
  return Object.values(readPackages('node_modules/.package-lock.json')).some(({ dev }) => dev === true);
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
    if (isStale(withDevelopment)) await install(withDevelopment || hasDevelopment());
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

async function install(withDevelopment) {
  say('installing packages');
  // All packages work without their install scripts. npm 11 warns about each skipped script unless it is disabled.
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--include=optional'];
  flags.push(withDevelopment ? '--include=dev' : '--omit=dev');
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

function say(text) {
  process.stderr.write(`zonefleet: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
