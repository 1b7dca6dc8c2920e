// Writes and runs the archive of the commands: one script with all modules of the CLI, and its V8 code cache. Importing sixty
// small modules, and translating them at each start, takes longer than the start of Node.js.

import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { constants, Script } from 'node:vm';
import { crc32 } from 'node:zlib';
import { PACKAGED } from './stamp.mjs';

const SCRIPT = '.archive.js';
const CACHE = '.archive.cache';
const CHECKSUM_OCTETS = 4;
const CHUNK = /\bimport\("[./\w-]*\/(\w+)\.mjs"\)/g;

/** Writes the archive of a compiled program next to it. `chunks` is the folder of its shared modules. */
export async function writeArchive(esbuild, program, { chunks, banner, isPackage }) {
  const files = [program, ...readdirSync(chunks).map((name) => join(chunks, name))];
  const modules = files
    .filter((file) => file.endsWith('.mjs'))
    .map(async (file) => {
      const text = readFileSync(file, 'utf8').replace(banner, '');
      const { code } = await esbuild.transform(
        text.replace(CHUNK, 'Promise.resolve().then(() => require("$1.mjs"))'),
        {
          sourcefile: file, // so that packages are imported as Node.js does
          format: 'cjs',
          platform: 'node',
          target: 'node20.19',
          minifyWhitespace: true,
          legalComments: 'none',
          logLevel: 'silent',
        },
      );
      return `${JSON.stringify(basename(file))}:function(exports,require,module){${code}}`;
    });
  // Latin-1 is read without decoding.
  const text = `({${(await Promise.all(modules)).join(',\n')}})`.replace(/[^\0-\x7f]/g, escapeCharacter);
  const file = program.replace(/\.mjs$/, SCRIPT);
  writeFileSync(file, text);
  if (isPackage) return; // the cache differs in each build
  writeFileSync(
    program.replace(/\.mjs$/, CACHE),
    withChecksum(new Script(text, { filename: file }).createCachedData()),
  );
}

function escapeCharacter(character) {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Runs a compiled program from its archive. The first successful run of a command stores its translated functions. In a
 * package, whose files do not change, `packageRoot` is its folder. Returns false if the program has no archive.
 */
export function runArchive(program, args, packageRoot) {
  const file = program.replace(/\.mjs$/, SCRIPT);
  if (!existsSync(file)) return false;
  const cache = program.replace(/\.mjs$/, CACHE);
  const [command = ''] = args;
  const isHelp = !/^[a-z]+$/.test(command) || args.some((arg) => /^(-h|--help|--version)$/.test(arg));
  const cacheOfCommand = cache.replace(/cache$/, `${isHelp ? 'help' : command}.cache`);
  const ofCommand = readCache(cacheOfCommand);
  const script = new Script(readFileSync(file, 'latin1'), {
    filename: file,
    cachedData: ofCommand ?? readCache(cache),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // Unknown commands exit with 2 unless they request help, so the number of caches is at most that of the commands.
  const isCommand = () => process.exitCode === 0 || process.exitCode === 1;
  if (packageRoot !== undefined) {
    globalThis.zonefleetRoot = pathToFileURL(join(packageRoot, sep)).href;
    globalThis.zonefleetCompiled = join(packageRoot, PACKAGED);
  } else if (ofCommand === undefined && !script.cachedDataRejected)
    process.once('exit', () => isCommand() && keepCache(cacheOfCommand, script.createCachedData()));
  const functions = script.runInThisContext();
  const requirePackage = createRequire(file);
  const loaded = new Map();
  const load = (id) => {
    const name = id.slice(id.lastIndexOf('/') + 1);
    if (!Object.hasOwn(functions, name)) return requirePackage(id);
    const known = loaded.get(name);
    if (known !== undefined) return known.exports;
    const module = { exports: {} };
    loaded.set(name, module);
    functions[name](module.exports, load, module);
    return module.exports;
  };
  load(basename(program));
  return true;
}

/** Node.js does not check the data that it runs: a damaged file would end the process. */
function withChecksum(data) {
  const checksum = Buffer.alloc(CHECKSUM_OCTETS);
  checksum.writeUInt32LE(crc32(data));
  return Buffer.concat([data, checksum]);
}

/** Returns undefined if the file does not exist or is damaged. */
function readCache(file) {
  try {
    const bytes = readFileSync(file);
    const data = bytes.subarray(0, -CHECKSUM_OCTETS);
    return bytes.readUInt32LE(data.length) === crc32(data) ? data : undefined;
  } catch {
    return undefined;
  }
}

/** Does nothing if the user may not write to the directory. */
function keepCache(file, data) {
  const unfinished = `${file}.${process.pid}`;
  try {
    writeFileSync(unfinished, withChecksum(data), { mode: 0o644 });
    renameSync(unfinished, file);
  } catch {
    // the next run translates the functions again
  }
}
