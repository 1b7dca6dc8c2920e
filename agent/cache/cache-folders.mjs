// @ts-check
// Lists the files of a domain's cache, and which of them are unchanged since the previous scan. nginx writes a response to a
// temporary file and renames it, so a folder with the same modification time has the same files. (It changes a file in place only
// with `proxy_cache_revalidate`.)

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CACHED } from '../purge-cache.mjs';

/** File times have a limited resolution: a folder that changed just before the scan may change again with the same time. */
const SURE_MS = 2_000;

/** @typedef {{ changedMs: number, files: string[], folders: string[] }} Listing with paths from the cache's folder */

export class CacheFolders {
  /** @type {Map<string, Listing>} */
  #kept = new Map();
  /** Listings of this scan. @type {Map<string, Listing>} */
  #listed = new Map();

  /** @param {string} folder */
  constructor(folder) {
    this.folder = folder;
  }

  /** @returns {AsyncGenerator<{ path: string, isSame: boolean }>} */
  async *files() {
    this.#listed.clear();
    yield* this.#filesIn('');
  }

  /** Ends a scan. Folders with unsettled files are listed again by the next one. @param {(path: string) => boolean} isSettled */
  keep(isSettled) {
    this.#kept = new Map([...this.#listed].filter(([, { files }]) => files.every(isSettled)));
    this.#listed.clear();
  }

  /** @param {string} path @returns {AsyncGenerator<{ path: string, isSame: boolean }>} */
  async *#filesIn(path) {
    const kept = this.#kept.get(path);
    const listing = await this.#list(path, kept).catch((/** @type {NodeJS.ErrnoException} */ error) => {
      if (error.code !== 'ENOENT') throw error;
    });
    if (listing === undefined) return;
    this.#listed.set(path, listing);
    for (const file of listing.files) yield { path: file, isSame: listing === kept };
    for (const folder of listing.folders) yield* this.#filesIn(folder);
  }

  /** @param {string} path @param {Listing | undefined} kept @returns {Promise<Listing>} */
  async #list(path, kept) {
    const { mtimeMs } = await stat(join(this.folder, path));
    if (kept?.changedMs === mtimeMs) return kept;
    const changedMs = Date.now() - mtimeMs >= SURE_MS ? mtimeMs : Number.NaN;
    const entries = await readdir(join(this.folder, path), { withFileTypes: true });
    const within = (/** @type {import('node:fs').Dirent} */ { name }) => join(path, name);
    return {
      changedMs,
      files: entries.filter((each) => !each.isDirectory() && CACHED.test(each.name)).map(within),
      folders: entries.filter((each) => each.isDirectory()).map(within),
    };
  }
}
