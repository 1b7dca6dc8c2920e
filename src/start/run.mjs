// Installs the packages of package-lock.json that node_modules lacks, then runs the given program, a TypeScript file or
// vitest, in this process, so that signals and the exit code are the program's own.
//   node src/start/run.mjs src/nameserver/main.ts [ARGUMENT…]
//   node src/start/run.mjs vitest run [--prove] [ARGUMENT…]

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
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
// Node.js 21 and newer define `navigator`. Without it, `pg` checks for the class Response, which loads Node's HTTP client and
// takes 15 ms of processor time.
globalThis.navigator ??= { userAgent: `Node.js/${major}` };
const isTest = program === 'vitest';
const isForDevelopers = isTest || /^(bench|test)\//.test(program);
const dataDirectory = resolve(process.env.DATA_DIR || join(root, 'data'));
const isSource = program.endsWith('.ts');
const isCommand = program === 'src/cli/main.ts';
/** Commands only print stacks that name the source if this is true, because their archive has no source maps. */
const printsStacks = process.env.ZONEFLEET_STACK === '1';
const stamp = await import('./stamp.mjs');
const isPackage = stamp.isPackage(root);
const found = isSource ? stamp.findCompiled(root, program, dataDirectory) : undefined;
if (found === undefined) {
  const { installPackages } = await import('./install-packages.mjs');
  await installPackages(isForDevelopers);
}
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
  if (isPackage)
    fail(`RUN_AS: other users cannot read ${root}: install the package where everyone can read it`);
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
  if (isPackage) return true; // npm and dpkg make all files readable
  const some = ['package.json', 'src/process/thread.mjs', 'node_modules/koffi/package.json'];
  return some.every((file) => (statSync(join(root, file)).mode & 0o004) !== 0);
}

/** Runs the compiled program if possible, because it starts in a fraction of the time. */
async function becomeProgram(rest) {
  const code = await placeOfCode();
  process.argv = [process.argv[0], resolve(code, program), ...rest];
  const compiled = code === root && found !== undefined ? found : await compileIn(code);
  if (compiled === undefined) (await import('tsx/esm/api')).register();
  else if (!isCommand || printsStacks) process.setSourceMapsEnabled(true);
  else if ((await import('./archive.mjs')).runArchive(compiled, rest, isPackage ? root : undefined)) return;
  await import(pathToFileURL(compiled ?? resolve(code, program)).href);
}

/** Returns undefined if the program runs from its source. */
async function compileIn(code) {
  if (!isSource) return undefined;
  const { compile } = await import('./compile.mjs');
  return await compile(code, program, { dataDirectory, say });
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
  const isWhole = rest.includes('whole');
  if (isWhole) process.env.ZONEFLEET_TEST_WHOLE = '1';
  if (isWhole || rest.includes('sockets')) {
    const { compile } = await import('./compile.mjs');
    const thread = 'src/nameserver/udp/udp-thread.ts';
    const compiled = await compile(root, thread, { dataDirectory, say });
    if (compiled !== undefined) process.env.ZONEFLEET_TEST_COMPILED = resolve(compiled, '../../../..');
  }
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
