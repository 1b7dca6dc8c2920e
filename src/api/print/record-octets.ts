// Prints records as JSON directly from their columns, if these are sufficient, because lists are long. The text is the same as
// that of `RecordPrinter` and the schema, and takes a fraction of the time.

import type { RecordColumns } from '../../store/records/record-columns.ts';
import { RecordReader } from '../../store/records/record-reader.ts';
import { DEFAULTS, decodeMoment, type SettingsJson } from '../../store/records/record-row.ts';
import { charactersOf, OctetWriter, type PartOfText } from './octet-writer.ts';
import { lacksDot, PLAIN_CONTENTS } from './plain-content.ts';

interface Owner {
  readonly id: number;
  readonly accountId: number;
}

interface PrintedColumns {
  /** The records, each after a comma. */
  readonly octets: Buffer;
  /** The records whose columns are not sufficient, with the offset in `octets` at which they are missing. */
  readonly missing: readonly { readonly index: number; readonly at: number }[];
}

/** Most records are shorter. */
const USUAL_OCTETS = 512;

/** `apex` is the name of the domain in the form of its column. */
export function printColumns(columns: RecordColumns, owner: Owner, apex: string): PrintedColumns {
  const out = new OctetWriter(columns.count * USUAL_OCTETS);
  const printer = new ColumnPrinter(out, owner, apex);
  const missing: { index: number; at: number }[] = [];
  for (const reader = new RecordReader(columns); reader.next(); ) {
    const at = out.end;
    if (printer.print(reader)) continue;
    out.end = at;
    missing.push({ index: reader.index, at });
  }
  return { octets: out.written, missing };
}

/** The characters of names that need no escaping in columns and JSON. */
const NAME = charactersOf(/[a-z0-9_./-]/);
const TYPE = charactersOf(/[A-Z]/);
const DIGIT = charactersOf(/[0-9]/);

const ID_MEMBER = Buffer.from(',{"id":');
const NAME_MEMBER = Buffer.from(',"name":"');
const FULL_NAME_MEMBER = Buffer.from('","original_name":"');
const TYPE_MEMBER = Buffer.from('","type":"');
const DESTINATION_MEMBER = Buffer.from('","destination":"');
const TTL_MEMBER = Buffer.from('","ttl":');
const APEX = Buffer.from('@');
const QUOTE = Buffer.from('\\"');
const DOT = Buffer.from('.');

class ColumnPrinter {
  readonly #out: OctetWriter;
  readonly #owned: string;
  readonly #apex: string;
  readonly #defaults: Buffer;
  /** The members from the settings to the content, for settings that records share. */
  readonly #settings = new Map<SettingsJson, Buffer>();
  /** The last members of records that were created at this time, not changed since then, and are editable. */
  #createdAt = '';
  #end = Buffer.alloc(0);

  constructor(out: OctetWriter, owner: Owner, apex: string) {
    this.#out = out;
    this.#owned = `"user_id":${owner.accountId},"domain_id":${owner.id},"dns_content":"`;
    this.#apex = apex;
    this.#defaults = this.#settingsOf(DEFAULTS);
  }

  /** Returns false if the columns are not sufficient. Some octets may have been written. */
  print(record: RecordReader): boolean {
    const { ids, names, types, destinations, ttls, settings } = record;
    const content = PLAIN_CONTENTS.get(types.word);
    const length = destinations.to - destinations.from;
    const isProxied = settings?.[0] === true;
    if (content === undefined || isProxied || length === 0 || length > content.maxLength) return false;
    const out = this.#out;
    out.put(ID_MEMBER);
    out.copy(ids, DIGIT);
    out.put(NAME_MEMBER);
    if (!this.#printName(names)) return false;
    out.put(FULL_NAME_MEMBER);
    if (!out.copy(names, NAME)) return false;
    out.put(TYPE_MEMBER);
    out.copy(types, TYPE);
    out.put(DESTINATION_MEMBER);
    const start = out.end;
    if (!out.copy(destinations, content.allowed)) return false;
    const end = out.end;
    out.put(TTL_MEMBER);
    out.copy(ttls, DIGIT);
    out.put(settings === null ? this.#defaults : this.#settingsOf(settings));
    if (content.adds === 'quotes') out.put(QUOTE);
    out.repeat(start, end);
    if (content.adds === 'quotes') out.put(QUOTE);
    if (lacksDot(content, destinations)) out.put(DOT);
    this.#printEnd(record);
    return true;
  }

  /** Prints the name relative to the domain. Returns false if it would be read as a full name, or needs escaping. */
  #printName({ text, from, to }: PartOfText): boolean {
    const apex = this.#apex;
    if (to - from === apex.length) {
      this.#out.put(APEX);
      return true;
    }
    const end = to - apex.length - 1;
    const mayBeFull = end - from >= apex.length - 1;
    if (mayBeFull && `.${text.slice(from, end)}.`.endsWith(`.${apex}`)) return false;
    return this.#out.copy({ text, from, to: end }, NAME);
  }

  #settingsOf(settings: SettingsJson): Buffer {
    let members = this.#settings.get(settings);
    if (members === undefined) {
      members = Buffer.from(`,${printSettings(settings)},${this.#owned}`);
      this.#settings.set(settings, members);
    }
    return members;
  }

  #printEnd({ createdAt, updatedAt, managed }: RecordReader): void {
    if (updatedAt !== null || managed) {
      this.#out.putText(printEnd(createdAt, updatedAt ?? createdAt, managed));
      return;
    }
    if (createdAt !== this.#createdAt) {
      this.#createdAt = createdAt;
      this.#end = Buffer.from(printEnd(createdAt, createdAt, false));
    }
    this.#out.put(this.#end);
  }
}

function printEnd(createdAt: string, updatedAt: string, managed: boolean): string {
  return `","editable":${!managed},"created_at":"${decodeMoment(createdAt)}","updated_at":"${decodeMoment(updatedAt)}"}`;
}

function printSettings(settings: SettingsJson): string {
  const [proxied, captcha, scheme, port, hostHeader, monitor, destCountry, timeout, comment] = settings;
  const host = hostHeader === null ? '' : `,"host_header":${JSON.stringify(hostHeader)}`;
  const country = destCountry === null ? '' : `,"dest_country":"${destCountry}"`;
  const noted = comment === null ? '' : `,"comment":${JSON.stringify(comment)}`;
  return `"proxied":${proxied},"captcha":${captcha},"scheme":"${scheme}","port":${port}${host},"monitor":${monitor}${country},"timeout":${timeout}${noted}`;
}
