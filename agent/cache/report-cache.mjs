// @ts-check
// Reports which responses nginx has cached and which are gone: scans the cache files and reports differences from the previous scan.
// nginx keeps its cache across restarts, so the first scan clears everything that was reported before.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheFolder } from '../purge-cache.mjs';
import { CacheFolders } from './cache-folders.mjs';
import { readEntry } from './read-entry.mjs';

/** @typedef {import('../../src/edge/edge-config.ts').EdgeConfig} EdgeConfig */

const MOST_AT_ONCE = 500;
/** Maximum number of remembered files of all domains, about 100 octets of memory each. */
const MOST_FILES = 500_000;
/** Longer paths are served but not reported. */
const MOST_PATH = 2048;
const MOST_KEY = 4096;

export class CacheReport {
  /** @param {string} state @param {(entries: object[]) => Promise<void>} send rejects if it must be sent again */
  constructor(state, send) {
    this.state = state;
    this.send = send;
    /** Write time of each file, by domain. @type {Map<number, Map<string, number>>} */
    this.reported = new Map();
    /** @type {Map<number, CacheFolders>} */
    this.folders = new Map();
  }

  /** Entries that could not be sent are found again by the next scan. @param {readonly EdgeConfig[]} configs */
  async look(configs) {
    let left = MOST_FILES;
    for (const config of configs) {
      const known = await this.#lookAt(config, left);
      left -= known.size;
    }
    const served = new Set(configs.map(({ domain_id }) => domain_id));
    for (const id of this.reported.keys()) {
      if (served.has(id)) continue;
      await this.send([{ op: 'cleared', domain_id: id, at: new Date().toISOString() }]);
      this.reported.delete(id);
      this.folders.delete(id);
    }
  }

  /** @param {EdgeConfig} config @param {number} most */
  async #lookAt(config, most) {
    const { domain_id: id } = config;
    let known = this.reported.get(id);
    if (known === undefined) {
      await this.send([{ op: 'cleared', domain_id: id, at: new Date().toISOString() }]);
      known = new Map();
      this.reported.set(id, known);
    }
    const folder = cacheFolder(this.state, id);
    const folders = this.folders.get(id) ?? new CacheFolders(folder);
    this.folders.set(id, folders);
    const seen = new Set();
    /** @type {{ path: string, writtenMs: number, entry: object }[]} */
    let found = [];
    const flush = async () => {
      const entries = found.map(({ entry }) => entry);
      if (entries.length > 0) await this.send(entries);
      for (const { path, writtenMs } of found) known.set(path, writtenMs);
      found = [];
    };
    for await (const { path, isSame } of folders.files()) {
      if (isSame) {
        seen.add(path);
        continue;
      }
      const file = join(folder, path);
      const { mtimeMs } = (await stat(file).catch(() => undefined)) ?? {};
      if (mtimeMs === undefined) continue;
      seen.add(path);
      if (known.get(path) === mtimeMs || seen.size > most) continue;
      const entry = await entryOf(config, path, file);
      if (entry === undefined) known.set(path, mtimeMs);
      else found.push({ path, writtenMs: mtimeMs, entry });
      if (found.length >= MOST_AT_ONCE) await flush();
    }
    await flush();
    folders.keep((path) => seen.has(path) && known.has(path));
    const at = new Date().toISOString();
    const gone = [...known.keys()].filter((path) => !seen.has(path));
    while (gone.length > 0) {
      const some = gone.splice(0, MOST_AT_ONCE);
      await this.send(some.map((path) => ({ op: 'evicted', domain_id: id, key_hash: hashOf(path), at })));
      for (const path of some) known.delete(path);
    }
    return known;
  }
}

/** nginx names a file by the hash of its key. @param {string} path */
function hashOf(path) {
  return path.slice(path.lastIndexOf('/') + 1);
}

/**
 * Returns undefined if the file is not reported.
 * @param {EdgeConfig} config
 * @param {string} path
 * @param {string} file
 */
async function entryOf(config, path, file) {
  const read = await readEntry(file);
  if (read === undefined || read.expiresMs <= Date.now()) return undefined;
  const { scheme, host, method, rest, key } = read;
  const place = findHost(config, host);
  if (place === undefined || read.path.length > MOST_PATH || key.length > MOST_KEY) return undefined;
  const { query, others } = queryOf(config, rest);
  const entry = {
    op: 'stored',
    host,
    path: read.path,
    query,
    variant: [scheme, ...others].join(' ').slice(0, 256),
    method,
    hostname: place,
    store_path: path,
    key_hash: hashOf(path),
    cache_key: key.replaceAll('\n', ' '),
    size: read.size,
    cached_at: new Date(read.cachedMs).toISOString(),
    expires_at: new Date(read.expiresMs).toISOString(),
  };
  return isTellable(entry) ? entry : undefined;
}

/** The API accepts no control characters, and would reject the whole report. @param {Record<string, unknown>} entry */
function isTellable(entry) {
  const { host, path, query, method } = entry;
  return (
    /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/.test(String(host)) &&
    String(path).startsWith('/') &&
    String(query).length <= MOST_PATH &&
    /^[A-Z]{1,16}$/.test(String(method)) &&
    Object.values(entry).every((value) => !/[\p{Cc}]/u.test(String(value)))
  );
}

/**
 * A key has the complete query if every cache rule uses it; otherwise its parts are among the distinguishing values.
 * @param {EdgeConfig} config
 * @param {string[]} rest
 */
function queryOf({ rules }, rest) {
  const isWhole = rules.every((rule) => rule.type !== 'cache' || rule.key_query === 'all');
  const [query = '', ...others] = rest;
  return isWhole ? { query, others } : { query: '', others: rest };
}

/**
 * Returns the host of the config that serves a host: exact names before wildcards, longer wildcards first.
 * @param {EdgeConfig} config
 * @param {string} host
 */
function findHost({ hosts }, host) {
  const names = hosts.map((each) => each.host);
  if (names.includes(host)) return host;
  const wildcards = names.filter((name) => name.startsWith('*.') && host.endsWith(name.slice(1)));
  return wildcards.sort((one, other) => other.length - one.length)[0];
}

/** Returns the ids of domains with a cache on disk. @param {string} state */
export async function cachedDomains(state) {
  const names = await readdir(join(state, 'cache')).catch(() => []);
  return new Set(names.flatMap((name) => Number(/^zf_([1-9][0-9]*)_cache$/.exec(name)?.[1]) || []));
}
