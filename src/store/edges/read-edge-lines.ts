// Builds what edges receive: the JSON of configs, built once for all edges. Each page is read in one snapshot, so that
// version and config match. Recent lines are cached by name and version, which edges that load snapshots concurrently
// share.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { FeedPlace, SeenName } from './edge-cursor.ts';
import { loadEdgeConfigs, loadEdgeSizes } from './load-edge-configs.ts';
import { type EdgeFeedRead, readEdgeFeed } from './read-edge-feed.ts';

export interface EdgeLine {
  /** In stored form, with the final dot. */
  readonly name: string;
  readonly version: number;
  /** The regions whose edges receive the config; null for all. */
  readonly regions: readonly string[] | null;
  /** JSON. Undefined if no edge serves the domain. */
  readonly config: string | undefined;
}

export interface EdgeFeedPage extends Omit<EdgeFeedRead, 'changes'> {
  readonly lines: readonly EdgeLine[];
  readonly last: SeenName | undefined;
}

interface NamedLines {
  readonly lines: readonly EdgeLine[];
  /** Undefined if there are no more. */
  readonly last: string | undefined;
}

/** Domains per page. */
const PAGE = 200;
/** Maximum stored size of configs that are loaded together. A larger one is loaded alone. */
const LOAD_BYTES = 2 * 1024 * 1024;
const KEPT_BYTES = 16 * 1024 * 1024;

export class EdgeLines {
  readonly #db: Database;
  /** Least recently used first. */
  readonly #kept = new Map<string, EdgeLine>();
  #keptBytes = 0;
  readonly #reading = new Map<string, { readonly mark: number; readonly lines: Promise<NamedLines> }>();
  #clock = 0;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Reads the changes that the position has not seen, after `after` of an earlier read from the same position. */
  async readChanges(place: FeedPlace | undefined, after?: SeenName): Promise<EdgeFeedPage> {
    return await this.#inSnapshot(async (trx) => {
      const { changes, ...read } = await readEdgeFeed(trx, place, PAGE, after);
      const fitting = await this.#fitting(trx, changes);
      const lines = await this.#load(trx, fitting);
      return { ...read, more: read.more || fitting.length < changes.length, lines, last: fitting.at(-1) };
    });
  }

  /** Returns a mark. Reads that start from now on include everything that is committed now. */
  mark(): number {
    return ++this.#clock;
  }

  /**
   * Reads the served domains after a name, in the order of names. Edges that request the same names share one read,
   * unless it started before the mark `since`.
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

  /** Returns the leading names that may be loaded together, at least one. */
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

/** Includes the overhead of the map. */
function bytesOf({ name, config = '' }: EdgeLine): number {
  return 200 + name.length + config.length;
}
