// What edges are told, in the form in which it is told: the JSON of configs, made once for all edges. A page is read in one
// transaction of one snapshot, so that a version and its config belong together. What was made lately is remembered, by name
// and version: edges that take a snapshot side by side share it.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { FeedPlace, SeenName } from './edge-cursor.ts';
import { loadEdgeConfigs, loadEdgeSizes } from './load-edge-configs.ts';
import { type EdgeFeedRead, readEdgeFeed } from './read-edge-feed.ts';

export interface EdgeLine {
  /** As stored, with the final dot. */
  readonly name: string;
  readonly version: number;
  /** The regions whose edges are told the config; null: all. */
  readonly regions: readonly string[] | null;
  /** JSON; undefined: no edge serves it. */
  readonly config: string | undefined;
}

export interface EdgeFeedPage extends Omit<EdgeFeedRead, 'changes'> {
  readonly lines: readonly EdgeLine[];
  readonly last: SeenName | undefined;
}

interface NamedLines {
  readonly lines: readonly EdgeLine[];
  /** Undefined: there are no more. */
  readonly last: string | undefined;
}

/** Domains in a page. */
const PAGE = 200;
/** Configs that are loaded at once take no more than this, as stored; a larger one comes alone. */
const LOAD_BYTES = 2 * 1024 * 1024;
const KEPT_BYTES = 16 * 1024 * 1024;

export class EdgeLines {
  readonly #db: Database;
  /** In the order of use. */
  readonly #kept = new Map<string, EdgeLine>();
  #keptBytes = 0;
  readonly #reading = new Map<string, { readonly mark: number; readonly lines: Promise<NamedLines> }>();
  #clock = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  /** The changes that the place has not seen, behind `after` of an earlier read from the same place. */
  async readChanges(place: FeedPlace | undefined, after?: SeenName): Promise<EdgeFeedPage> {
    return await this.#inSnapshot(async (trx) => {
      const { changes, ...read } = await readEdgeFeed(trx, place, PAGE, after);
      const fitting = await this.#fitting(trx, changes);
      const lines = await this.#load(trx, fitting);
      return { ...read, more: read.more || fitting.length < changes.length, lines, last: fitting.at(-1) };
    });
  }

  /** What begins to be read from now on has everything that is committed now. */
  mark(): number {
    return ++this.#clock;
  }

  /**
   * The domains behind a name, in the order of names; only those that are served. Edges that ask for the same ones share the
   * reading, unless it has begun before `since`, a mark.
   */
  async readNames(after: string, since: number): Promise<NamedLines> {
    const shared = this.#reading.get(after);
    if (shared !== undefined && shared.mark >= since) return await shared.lines;
    const reading = { mark: this.mark(), lines: this.#readNames(after) };
    this.#reading.set(after, reading);
    try {
      return await reading.lines;
    } finally {
      if (this.#reading.get(after) === reading) this.#reading.delete(after);
    }
  }

  async #readNames(after: string): Promise<NamedLines> {
    return await this.#inSnapshot(async (trx) => {
      const { rows } = await sql<{ name: string; version: number }>`
        select name, version from edge_changes where name > ${after} collate "C" order by name limit ${PAGE}`.execute(
        trx,
      );
      const fitting = await this.#fitting(trx, rows);
      const lines = await this.#load(trx, fitting);
      return { lines: lines.filter(({ config }) => config !== undefined), last: fitting.at(-1)?.name };
    });
  }

  async #inSnapshot<T>(work: (trx: Database) => Promise<T>): Promise<T> {
    return await this.#db
      .transaction()
      .setIsolationLevel('repeatable read')
      .setAccessMode('read only')
      .execute(work);
  }

  /** As many from the beginning as may be loaded at once, one at least. */
  async #fitting<T extends { readonly name: string; readonly version: number }>(
    trx: Database,
    named: readonly T[],
  ): Promise<readonly T[]> {
    const missing = named.filter(({ name, version }) => this.#kept.get(name)?.version !== version);
    if (missing.length <= 4) return named;
    const sizes = await loadEdgeSizes(
      trx,
      missing.map(({ name }) => name),
    );
    let bytes = 0;
    const end = named.findIndex(({ name }, i) => {
      bytes += sizes.get(name) ?? 0;
      return bytes > LOAD_BYTES && i > 0;
    });
    return end < 0 ? named : named.slice(0, end);
  }

  async #load(
    trx: Database,
    wanted: readonly { readonly name: string; readonly version: number }[],
  ): Promise<EdgeLine[]> {
    const missing = wanted.filter(({ name, version }) => this.#kept.get(name)?.version !== version);
    const loaded =
      missing.length === 0
        ? new Map()
        : await loadEdgeConfigs(
            trx,
            missing.map(({ name }) => name),
          );
    return wanted.map(({ name, version }) => {
      const kept = this.#kept.get(name);
      if (kept?.version === version) {
        this.#kept.delete(name);
        this.#kept.set(name, kept);
        return kept;
      }
      const found = loaded.get(name);
      const config = found === undefined ? undefined : JSON.stringify(found.config);
      const line: EdgeLine = { name, version, regions: found?.regions ?? null, config };
      this.#keep(line);
      return line;
    });
  }

  #keep(line: EdgeLine): void {
    this.#drop(this.#kept.get(line.name));
    this.#kept.set(line.name, line);
    this.#keptBytes += bytesOf(line);
    for (const oldest of this.#kept.values()) {
      if (this.#keptBytes <= KEPT_BYTES) break;
      this.#drop(oldest);
    }
  }

  #drop(line: EdgeLine | undefined): void {
    if (line === undefined || !this.#kept.delete(line.name)) return;
    this.#keptBytes -= bytesOf(line);
  }
}

/** With what a map takes around it. */
function bytesOf({ name, config = '' }: EdgeLine): number {
  return 200 + name.length + config.length;
}
