// Prints the records of a list as JSON, directly from their rows if the columns are sufficient, because lists are
// long. `RecordPrinter` prints the others, such as proxied records and rare types. Both produce the same text.

import type { Name } from '../../dns/name.ts';
import type { Database } from '../../store/postgres/database.ts';
import { encodeNameColumn } from '../../store/postgres/name-column.ts';
import { decodeListed } from '../../store/records/load-records.ts';
import type { RecordJson } from '../../store/records/record-row.ts';
import { plainRecordPrinter } from './plain-record.ts';
import { RecordPrinter } from './print-record.ts';

interface Owner {
  readonly id: number;
  readonly accountId: number;
  readonly name: Name;
}

export class RecordTexts {
  readonly #printPlain: ReturnType<typeof plainRecordPrinter>;
  readonly #printer: RecordPrinter;

  constructor(db: Database, owner: Owner) {
    this.#printPlain = plainRecordPrinter(owner, encodeNameColumn(owner.name));
    this.#printer = new RecordPrinter(db, owner);
  }

  async printAll(rows: readonly RecordJson[]): Promise<string[]> {
    const others: number[] = [];
    const texts = rows.map((row, i) => {
      const text = this.#printPlain(row);
      if (text === undefined) others.push(i);
      return text ?? '';
    });
    if (others.length > 0) {
      const printed = await this.#printer.printAll(others.map((i) => decodeListed(rows[i] as RecordJson)));
      for (const [at, i] of others.entries()) texts[i] = JSON.stringify(printed[at]);
    }
    return texts;
  }
}
