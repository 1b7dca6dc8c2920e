// @ts-check
// Purges responses that nginx has cached for a domain by deleting the files with matching keys. nginx then asks the origin.

import { open, opendir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** @typedef {import('../src/features/cache/rules.ts').PurgeTarget} PurgeTarget */

/** Name of a file in nginx's cache. Excludes files that are being written. */
export const CACHED = /^[0-9a-f]{32}$/;
/** The key follows some numbers. nginx limits its longest parts, the path and the query. */
const HEAD_BYTES = 32 * 1024;
const KEY = '\nKEY: ';

/** @param {string} state @param {number} domainId */
export function cacheFolder(state, domainId) {
  return join(state, 'cache', `zf_${domainId}_cache`);
}

/**
 * Purges files of a domain. A key has no query if a rule ignores it, and only parts of it if a rule lists parameters. A URL therefore
 * purges its whole path, which may be more than requested but never less.
 * @param {string} folder of one domain
 * @param {PurgeTarget} target
 * @returns {Promise<number>} number of deleted files
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

/** A stored path is relative to the cache of its domain. */
const STORE_PATH = /^(?:[0-9a-f]{1,2}\/){0,3}[0-9a-f]{32}$/;

/** @param {string} folder @param {string} path from a customer */
async function purgeFile(folder, path) {
  if (!STORE_PATH.test(path)) return 0;
  await rm(join(folder, path), { force: true });
  return 1;
}

/**
 * Deletes the caches of domains that this edge no longer serves, because it does not receive their purges.
 * @param {string} state
 * @param {ReadonlySet<number>} served ids of served domains
 */
export async function dropFormerCaches(state, served) {
  for (const name of (await readdir(join(state, 'cache')).catch(nothingIfGone)) ?? []) {
    const id = /^zf_([1-9][0-9]*)_cache$/.exec(name)?.[1];
    if (id !== undefined && !served.has(Number(id)))
      await purgeCache(cacheFolder(state, Number(id)), { kind: 'all' });
  }
}

/** @param {string} folder @returns {AsyncGenerator<string>} */
async function* filesIn(folder) {
  const entries = await opendir(folder).catch(nothingIfGone);
  if (entries === undefined) return;
  for await (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (CACHED.test(entry.name)) yield path;
  }
}

/** @param {string} file @param {Exclude<PurgeTarget, { kind: 'all' | 'stored' }>} target */
async function isAbout(file, target) {
  const head = await readHead(file);
  const at = head.indexOf(KEY);
  if (at < 0) return false;
  // Key format of nginx/cache.mjs: scheme and host, method, target, path, then everything else that distinguishes responses.
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

/** Visitors may percent-encode more characters than necessary. @param {string} path */
function plain(path) {
  return path.replaceAll(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)));
}

/** @param {NodeJS.ErrnoException} error @returns {undefined} */
function nothingIfGone(error) {
  if (error.code !== 'ENOENT') throw error;
  return undefined;
}
