// Prints the records of a domain as the lines of its zone file: directly from their columns, if these are sufficient. The lines
// are the same as those of `printRecords`, and take a fraction of the time.

import { canonicalKey } from '../../dns/dnssec/canonical-key.ts';
import { type Name, printName } from '../../dns/name.ts';
import { decodeNameColumn, encodeNameColumn } from '../../store/postgres/name-column.ts';
import { type RecordColumns, rowsOf } from '../../store/records/record-columns.ts';
import { RecordReader } from '../../store/records/record-reader.ts';
import { decodeRecord, type RecordJson, type SettingsJson } from '../../store/records/record-row.ts';
import { OWNER_COLUMNS, printRecord } from '../../zone/import/print-records.ts';
import { printSettingsComment } from '../../zone/import/settings-comment.ts';
import { type RecordSettings, SETTING_NAMES } from '../../zone/records/customer-record.ts';
import { charactersOf, OctetWriter, type PartOfText } from './octet-writer.ts';
import { lacksDot, PLAIN_CONTENTS } from './plain-content.ts';

/** The lines of one name. */
interface Group {
  /** The name in the form of its column. */
  readonly owner: string;
  readonly key: string;
  readonly page: OctetWriter;
  readonly from: number;
  to: number;
}

/** Most lines are shorter. */
const USUAL_OCTETS = 80;

export class RecordLines {
  readonly #apex: Name;
  /** The apex in the form of its column. */
  readonly #stored: string;
  readonly #groups: Group[] = [];
  /** Most records with settings have only a country, and share them. */
  readonly #comments = new Map<SettingsJson, Buffer>();

  constructor(apex: Name) {
    this.#apex = apex;
    this.#stored = encodeNameColumn(apex);
  }

  /** Prints the records of a page. All records are sorted by name and id. */
  add(columns: RecordColumns): void {
    const out = new OctetWriter(columns.count * USUAL_OCTETS);
    let rows: RecordJson[] | undefined;
    let group: Group | undefined;
    for (const reader = new RecordReader(columns); reader.next(); ) {
      const from = out.end;
      if (group === undefined || !isSame(reader.names, group.owner)) {
        const owner = reader.names.word;
        group = { owner, key: this.#keyOf(owner), page: out, from, to: from };
        this.#groups.push(group);
      }
      if (!this.#print(reader, out)) {
        out.end = from;
        rows ??= rowsOf(columns);
        out.putText(`${printRecord(decodeRecord(rows[reader.index] as RecordJson), this.#apex)}\n`);
      }
      group.to = out.end;
    }
  }

  /** Returns lines with their line breaks: names in canonical order (RFC 4034 §6.1), records of a name by id. */
  *inOrder(): Generator<Buffer> {
    yield Buffer.from(`$ORIGIN ${printName(this.#apex)}\n`);
    const groups = this.#groups.sort(({ key: a }, { key: b }) => (a < b ? -1 : a > b ? 1 : 0));
    for (let i = 0; i < groups.length; ) {
      const { page, from } = groups[i] as Group;
      let { to } = groups[i++] as Group;
      for (let next = groups[i]; next?.page === page && next.from === to; next = groups[++i]) to = next.to;
      yield page.written.subarray(from, to);
    }
  }

  #keyOf(owner: string): string {
    if (owner.includes('\\')) return canonicalKey(decodeNameColumn(owner), this.#apex).slice(0, -1);
    const relative = owner.slice(0, Math.max(0, owner.length - this.#stored.length - 1));
    // The same without the wire form. The separator is lower than every other octet.
    return relative.includes('.') ? relative.split('.').reverse().join('\0') : relative;
  }

  /** Returns false if the columns are not sufficient. Some octets may have been written. */
  #print({ names, types, ttls, destinations, settings }: RecordReader, out: OctetWriter): boolean {
    const content = PLAIN_CONTENTS.get(types.word);
    const length = destinations.to - destinations.from;
    if (content === undefined || length === 0 || length > content.maxLength) return false;
    const start = out.end;
    if (!this.#printOwner(names, out)) return false;
    out.padTo(start + OWNER_COLUMNS);
    out.put(SPACE);
    out.copy(ttls, DIGIT);
    out.put(CLASS);
    out.copy(types, TYPE);
    out.put(SPACE);
    if (content.adds === 'quotes') out.put(QUOTE);
    if (!out.copy(destinations, content.allowed)) return false;
    if (content.adds === 'quotes') out.put(QUOTE);
    if (lacksDot(content, destinations)) out.put(DOT);
    if (settings !== null) out.put(this.#commentOf(settings));
    out.put(LINE_BREAK);
    return true;
  }

  #printOwner({ text, from, to }: PartOfText, out: OctetWriter): boolean {
    const end = to - this.#stored.length - 1;
    if (end > from) return out.copy({ text, from, to: end }, OWNER);
    out.put(APEX);
    return true;
  }

  #commentOf(settings: SettingsJson): Buffer {
    let comment = this.#comments.get(settings);
    if (comment === undefined) {
      const entries = SETTING_NAMES.map((name, i) => [name, settings[i]]);
      comment = Buffer.from(` ${printSettingsComment(Object.fromEntries(entries) as RecordSettings)}`);
      this.#comments.set(settings, comment);
    }
    return comment;
  }
}

/** The characters of names without escape sequences. */
const OWNER = charactersOf(/[!-[\]-~]/);
const TYPE = charactersOf(/[A-Z]/);
const DIGIT = charactersOf(/[0-9]/);
const CLASS = Buffer.from(' IN ');
const SPACE = Buffer.from(' ');
const APEX = Buffer.from('@');
const QUOTE = Buffer.from('"');
const DOT = Buffer.from('.');
const LINE_BREAK = Buffer.from('\n');

function isSame({ text, from, to }: PartOfText, word: string): boolean {
  return to - from === word.length && text.startsWith(word, from);
}
