// @ts-check
// Takes what nginx has cached of a domain away: the files whose key is about it. nginx looks for a file that is gone once, and asks
// the origin.

import { open, opendir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** @typedef {import('../src/features/cache/rules.ts').PurgeTarget} PurgeTarget */

/** A file of nginx's cache, and not one that it is writing. */
export const CACHED = /^[0-9a-f]{32}$/;
/** The key stands behind some numbers. Its longest parts are a path and a query, which nginx bounds. */
const HEAD_BYTES = 32 * 1024;
const KEY = '\nKEY: ';

/**
 * @param {string} state
 * @param {number} domainId
 */
export function cacheFolder(state, domainId) {
  return join(state, 'cache', `zf_${domainId}_cache`);
}

/**
 * A key has no query where a rule leaves it out, and only some of it where a rule lists parameters: a URL takes all of its path
 * along, which is more than was asked for, and never less.
 * @param {string} folder of one domain
 * @param {PurgeTarget} target
 * @returns {Promise<number>} how many files went
 */
export async function purgeCache(folder, target) {
  if (target.kind === 'stored') return await purgeFile(folder, target.store_path);
  let gone = 0;
  for await (const file of filesIn(folder)) {
    if (target.kind !== 'all' && !(await isAbout(file, target))) continue;
    await rm(file, { force: true });
    gone++;
  }
  return gone;
}

/** A store path is that of the file in its domain's cache. */
const STORE_PATH = /^(?:[0-9a-f]{1,2}\/){0,3}[0-9a-f]{32}$/;

/** @param {string} folder @param {string} path as a customer said it */
async function purgeFile(folder, path) {
  if (!STORE_PATH.test(path)) return 0;
  await rm(join(folder, path), { force: true });
  return 1;
}

/**
 * Domains that this edge serves no more are not told to it when they are purged: what it has of them goes.
 * @param {string} state
 * @param {ReadonlySet<number>} served their ids
 */
export async function dropFormerCaches(state, served) {
  for (const name of (await readdir(join(state, 'cache')).catch(nothingIfGone)) ?? []) {
    const id = /^zf_([1-9][0-9]*)_cache$/.exec(name)?.[1];
    if (id !== undefined && !served.has(Number(id)))
      await purgeCache(cacheFolder(state, Number(id)), { kind: 'all' });
  }
}

/**
 * @param {string} folder
 * @returns {AsyncGenerator<string>}
 */
async function* filesIn(folder) {
  const entries = await opendir(folder).catch(nothingIfGone);
  if (entries === undefined) return;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (CACHED.test(entry.name)) yield path;
  }
}

/**
 * @param {string} file
 * @param {Exclude<PurgeTarget, { kind: 'all' | 'stored' }>} target
 */
async function isAbout(file, target) {
  const head = await readHead(file);
  const at = head.indexOf(KEY);
  if (at < 0) return false;
  // As nginx/cache.mjs writes it: scheme and host, method, target, path, then what else tells answers apart.
  const [origin = '', , , path = ''] = head.slice(at + KEY.length).split('\n', 4);
  const host = origin.replace(/^\w+:\/\//, '');
  switch (target.kind) {
    case 'host':
      return target.host.startsWith('*.') ? host.endsWith(target.host.slice(1)) : host === target.host;
    case 'prefix':
      return host === target.host && plain(path).startsWith(plain(target.path));
    case 'url':
      return host === target.host && plain(path) === plain(target.path);
  }
}

/** @param {string} file */
async function readHead(file) {
  const opened = await open(file).catch(nothingIfGone);
  if (opened === undefined) return '';
  try {
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return buffer.toString('latin1', 0, bytesRead);
  } finally {
    await opened.close();
  }
}

/** A visitor may have encoded more of it than is needed.
 * @param {string} path
 */
function plain(path) {
  return path.replaceAll(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}

/**
 * @param {NodeJS.ErrnoException} error
 * @returns {undefined}
 */
function nothingIfGone(error) {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
