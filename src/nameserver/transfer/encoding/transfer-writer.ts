// Writes the messages of a zone transfer (RFC 5936 §2.2): as many records as fit into 16 KiB, so that compression pointers
// reach every name. Owners are compressed against the apex. Names in rdata are compressed against the owner and the apex if
// the image stores them so.

import { HEADER_OCTETS } from '../../../dns/message/header.ts';
import { FLAG } from '../../../dns/message/message.ts';
import type { Name } from '../../../dns/name.ts';
import { nameFields } from '../../../dns/record/rdata.ts';
import { CLASS, TYPE } from '../../../dns/type-codes.ts';
import type { ZoneRecord } from '../../../zone/zone.ts';
import { setStart } from '../../image/compile-set.ts';
import { RECORD_HEAD_OCTETS } from '../../image/layout.ts';

const USUAL_MESSAGE_OCTETS = 0x4000;
/** A message that consists of one large record may have this many octets. OPT and TSIG records still fit. */
const MAX_MESSAGE_OCTETS = 0xffff - 512;
const MAX_NAME_OCTETS = 255;
const RDLENGTH = 10;
/** From this length on, a view and `set` are faster than a loop. */
const LONG_OCTETS = 512;

/** The messages of a transfer, with id 0. The first has the folded apex as its question. */
export interface EncodedTransfer {
  readonly messages: readonly Uint8Array[];
  readonly octets: number;
  readonly records: number;
}

/** A record does not fit into a message. */
class RecordTooLongError extends Error {
  override readonly name = 'RecordTooLongError';
}

/** Octets, and a view of them. */
export interface Source {
  readonly octets: Uint8Array;
  readonly view: DataView;
}

const NO_SOURCE: Source = { octets: new Uint8Array(0), view: new DataView(new ArrayBuffer(0)) };

export class TransferWriter {
  readonly #messages: Uint8Array[] = [];
  readonly #apex: Name;
  readonly #out: Uint8Array;
  readonly #view: DataView;
  /** The labels of the owner above the apex. */
  readonly #owner = new Uint8Array(MAX_NAME_OCTETS);
  #ownerOctets = 0;
  #ownerName: Name | undefined;
  #source: Source = NO_SOURCE;
  #at = 0;
  #inMessage = 0;
  #records = 0;
  #octets = 0;
  /** Offsets of the owner and the apex in the message, 0 if it does not have them. */
  #ownerOffset = 0;
  #apexOffset = 0;

  /** @param most the largest possible message, for transfers of a few records */
  constructor(apex: Name, most = 0x10000) {
    this.#out = new Uint8Array(most);
    this.#view = new DataView(this.#out.buffer);
    this.#apex = apex;
    this.#at = HEADER_OCTETS;
    this.#writeApex();
    this.#view.setInt32(this.#at, (TYPE.AXFR << 16) | CLASS.IN);
    this.#at += 4;
  }

  /** Sets the owner of the next stored sets: `octets` octets of labels above the apex at `at` of the image. */
  own(source: Source, at: number, octets: number): void {
    const from = source.octets;
    for (let i = 0; i < octets; i++) this.#owner[i] = from[at + i] as number;
    this.#ownerOctets = octets;
    this.#source = source;
    this.#ownerName = undefined;
    this.#ownerOffset = 0;
  }

