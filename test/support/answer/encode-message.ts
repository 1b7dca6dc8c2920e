// Encodes a DNS message with name compression (RFC 1035 §4.1.4), for queries and for peers that tests play. Names keep
// their case, so only names of equal octets become pointers.

import { type Edns, OPT_OCTETS, optTtl } from '../../../src/dns/message/edns.ts';
import { HEADER_OCTETS } from '../../../src/dns/message/header.ts';
import { FLAG, type Message, type MessageRecord } from '../../../src/dns/message/message.ts';
import { type Name, ROOT } from '../../../src/dns/name.ts';
import { nameFields } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';

const MAX_MESSAGE_OCTETS = 65535;
const MAX_POINTER = 0x3fff;

/**
 * Gives the wire form of at most `maxOctets`. Record sets that do not fit are left out whole, with TC if a record of
 * the answer or authority section is missing (RFC 2181 §9). The OPT record always has room.
 */
export function encodeMessage(message: Message, maxOctets: number = MAX_MESSAGE_OCTETS): Uint8Array {
  const optRdata = message.edns === undefined ? undefined : encodeOptions(message.edns.options);
  const reserved = optRdata === undefined ? 0 : OPT_OCTETS + optRdata.length;
  const writer = new MessageWriter();
  const bytes = new Uint8Array(Math.min(maxOctets, MAX_MESSAGE_OCTETS));
  if (bytes.length < HEADER_OCTETS + reserved) throw new RangeError(`no message fits ${bytes.length} octets`);
  writer.begin(bytes, bytes.length - reserved);
  for (const question of message.questions) {
    if (!writer.writeQuestion(question.name, question.type, question.class)) {
      throw new RangeError(`the questions do not fit ${bytes.length} octets`);
    }
  }
  writer.setCount(0, message.questions.length);
  const tc = !writeSections(writer, message);
  if (message.edns !== undefined && optRdata !== undefined) {
    writer.limit = bytes.length;
    const ttl = optTtl(message.rcode, message.edns.version, message.edns.dnssecOk);
    writer.writeRecord(ROOT, TYPE.OPT, message.edns.udpPayloadSize, ttl, optRdata);
    writer.setCount(3, countAt(bytes, 10) + 1);
  }
  writeHeader(bytes, message, tc);
  return bytes.slice(0, writer.length);
}

/** Writes the three sections; false when something that is required did not fit. */
function writeSections(writer: MessageWriter, message: Message): boolean {
  const sections = [message.answers, message.authorities, message.additionals];
  for (const [index, records] of sections.entries()) {
    const written = writeRecords(writer, records);
    writer.setCount((index + 1) as 1 | 2 | 3, written);
    if (written < records.length) return index === 2;
  }
  return true;
}

function writeRecords(writer: MessageWriter, records: readonly MessageRecord[]): number {
  let setStart = 0;
  let setOffset = writer.length;
  for (const [i, record] of records.entries()) {
    const previous = records[i - 1];
    if (previous === undefined || previous.owner !== record.owner || previous.type !== record.type) {
      setStart = i;
      setOffset = writer.length;
    }
    if (!writer.writeRecord(record.owner, record.type, record.class, record.ttl, record.rdata)) {
      writer.takeBack(setOffset);
      return setStart;
    }
  }
  return records.length;
}

