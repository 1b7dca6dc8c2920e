// @ts-check
// Configs on disk, one file per domain, so that an edge can start while the API is unavailable. The cursor is written last: a config
// that is received twice is harmless, a missing one is not.

import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isHostName } from './nginx/quote.mjs';

/**
 * @typedef {import('../src/edge/edge-config.ts').EdgeConfig} EdgeConfig
 * @typedef {{ domain: string, version: number, config: EdgeConfig | null }} Kept
 */

export class KeptConfigs {
  /** @type {Map<string, Kept>} */
  #byDomain = new Map();
  /** @type {Map<string, Set<string>>} */
  #below = new Map();
  /** @type {Set<string> | undefined} */
  #mentioned;
  /** @type {string | undefined} */
  cursor;

  /** @param {string} state */
  constructor(state) {
    this.folder = join(state, 'configs');
    this.cursorFile = join(state, 'cursor');
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    for (const name of readdirSync(this.folder)) this.#readFile(name);
    this.cursor = readOrNothing(this.cursorFile);
  }

  /** @param {string} domain */
  get(domain) {
    return this.#byDomain.get(domain)?.config ?? undefined;
  }

  /** @returns {string[]} */
  domains() {
    return [...this.#byDomain.values()].filter(({ config }) => config !== null).map(({ domain }) => domain);
  }

  /** Returns the domains below a domain, which have their own configs. @param {string} domain */
  domainsBelow(domain) {
    return [...(this.#below.get(domain) ?? [])];
  }

  /** Applies a line of the feed. @param {any} line @returns {string[]} the domains that it changes */
  take(line) {
    if (line.snapshot === 'begin') {
      this.#mentioned = new Set();
      return [];
    }
    if (line.snapshot === 'end') return this.#endSnapshot(line.cursor);
    const changed = line.domain === undefined ? [] : this.#takeDomain(line);
    // A cursor within a snapshot would skip the rest of the snapshot.
    if (this.#mentioned === undefined) this.#moveTo(line.cursor);
    return changed;
  }

  /** Called when a stream ended within a snapshot, which then starts again. */
  forgetSnapshot() {
    this.#mentioned = undefined;
  }

  /** @param {any} line */
  #takeDomain({ domain, version, config }) {
    if (!isHostName(domain) || !Number.isSafeInteger(version)) return [];
    // The first config in a snapshot applies even if its version is lower: the history or the region may be another one.
    const isFirst = this.#mentioned?.has(domain) === false;
    this.#mentioned?.add(domain);
    const held = this.#byDomain.get(domain);
    // Lines may be repeated or out of order: the newest version applies.
    if (held !== undefined && held.version >= version && !isFirst) return [];
    const kept = { domain, version, config: config?.domain === domain ? config : null };
    if (held !== undefined && JSON.stringify(held) === JSON.stringify(kept)) return [];
    this.#byDomain.set(domain, kept);
    this.#place(kept);
    // The version of a deleted domain matters only within a stream, because a stream starts with the newest version of each domain.
    if (kept.config === null) rmSync(this.#fileOf(domain), { force: true });
    else writeWhole(this.#fileOf(domain), JSON.stringify(kept));
    return [domain];
  }

  /** @param {unknown} cursor */
  #endSnapshot(cursor) {
    const mentioned = this.#mentioned;
    this.#mentioned = undefined;
    const gone =
      mentioned === undefined ? [] : [...this.#byDomain.keys()].filter((domain) => !mentioned.has(domain));
    for (const domain of gone) {
      this.#byDomain.delete(domain);
      this.#place({ domain, version: 0, config: null });
      rmSync(this.#fileOf(domain), { force: true });
    }
    this.#moveTo(cursor);
    return gone;
  }

  /** @param {unknown} cursor */
  #moveTo(cursor) {
    if (typeof cursor !== 'string' || cursor === this.cursor) return;
    this.cursor = cursor;
    writeWhole(this.cursorFile, cursor);
  }

  /** @param {Kept} kept */
  #place({ domain, config }) {
    for (const parent of parentsOf(domain)) {
      const below = this.#below.get(parent) ?? new Set();
      if (config === null) below.delete(domain);
      else below.add(domain);
      if (below.size === 0) this.#below.delete(parent);
      else this.#below.set(parent, below);
    }
  }

  /** @param {string} domain */
  #fileOf(domain) {
    return join(this.folder, `${domain}.json`);
  }

  /** @param {string} name */
  #readFile(name) {
    try {
      const kept = JSON.parse(readFileSync(join(this.folder, name), 'utf8'));
      if (`${kept.domain}.json` !== name) return;
      this.#byDomain.set(kept.domain, kept);
      this.#place(kept);
    } catch {
      rmSync(join(this.folder, name), { force: true });
      // Otherwise the cursor would skip this domain.
      rmSync(this.cursorFile, { force: true });
    }
  }
}

/** @param {string} domain */
export function parentsOf(domain) {
  const labels = domain.split('.');
  return labels.slice(1).map((_, i) => labels.slice(i + 1).join('.'));
}

/** @param {string} path @param {string} text @param {number} mode */
export function writeWhole(path, text, mode = 0o600) {
  writeFileSync(`${path}.new`, text, { mode });
  renameSync(`${path}.new`, path);
}

/** @param {string} path */
export function readOrNothing(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