  #ownByName(owner: Name) {
    if (owner === this.#ownerName) return;
    this.#ownerOctets = owner.length - this.#apex.length;
    for (let i = 0; i < this.#ownerOctets; i++) this.#owner[i] = owner.charCodeAt(i);
    this.#ownerName = owner;
    this.#ownerOffset = 0;
  }

  /** Writes a record. Its owner is folded and at or below the apex. */
  write({ owner, type, ttl, rdata }: ZoneRecord): void {
    this.#ownByName(owner);
    this.#beginRecord(rdata.length);
    this.#writeOwner();
    const view = this.#view;
    const at = this.#at;
    view.setInt32(at, (type << 16) | CLASS.IN);
    view.setUint32(at + 4, ttl);
    view.setUint16(at + 8, rdata.length);
    this.#out.set(rdata, at + 10);
    this.#at = at + 10 + rdata.length;
  }

  /**
   * Writes the `records` records of a set of the image at `at`, or of its signatures (layout.ts). `expanded` is the type
   * of a set with compression pointers, and 0 for any other.
   */
  writeSet(at: number, records: number, expanded: number): void {
    const source = this.#source;
    let from = at;
    for (let left = records; left > 0; left--) {
      const length = source.view.getUint16(from + RDLENGTH);
      this.#beginRecord(expanded > 0 ? length + 2 * MAX_NAME_OCTETS : length);
      this.#writeOwner();
      if (expanded > 0) this.#expand(source, at, from, expanded);
      else this.#copy(source, from + 2, RECORD_HEAD_OCTETS - 2 + length);
      from += RECORD_HEAD_OCTETS + length;
    }
  }

  /** Completes the last message. */
  finish(): EncodedTransfer {
    this.#endMessage();
    return { messages: this.#messages, octets: this.#octets, records: this.#records };
  }

  /** Counts a record, and begins a message for it if necessary. */
  #beginRecord(rdataOctets: number) {
    const octets = this.#ownerOctets + this.#apex.length + 10 + rdataOctets;
    if (this.#inMessage > 0 && this.#at + octets > USUAL_MESSAGE_OCTETS) {
      this.#endMessage();
      this.#at = HEADER_OCTETS;
    }
    if (this.#at + octets > MAX_MESSAGE_OCTETS)
      throw new RecordTooLongError('a record does not fit into a message');
    this.#inMessage++;
  }

  #endMessage() {
    const questions = this.#messages.length === 0 ? 1 : 0;
    this.#view.setInt32(0, FLAG.QR | FLAG.AA);
    this.#view.setInt32(4, (questions << 16) | this.#inMessage);
    this.#view.setInt32(8, 0);
    this.#messages.push(this.#out.slice(0, this.#at));
    this.#octets += this.#at;
    this.#records += this.#inMessage;
    this.#inMessage = 0;
    this.#ownerOffset = 0;
    this.#apexOffset = 0;
  }

  #writeOwner() {
    if (this.#ownerOffset > 0) return this.#writePointer(this.#ownerOffset);
    const octets = this.#ownerOctets;
    const offset = this.#at;
    for (let i = 0; i < octets; i++) this.#out[this.#at++] = this.#owner[i] as number;
    if (this.#apexOffset > 0) this.#writePointer(this.#apexOffset);
    else {
      const apexOffset = this.#at;
      this.#writeApex();
      if (this.#apex.length > 2) this.#apexOffset = apexOffset;
    }
    if (octets > 0) this.#ownerOffset = offset;
  }

  #writeApex() {
    const apex = this.#apex;
    for (let i = 0; i < apex.length; i++) this.#out[this.#at++] = apex.charCodeAt(i);
  }

  #writePointer(offset: number) {
    this.#view.setUint16(this.#at, 0xc000 | offset);
    this.#at += 2;
  }

  #copy({ octets, view }: Source, from: number, length: number): void {
    let to = this.#at;
    const end = to + length;
    this.#at = end;
    if (length > LONG_OCTETS) {
      this.#out.set(octets.subarray(from, from + length), to);
      return;
    }
    const into = this.#view;
    let at = from;
    for (; to + 4 <= end; to += 4, at += 4) into.setInt32(to, view.getInt32(at, true), true);
    for (; to < end; to++, at++) into.setUint8(to, view.getUint8(at));
  }

  /**
   * Writes the record at `from` of the set at `setAt` without its owner. Pointers into the owner are moved, and those
   * into the set, which may have begun in another message, are replaced with the name.
   */
  #expand(source: Source, setAt: number, from: number, type: number) {
    const rdataEnd = from + RECORD_HEAD_OCTETS + source.view.getUint16(from + RDLENGTH);
    this.#copy(source, from + 2, RECORD_HEAD_OCTETS - 2);
    const start = this.#at;
    let at = from + RECORD_HEAD_OCTETS;
    for (const { skip } of nameFields(type)) {
      this.#copy(source, at, skip);
      at = this.#expandName(source, setAt, at + skip);
    }
    this.#copy(source, at, rdataEnd - at);
    this.#view.setUint16(start - 2, this.#at - start);
  }

  /** Writes the name at `from`. Returns the offset after it. */
  #expandName({ view }: Source, setAt: number, from: number): number {
    const ownerOctets = this.#ownerOctets + this.#apex.length;
    const storedStart = setStart(ownerOctets);
    let end = -1;
    for (let at = from; ; ) {
      const label = view.getUint8(at);
      if (label < 0xc0) {
        for (const next = at + label + 1; at < next; at++) this.#out[this.#at++] = view.getUint8(at);
        if (label === 0) return end < 0 ? at : end;
        continue;
      }
      const pointer = ((label & 0x3f) << 8) | view.getUint8(at + 1);
      if (end < 0) end = at + 2;
      if (pointer >= storedStart) {
        at = setAt + pointer - storedStart;
        continue;
      }
      const inOwner = pointer - HEADER_OCTETS;
      const isAboveApex = inOwner < this.#ownerOctets;
      this.#writePointer(
        isAboveApex ? this.#ownerOffset + inOwner : this.#apexOffset + inOwner - this.#ownerOctets,
      );
      return end;
    }
  }
}