function countAt(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

function writeHeader(bytes: Uint8Array, message: Message, tc: boolean): void {
  const flags =
    (message.qr ? FLAG.QR : 0) |
    ((message.opcode & 15) << 11) |
    (message.aa ? FLAG.AA : 0) |
    (message.tc || tc ? FLAG.TC : 0) |
    (message.rd ? FLAG.RD : 0) |
    (message.ra ? FLAG.RA : 0) |
    (message.ad ? FLAG.AD : 0) |
    (message.cd ? FLAG.CD : 0) |
    (message.rcode & 15);
  bytes[0] = message.id >> 8;
  bytes[1] = message.id;
  bytes[2] = flags >> 8;
  bytes[3] = flags;
}

/** The rdata of an OPT record. */
export function encodeOptions(options: Edns['options']): Uint8Array {
  const octets = options.reduce((sum, option) => sum + 4 + option.value.length, 0);
  const rdata = new Uint8Array(octets);
  let at = 0;
  for (const { code, value } of options) {
    rdata[at] = code >> 8;
    rdata[at + 1] = code;
    rdata[at + 2] = value.length >> 8;
    rdata[at + 3] = value.length;
    rdata.set(value, at + 4);
    at += 4 + value.length;
  }
  return rdata;
}

/** Writes into a given buffer with a size limit. A record that does not fit is removed whole. */
class MessageWriter {
  bytes: Uint8Array = new Uint8Array(0);
  length = 0;
  /** The offset after which no record may end. */
  limit = 0;
  /** The offsets of names that may be pointed to, by their octets. */
  readonly #offsets = new Map<string, number>();

  /** Starts a message of at most `limit` octets in `bytes`. */
  begin(bytes: Uint8Array, limit: number): void {
    this.bytes = bytes;
    this.limit = Math.min(limit, bytes.length);
    this.length = HEADER_OCTETS;
    bytes.fill(0, 0, HEADER_OCTETS);
  }

  setCount(section: 0 | 1 | 2 | 3, count: number): void {
    this.#set16(4 + section * 2, count);
  }

  write16(value: number): void {
    this.#set16(this.length, value);
    this.length += 2;
  }

  write32(value: number): void {
    this.#set16(this.length, value >>> 16);
    this.#set16(this.length + 2, value);
    this.length += 4;
  }

  #set16(at: number, value: number): void {
    this.bytes[at] = value >> 8;
    this.bytes[at + 1] = value;
  }

  /** Writes one question, or nothing and false when it does not fit. */
  writeQuestion(name: Name, type: number, questionClass: number): boolean {
    const start = this.length;
    if (!this.writeName(name) || this.length + 4 > this.limit) return this.takeBack(start);
    this.write16(type);
    this.write16(questionClass);
    return true;
  }

  /** Writes one record, or nothing and false when it does not fit. */
  writeRecord(owner: Name, type: number, recordClass: number, ttl: number, rdata: Uint8Array): boolean {
    const start = this.length;
    if (!this.writeName(owner) || this.length + 10 > this.limit) return this.takeBack(start);
    this.write16(type);
    this.write16(recordClass);
    this.write32(ttl);
    const lengthAt = this.length;
    this.length += 2;
    if (!this.#writeRdata(type, rdata)) return this.takeBack(start);
    this.#set16(lengthAt, this.length - lengthAt - 2);
    return true;
  }

  /** Forgets everything from `start` on; false, for the caller to return. */
  takeBack(start: number): false {
    this.length = start;
    for (const [name, at] of this.#offsets) if (at >= start) this.#offsets.delete(name);
    return false;
  }

  // RFC 3597 §4: only the names in rdata of RFC 1035 types are compressed.
  #writeRdata(type: number, rdata: Uint8Array): boolean {
    const fields = nameFields(type);
    if (fields.length === 0) return this.#copy(rdata, 0, rdata.length);
    let at = 0;
    for (const field of fields) {
      if (!this.#copy(rdata, at, at + field.skip)) return false;
      at += field.skip;
      const end = endOfName(rdata, at);
      if (!this.writeName(nameOf(rdata, at, end))) return false;
      at = end;
    }
    return this.#copy(rdata, at, rdata.length);
  }

  #copy(octets: Uint8Array, from: number, to: number): boolean {
    if (this.length + to - from > this.limit) return false;
    this.bytes.set(octets.subarray(from, to), this.length);
    this.length += to - from;
    return true;
  }

  /** Writes a name, the longest known suffix as a pointer. False when it does not fit; then take back. */
  writeName(name: Name): boolean {
    let i = 0;
    for (; name.charCodeAt(i) !== 0; i += name.charCodeAt(i) + 1) {
      const suffix = name.slice(i);
      const offset = this.#offsets.get(suffix);
      if (offset !== undefined) return this.#writePointer(offset);
      if (!this.#writeLabel(name, i, suffix)) return false;
    }
    if (this.length + 1 > this.limit) return false;
    this.bytes[this.length++] = 0;
    return true;
  }

  #writePointer(offset: number): boolean {
    if (this.length + 2 > this.limit) return false;
    this.write16(0xc000 | offset);
    return true;
  }

  #writeLabel(name: Name, at: number, suffix: string): boolean {
    const octets = name.charCodeAt(at) + 1;
    if (this.length + octets > this.limit) return false;
    if (this.length <= MAX_POINTER) this.#offsets.set(suffix, this.length);
    for (let i = 0; i < octets; i++) this.bytes[this.length + i] = name.charCodeAt(at + i);
    this.length += octets;
    return true;
  }
}

function endOfName(rdata: Uint8Array, at: number): number {
  let end = at;
  while (rdata[end] !== 0 && end < rdata.length) end += (rdata[end] as number) + 1;
  return end + 1;
}

function nameOf(rdata: Uint8Array, from: number, to: number): Name {
  let name = '';
  for (let i = from; i < to; i++) name += String.fromCharCode(rdata[i] as number);
  return name as Name;
}
