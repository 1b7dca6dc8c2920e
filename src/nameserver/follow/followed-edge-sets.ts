// Keeps the sets of regions equal to Postgres's: one row for the whole fleet, read with the feed. They stand in a file beside the
// snapshot, so that a node which starts without Postgres publishes the last ones that it knew.

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
  /** Of the snapshot; undefined: nothing is kept. */
  readonly directory: string | undefined;
  /** Receives the reason if the file cannot be written. */
  readonly onUnwritten?: (error: unknown) => void;
  /** Filled when the first regions come: a fleet without any does not pay for it. */
  readonly countries: CountryTable | undefined;
  readonly countryDb: 'shipped' | { readonly path: string } | undefined;
}

const FILE = 'edge-sets.json';
/** An edge that is drained is gone from all answers so soon after the round that decides it. */
const READ_MS = 500;

export class FollowedEdgeSets {
  readonly #options: EdgeSetsOptions;
  /** The row as it was read last, as text. */
  #text = '';
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: EdgeSetsOptions) {
    this.#options = options;
  }

  /** Takes over what was known when the node ended. */
  restore(): void {
    const { directory, log, writer } = this.#options;
    if (directory === undefined) return;
    const file = join(directory, FILE);
    try {
      this.#take(readFileSync(file, 'utf8'));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        log.warn({ file, err: error }, 'the sets of regions cannot be read: those of the snapshot stay');
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
      this.#text = text; // it would fail again
      log.error({ err: error }, 'the sets of regions cannot be served: those before them stay');
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
      if (!isFilled) log.error({}, 'COUNTRY_DB has too many prefixes: regions are not told apart');
      else log.info({ ms: Math.round(performance.now() - startedMs) }, 'regions are told apart');
    } catch (error) {
      log.error({ err: error }, 'COUNTRY_DB cannot be read: regions are not told apart');
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
      log.warn({ file, err: error }, 'the sets of regions cannot be kept');
    }
  }
}
