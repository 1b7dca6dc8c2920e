// Prints the records of a list as JSON: directly from their columns if these are sufficient, because lists are long.
// `RecordPrinter` prints the others, such as proxied records and rare types. Both produce the same text.

import type { Name } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import { decodeListed, type RecordPage } from '../../store/records/load-records.ts';
import { type RecordColumns, rowsOf } from '../../store/records/record-columns.ts';
import type { RecordJson } from '../../store/records/record-row.ts';
import { RecordPrinter } from './print-record.ts';
import { printColumns } from './record-octets.ts';

interface Owner {
  readonly id: number;
  readonly accountId: number;
  readonly name: Name;
}

export class RecordTexts {
  readonly #owner: Owner;
  /** The domain's name in the form of its column. */
  readonly #apex: string;
  readonly #printer: RecordPrinter;

  constructor(db: Database, owner: Owner) {
    this.#owner = owner;
    this.#apex = encodeNameColumn(owner.name);
    this.#printer = new RecordPrinter(db, owner);
  }

  /** Returns texts of one or several records, which are separated by commas. */
  async printAll(items: RecordPage['items']): Promise<(string | Buffer)[]> {
    return 'ids' in items ? await this.#printColumns(items) : await this.#printRows(items);
  }

  async #printColumns(columns: RecordColumns): Promise<(string | Buffer)[]> {
    if (columns.count === 0) return [];
    const { octets, missing } = printColumns(columns, this.#owner, this.#apex);
    const texts: (string | Buffer)[] = [];
    let from = 0;
    const takeUntil = (to: number) => {
      if (to > from) texts.push(octets.subarray(from + 1, to)); // without the comma
      from = to;
    };
    if (missing.length > 0) {
      const rows = rowsOf(columns);
      const printed = await this.#printRows(missing.map(({ index }) => rows[index] as RecordJson));
      for (const [i, { at }] of missing.entries()) {
        takeUntil(at);
        texts.push(printed[i] as string);
      }
    }
    takeUntil(octets.length);
    return texts;
  }

  async #printRows(rows: readonly RecordJson[]): Promise<string[]> {
    const printed = await this.#printer.printAll(rows.map(decodeListed));
    return printed.map((record) => JSON.stringify(record));
  }
}
