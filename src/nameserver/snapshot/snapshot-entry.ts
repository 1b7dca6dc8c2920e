// The entries of a snapshot's log: changes of the served zones in the order in which they were applied, and positions
// in the feed. Applying an entry twice, or without the following ones, is harmless.

import { foldCase, MAX_NAME_OCTETS, type Name } from '../../dns/name.ts';
import type { FeedCursor } from '../../store/feed/change-feed.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import type { ZoneContent } from '../image/zone-root.ts';

/** The position in the feed up to which all changes are applied. */
export interface FeedPlace {
  readonly cursor: FeedCursor;
  /** The number of the newest change. */
  readonly position: number;
}

export type SnapshotEntry =
  | {
      readonly kind: 'zone';
      readonly apex: Name;
      readonly content: ZoneContent;
      readonly records: readonly ZoneRecord[];
    }
  | {
      readonly kind: 'sets';
      readonly apex: Name;
      readonly content: ZoneContent;
      /** The changed record sets, each complete. */
      readonly records: readonly ZoneRecord[];
      readonly gone: readonly { owner: Name; type: number }[];
    }
  | { readonly kind: 'removal'; readonly apex: Name }
  /** Undefined if the served zones belong to another database history, or are incomplete. */
  | { readonly kind: 'place'; readonly place: FeedPlace | undefined };

const ZONE = 1;
const SETS = 2;
const REMOVAL = 3;
const PLACE = 4;

export function encodeEntry(entry: SnapshotEntry): Uint8Array {
  const writer = new EntryWriter();
  switch (entry.kind) {
    case 'zone':
      writer.byte(ZONE);
      writer.content(entry.apex, entry.content);
      writer.records(entry.records);
      break;
    case 'sets':
      writer.byte(SETS);
      writer.content(entry.apex, entry.content);
      writer.records(entry.records);
      writer.word(entry.gone.length);
      for (const { owner, type } of entry.gone) {
        writer.name(owner);
        writer.word(type);
      }
      break;
    case 'removal':
      writer.byte(REMOVAL);
      writer.name(entry.apex);
      break;
    case 'place':
      writer.byte(PLACE);
      writer.text(JSON.stringify(encodePlace(entry.place)));
      break;
    default:
      entry satisfies never;
  }
  return writer.written();
}

/** Reads an entry, whose rdata are views of `bytes`. Throws RangeError if they are not an entry. */
export function decodeEntry(bytes: Buffer): SnapshotEntry {
  const reader = new EntryReader(bytes);
  const kind = reader.byte();
  switch (kind) {
    case ZONE:
      return { kind: 'zone', ...reader.content(), records: reader.records() };
    case SETS:
      return { kind: 'sets', ...reader.content(), records: reader.records(), gone: reader.gone() };
    case REMOVAL:
      return { kind: 'removal', apex: reader.name() };
    case PLACE:
      return { kind: 'place', place: decodePlace(JSON.parse(reader.text())) };
    default:
      throw new RangeError(`unknown kind of entry: ${kind}`);
  }
}

interface PlaceText {
  epoch: string;
  from: string;
  inFlight: string[];
  recent: [id: number, mark: number, xid: string][];
  position: number;
}

/** Returns the position in a form that JSON can represent. */
export function encodePlace(place: FeedPlace | undefined): PlaceText | null {
  if (place === undefined) return null;
  const { epoch, from, inFlight, recent } = place.cursor;
  return {
    epoch,
    from: from.toString(),
    inFlight: inFlight.map(String),
    recent: recent.map(({ id, mark, xid }) => [id, mark, xid.toString()]),
    position: place.position,
  };
}

/** Throws RangeError if the text is not a position: Postgres would reject it at every attempt to continue from there. */
export function decodePlace(text: PlaceText | null): FeedPlace | undefined {
  if (text === null) return undefined;
  const { epoch, from, inFlight, recent, position } = text;
  if (typeof epoch !== 'string' || epoch.length > MAX_EPOCH_CHARACTERS)
    throw new RangeError('the position has no epoch');
  return {
    cursor: {
      epoch,
      from: transactionId(from),
      inFlight: listOf(inFlight).map(transactionId),
      recent: listOf(recent).map(([id, mark, xid]) => ({
        id: integer(id),
        mark: integer(mark),
        xid: transactionId(xid),
      })),
    },
    position: integer(position),
  };
}

const MAX_EPOCH_CHARACTERS = 200;
const MAX_TRANSACTION_ID = 2n ** 64n - 1n; // xid8

function listOf<T>(list: readonly T[]): readonly T[] {
  if (!Array.isArray(list)) throw new RangeError('a list of the position is missing');
  return list;
}

