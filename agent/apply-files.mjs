// @ts-check
// Replaces files of domains by new ones that nginx accepts. A domain whose file nginx rejects keeps its old file; the others are
// updated.

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readOrNothing, writeWhole } from './kept-configs.mjs';

/** New text of each file, or undefined to remove it. @typedef {Map<string, string | undefined>} Changes */

export class DomainFiles {
  /**
   * @param {string} folder
   * @param {() => Promise<string | undefined>} test returns nginx's reason if it rejects the current files
   */
  constructor(folder, test) {
    this.folder = folder;
    this.test = test;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** @param {string} domain */
  pathOf(domain) {
    return join(this.folder, `${domain}.conf`);
  }

  domains() {
    return readdirSync(this.folder)
      .filter((name) => name.endsWith('.conf'))
      .map((name) => basename(name, '.conf'));
  }

  /** Removes old files that nginx no longer accepts, because they would block every change. @returns {Promise<string[]>} the domains */
  async repair() {
    /** @type {string[]} */
    const gone = [];
    for (;;) {
      const why = await this.test();
      if (why === undefined) return gone;
      const culprit = this.#culpritOf(why, new Map(this.domains().map((domain) => [domain, undefined])));
      if (culprit === undefined) throw new Error(`nginx rejects its files: ${why}`);
      rmSync(this.pathOf(culprit), { force: true });
      gone.push(culprit);
    }
  }

  /**
   * @param {Changes} wanted
   * @returns {Promise<{ taken: string[], refused: Map<string, string> }>} `refused` has nginx's reasons
   */
  async apply(wanted) {
    const changes = new Map(
      [...wanted].filter(([domain, text]) => text !== readOrNothing(this.pathOf(domain))),
    );
    /** @type {Map<string, string>} */
    const refused = new Map();
    const taken = await this.#applyPart(changes, refused);
    return { taken, refused };
  }

  /**
   * @param {Changes} changes
   * @param {Map<string, string>} refused
   * @returns {Promise<string[]>}
   */
  async #applyPart(changes, refused) {
    let left = changes;
    while (left.size > 0) {
      const old = this.#replace(left);
      const why = await this.test();
      if (why === undefined) return [...left.keys()];
      const culprit = this.#culpritOf(why, left);
      if (culprit !== undefined) {
        this.#replace(old);
        refused.set(culprit, why);
        left = new Map([...left].filter(([domain]) => domain !== culprit));
        continue;
      }
      this.#replace(old);
      if (left.size === 1) {
        for (const domain of left.keys()) refused.set(domain, why);
        return [];
      }
      // nginx does not name the file at fault, so each half is tried separately.
      const entries = [...left];
      const middle = Math.ceil(entries.length / 2);
      const first = await this.#applyPart(new Map(entries.slice(0, middle)), refused);
      const second = await this.#applyPart(new Map(entries.slice(middle)), refused);
      return [...first, ...second];
    }
    return [];
  }

  /** @param {Changes} changes @returns {Changes} the previous files */
  #replace(changes) {
    /** @type {Changes} */
    const old = new Map();
    for (const [domain, text] of changes) {
      const path = this.pathOf(domain);
      old.set(domain, existsSync(path) ? readOrNothing(path) : undefined);
      if (text === undefined) rmSync(path, { force: true });
      else writeWhole(path, text);
    }
    return old;
  }

  /**
   * @param {string} why
   * @param {Changes} changes
   */
  #culpritOf(why, changes) {
    for (const [, path = ''] of why.matchAll(/ in (\/[^\n]+\.conf):\d+/g)) {
      const domain = basename(path, '.conf');
      if (path === this.pathOf(domain) && changes.has(domain)) return domain;
    }
    return undefined;
  }
}
