// Reads records from their columns, one after another, without creating a string or a row for each.

import { momentsOf, type RecordColumns, settingsWith, USUAL } from './record-columns.ts';
import type { SettingsJson } from './record-row.ts';

/** The current word of a text. */
class Words {
  readonly text: string;
  from = 0;
  to = -1;

  constructor(text: string) {
    this.text = text;
  }

  get word(): string {
    return this.text.slice(this.from, this.to);
  }

  next(): void {
    this.from = this.to + 1;
    const to = this.text.indexOf(' ', this.from);
    this.to = to < 0 ? this.text.length : to;
  }
}

const BEFORE_FIRST = -2; // `["`
const BETWEEN = 4; // `", "`
const BACKSLASH = 0x5c;

/** The current string of a JSON array of strings, as it is in the JSON. */
class JsonStrings {
  readonly text: string;
  from = 0;
  to = BEFORE_FIRST;

  constructor(text: string) {
    this.text = text;
  }

  next(): void {
    this.from = this.to + BETWEEN;
    let to = this.text.indexOf('"', this.from);
    while (isEscaped(this.text, to)) to = this.text.indexOf('"', to + 1);
    this.to = to;
  }
}

/** Returns true if an odd number of backslashes precedes the quote. */
function isEscaped(text: string, quote: number): boolean {
  let at = quote;
  while (text.charCodeAt(at - 1) === BACKSLASH) at--;
  return (quote - at) % 2 === 1;
}

export class RecordReader {
  /** Index of the current record. */
  index = -1;
  readonly ids: Words;
  readonly names: Words;
  readonly types: Words;
  readonly ttls: Words;
  readonly destinations: JsonStrings;
  /** Null if all settings are the default. Records without settings other than the country share the value. */
  settings: SettingsJson | null = null;
  /** As in a row. */
  updatedAt: string | null = null;
  managed = false;
  readonly #columns: RecordColumns;
  readonly #countries: Words;
  readonly #momentAt: (index: number) => string;
  #nextRare = 0;

  constructor(columns: RecordColumns) {
    this.#columns = columns;
    this.ids = new Words(columns.ids);
    this.names = new Words(columns.names);
    this.types = new Words(columns.types);
    this.ttls = new Words(columns.ttls);
    this.destinations = new JsonStrings(columns.destinations);
    this.#countries = new Words(columns.countries);
    this.#momentAt = momentsOf(columns.created);
  }

  /** As in a row. */
  get createdAt(): string {
    return this.#momentAt(this.index);
  }

  /** Reads the next record. Returns false after the last one. */
  next(): boolean {
    if (++this.index >= this.#columns.count) return false;
    this.ids.next();
    this.names.next();
    this.types.next();
    this.ttls.next();
    this.destinations.next();
    this.#countries.next();
    const rare = this.#columns.rare?.[this.#nextRare];
    const isRare = rare !== undefined && rare[0] === Number(this.ids.word);
    if (isRare) this.#nextRare++;
    const [, settings, updatedAt, managed] = isRare ? rare : USUAL;
    this.settings = settings ?? settingsWith(this.#countries.word);
    this.updatedAt = updatedAt;
    this.managed = managed;
    return true;
  }
}
