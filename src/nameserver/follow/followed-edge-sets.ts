// Keeps the edge sets of regions equal to those in Postgres: one row for the whole fleet, read with the feed. A file
// next to the snapshot keeps the last known ones, for a node that starts without Postgres.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../process/reconnect.ts';
import { loadEdgeSets } from '../../store/feed/load-changed-zones.ts';
import type { Connection } from '../../store/postgres/connection.ts';
import type { EdgeSets } from '../../zone/edge-sets.ts';
import type { CountryTable } from '../image/find/country-table.ts';
import { HEADER } from '../image/layout.ts';
import type { ImageWriter } from '../image/write-image.ts';
import { fillCountryTable } from './fill-country-table.ts';

interface EdgeSetsOptions {
  readonly writer: ImageWriter;
  readonly log: Log;
  /** The snapshot's directory. Undefined if nothing is kept. */
  readonly directory: string | undefined;
  /** Receives the reason if the file cannot be written. */
  readonly onUnwritten?: (error: unknown) => void;
  /** Filled when the first regions arrive, so that a fleet without regions needs no table. */
  readonly countries: CountryTable | undefined;
  readonly countryDb: 'shipped' | { readonly path: string } | undefined;
}

const FILE = 'edge-sets.json';
/** Bounds the time until a drained edge disappears from all answers. */
const READ_MS = 500;

export class FollowedEdgeSets {
  readonly #options: EdgeSetsOptions;
  /** Text of the row as last read. */
  #text = '';
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: EdgeSetsOptions) {
    this.#options = options;
  }

  /** Restores the edge sets that the node last knew. */
  restore(): void {
    const { directory, log, writer } = this.#options;
    if (directory === undefined) return;
    const file = join(directory, FILE);
    try {
      this.#take(readFileSync(file, 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        log.warn(
          { file, err: error },
          'the edge sets of regions cannot be read: using those of the snapshot',
        );
      if (writer.image.header[HEADER.EDGE_SETS] !== 0) this.#fillCountries();
    }
  }

  async follow(connection: Connection): Promise<void> {
    if (performance.now() - this.#readAtMs < READ_MS) return;
    const text = await loadEdgeSets(connection, this.#text);
    this.#readAtMs = performance.now();
    if (text === undefined) return;
    const { log } = this.#options;
    try {
      this.#take(text);
      this.#keep(text);
    } catch (error) {
      this.#text = text; // a second attempt would fail too
      log.error({ err: error }, 'the edge sets of regions cannot be served: serving the previous ones');
    }
  }

  #take(text: string): void {
    const sets = JSON.parse(text) as EdgeSets;
    this.#options.writer.putEdgeSets(sets);
    this.#text = text;
    if (sets.regions.length > 0) this.#fillCountries();
  }

  #fillCountries(): void {
    const { countries, countryDb, log } = this.#options;
    if (countries === undefined || countryDb === undefined || countries.isReady) return;
    try {
      const startedMs = performance.now();
      const isFilled = fillCountryTable(countries, countryDb === 'shipped' ? undefined : countryDb.path);
      if (!isFilled) log.error({}, 'COUNTRY_DB has too many prefixes: all regions get the same answers');
      else
        log.info(
          { ms: Math.round(performance.now() - startedMs) },
          'COUNTRY_DB is loaded: answers depend on the region',
        );
    } catch (error) {
      log.error({ err: error }, 'COUNTRY_DB cannot be read: all regions get the same answers');
    }
  }

  #keep(text: string): void {
    const { directory, log, onUnwritten } = this.#options;
    if (directory === undefined) return;
    const file = join(directory, FILE);
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      writeFileSync(`${file}.${process.pid}`, text, { mode: 0o600 });
      renameSync(`${file}.${process.pid}`, file);
    } catch (error) {
      onUnwritten?.(error);
      log.warn({ file, err: error }, 'the edge sets of regions cannot be saved');
    }
  }
}