function integer(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a safe integer`);
  return value;
}

function transactionId(text: string): bigint {
  if (typeof text !== 'string' || !/^\d{1,20}$/.test(text)) throw new RangeError('invalid transaction id');
  const id = BigInt(text);
  if (id > MAX_TRANSACTION_ID) throw new RangeError('invalid transaction id');
  return id;
}

const FIRST_BYTES = 512;

class EntryWriter {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  written(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  #room(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#length, this.#buffer.length * 2));
      this.#buffer.copy(larger, 0, 0, at);
      this.#buffer = larger;
    }
    return at;
  }

  byte(value: number): void {
    const at = this.#room(1);
    this.#buffer[at] = value;
  }

  word(value: number): void {
    const at = this.#room(4);
    this.#buffer.writeUInt32LE(value, at);
  }

  #number(value: number): void {
    const at = this.#room(8);
    this.#buffer.writeDoubleLE(value, at);
  }

  name(name: Name): void {
    this.byte(name.length);
    const at = this.#room(name.length);
    this.#buffer.write(name, at, 'latin1');
  }

  text(text: string): void {
    const bytes = Buffer.from(text);
    this.word(bytes.length);
    const at = this.#room(bytes.length);
    bytes.copy(this.#buffer, at);
  }

  content(apex: Name, { id, version, mark }: ZoneContent): void {
    this.name(apex);
    this.#number(id);
    this.#number(version);
    this.#number(mark);
  }

  /** An owner equal to the previous one is written with length 0, which no name has. */
  records(records: readonly ZoneRecord[]): void {
    this.word(records.length);
    let before = '';
    for (const { owner, type, ttl, rdata } of records) {
      if (owner === before) this.byte(0);
      else this.name(owner);
      before = owner;
      this.word(type);
      this.word(ttl);
      this.word(rdata.length);
      const at = this.#room(rdata.length);
      this.#buffer.set(rdata, at);
    }
  }
}

const MAX_LABEL_OCTETS = 63;

class EntryReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  #pass(bytes: number): number {
    const at = this.#at;
    this.#at += bytes;
    if (this.#at > this.#bytes.length) throw new RangeError('the entry is truncated');
    return at;
  }

  byte(): number {
    return this.#bytes[this.#pass(1)] as number;
  }

  #word(): number {
    return this.#bytes.readUInt32LE(this.#pass(4));
  }

  #number(): number {
    return this.#bytes.readDoubleLE(this.#pass(8));
  }

  name(bytes = this.byte()): Name {
    const at = this.#pass(bytes);
    this.#checkName(at, at + bytes);
    return this.#bytes.toString('latin1', at, at + bytes) as Name;
  }

  /** Readers of a name continue up to the root label, so a name without one would never end. */
  #checkName(from: number, to: number): void {
    let at = from;
    while (at < to - 1 && this.#bytes[at] !== 0) at += (this.#bytes[at] as number) + 1;
    if (at !== to - 1 || this.#bytes[at] !== 0 || to - from > MAX_NAME_OCTETS)
      throw new RangeError('no name');
    for (let label = from; label < to - 1; label += (this.#bytes[label] as number) + 1) {
      if ((this.#bytes[label] as number) > MAX_LABEL_OCTETS) throw new RangeError('no name');
    }
    const name = this.#bytes.toString('latin1', from, to) as Name;
    if (foldCase(name) !== name) throw new RangeError('the name is not in lower case');
  }

  text(): string {
    const bytes = this.#word();
    const at = this.#pass(bytes);
    return this.#bytes.toString('utf8', at, at + bytes);
  }

  content(): { apex: Name; content: ZoneContent } {
    const apex = this.name();
    const [id, version, mark] = [this.#number(), this.#number(), this.#number()];
    return { apex, content: { id: integer(id), version: integer(version), mark: integer(mark) } };
  }

  records(): ZoneRecord[] {
    const records: ZoneRecord[] = [];
    let owner = '' as Name;
    for (let left = this.#word(); left > 0; left--) {
      const bytes = this.byte();
      if (bytes > 0) owner = this.name(bytes);
      const type = this.#word();
      const ttl = this.#word();
      const rdataBytes = this.#word();
      const at = this.#pass(rdataBytes);
      records.push({ owner, type, ttl, rdata: this.#bytes.subarray(at, at + rdataBytes) });
    }
    return records;
  }

  gone(): { owner: Name; type: number }[] {
    const gone: { owner: Name; type: number }[] = [];
    for (let left = this.#word(); left > 0; left--) gone.push({ owner: this.name(), type: this.#word() });
    return gone;
  }
}
