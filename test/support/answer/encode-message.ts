// Encodes a DNS message with name compression (RFC 1035 §4.1.4), for queries and simulated peers. The case of names is
// preserved, so only names with equal octets become pointers.

import { type Edns, OPT_OCTETS, optTtl } from '../../../src/dns/message/edns.ts';
import { HEADER_OCTETS } from '../../../src/dns/message/header.ts';
import { FLAG, type Message, type MessageRecord } from '../../../src/dns/message/message.ts';
import { type Name, ROOT } from '../../../src/dns/name.ts';
import { nameFields } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';

const MAX_MESSAGE_OCTETS = 65535;
const MAX_POINTER = 0x3fff;

/**
 * Returns the wire form in at most `maxOctets`. Record sets that do not fit are omitted, with TC if a record of the
 * answer or authority section is missing (RFC 2181 §9). There is always space for the OPT record.
 */
export function encodeMessage(message: Message, maxOctets: number = MAX_MESSAGE_OCTETS): Uint8Array {
  const { edns } = message;
  const optRdata = encodeOptions(edns?.options ?? []);
  const limit = Math.min(maxOctets, MAX_MESSAGE_OCTETS) - (edns ? OPT_OCTETS + optRdata.length : 0);
  const writer = new MessageWriter();
  for (const { name, type, class: questionClass } of message.questions)
    writer.name(name).number(type, 2).number(questionClass, 2);
  if (writer.length > limit) throw new RangeError(`the questions do not fit ${maxOctets} octets`);
  const counts = [message.questions.length];
  const sections = [message.answers, message.authorities, message.additionals];
  let fits = true;
  for (const records of sections) {
    const written: number = fits ? writeRecords(writer, records, limit) : 0;
    fits &&= written === records.length;
    counts.push(written);
  }
  const [, answers = 0, authorities = 0, additionals = 0] = counts;
  const isCut = answers < message.answers.length || authorities < message.authorities.length;
  if (edns) {
    const ttl = optTtl(message.rcode, edns.version, edns.dnssecOk);
    writer.record({ owner: ROOT, type: TYPE.OPT, class: edns.udpPayloadSize, ttl, rdata: optRdata });
    counts[3] = additionals + 1;
  }
  const header = [message.id, flagsOf(message, isCut), ...counts];
  return writer.finish(header);
}

/** Returns the number of written records. Records of the first set that does not fit are not written. */
function writeRecords(writer: MessageWriter, records: readonly MessageRecord[], limit: number): number {
  let setStart = 0;
  let setOffset = writer.length;
  for (const [i, record] of records.entries()) {
    const previous = records[i - 1];
    if (previous?.owner !== record.owner || previous.type !== record.type) {
      setStart = i;
      setOffset = writer.length;
    }
    writer.record(record);
    if (writer.length > limit) {
      writer.takeBack(setOffset);
      return setStart;
    }
  }
  return records.length;
}

function flagsOf(message: Message, isCut: boolean): number {
  const flags = (['qr', 'aa', 'tc', 'rd', 'ra', 'ad', 'cd'] as const).filter((flag) => message[flag]);
  const names = flags.map((flag) => flag.toUpperCase() as keyof typeof FLAG);
  const bits = names.reduce((sum, flag) => sum | FLAG[flag], isCut ? FLAG.TC : 0);
  return bits | ((message.opcode & 15) << 11) | (message.rcode & 15);
}

function encodeOptions(options: Edns['options']): Uint8Array {
  return Uint8Array.from(
    options.flatMap(({ code, value }) => [
      code >> 8,
      code & 255,
      value.length >> 8,
      value.length & 255,
      ...value,
    ]),
  );
}

class MessageWriter {
  #bytes = Buffer.alloc(4096);
  length = HEADER_OCTETS;
  /** Offsets of possible pointer targets, by their octets. */
  readonly #offsets = new Map<string, number>();

  octets(octets: Uint8Array): this {
    const end = this.length + octets.length;
    if (end > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(end)]);
    this.#bytes.set(octets, this.length);
    this.length = end;
    return this;
  }

  number(value: number, octets: 2 | 4): this {
    const bytes = Buffer.alloc(octets);
    bytes.writeUIntBE(value, 0, octets);
    return this.octets(bytes);
  }

  /** Writes a name, with its longest known suffix as a pointer. */
  name(name: Name): this {
    let at = 0;
    for (; name.charCodeAt(at) !== 0; at += name.charCodeAt(at) + 1) {
      const suffix = name.slice(at);
      const offset = this.#offsets.get(suffix);
      if (offset !== undefined) return this.number(0xc000 | offset, 2);
      if (this.length <= MAX_POINTER) this.#offsets.set(suffix, this.length);
      this.octets(Buffer.from(name.slice(at, at + name.charCodeAt(at) + 1), 'latin1'));
    }
    return this.octets(Uint8Array.of(0));
  }

  record({ owner, type, class: recordClass, ttl, rdata }: MessageRecord): void {
    this.name(owner).number(type, 2).number(recordClass, 2).number(ttl, 4).number(0, 2);
    const start = this.length;
    this.#rdata(type, Buffer.from(rdata));
    this.#bytes.writeUInt16BE(this.length - start, start - 2);
  }

  /** Compresses only the names in rdata of RFC 1035 types (RFC 3597 §4). */
  #rdata(type: number, rdata: Buffer): void {
    let at = 0;
    // Records of an UPDATE may have no rdata (RFC 2136 §2.4).
    for (const { skip } of rdata.length === 0 ? [] : nameFields(type)) {
      let end = at + skip;
      while (rdata[end] !== 0) end += (rdata[end] as number) + 1;
      this.octets(rdata.subarray(at, at + skip));
      this.name(rdata.toString('latin1', at + skip, end + 1) as Name);
      at = end + 1;
    }
    this.octets(rdata.subarray(at));
  }

  /** Discards everything from `start` on. */
  takeBack(start: number): void {
    this.length = start;
    for (const [name, at] of this.#offsets) if (at >= start) this.#offsets.delete(name);
  }

  finish(header: readonly number[]): Uint8Array {
    for (const [i, value] of header.entries()) this.#bytes.writeUInt16BE(value, 2 * i);
    return Uint8Array.from(this.#bytes.subarray(0, this.length));
  }
}
