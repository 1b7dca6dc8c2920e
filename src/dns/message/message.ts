// Decodes a DNS message (RFC 1035 §4) for the resolver; the nameserver reads queries in place. The OPT record is in
// `edns`, and never among the additional records.

import { WireError } from '../errors.ts';
import { decodeName, type Name, ROOT } from '../name.ts';
import { readRdata } from '../record/rdata.ts';
import { TYPE } from '../type-codes.ts';
import { DNSSEC_OK, decodeOptions, type Edns } from './edns.ts';
import { HEADER_OCTETS } from './header.ts';

interface Question {
  readonly name: Name;
  readonly type: number;
  readonly class: number;
}

/** A record with uncompressed rdata. */
export interface MessageRecord {
  readonly owner: Name;
  readonly type: number;
  readonly class: number;
  readonly ttl: number;
  readonly rdata: Uint8Array;
}

export interface Message {
  readonly id: number;
  readonly qr: boolean;
  readonly opcode: number;
  readonly aa: boolean;
  readonly tc: boolean;
  readonly rd: boolean;
  readonly ra: boolean;
  readonly ad: boolean;
  readonly cd: boolean;
  /** The response code, including the upper bits from the OPT record if there is one. */
  readonly rcode: number;
  readonly questions: readonly Question[];
  readonly answers: readonly MessageRecord[];
  readonly authorities: readonly MessageRecord[];
  readonly additionals: readonly MessageRecord[];
  readonly edns?: Edns;
}

/** The header's flag bits (RFC 1035 §4.1.1, RFC 4035 §3). */
export const FLAG = {
  QR: 0x8000,
  AA: 0x0400,
  TC: 0x0200,
  RD: 0x0100,
  RA: 0x0080,
  AD: 0x0020,
  CD: 0x0010,
} as const;

/** Reads a whole message. Octets after it are ignored, as in BIND and NSD. Throws only WireError. */
export function decodeMessage(octets: Uint8Array): Message {
  if (octets.length < HEADER_OCTETS) throw new WireError('the message is shorter than a header');
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  const flags = view.getUint16(2);
  const place = { at: HEADER_OCTETS };
  const questions: Question[] = [];
  for (let i = view.getUint16(4); i > 0; i--) questions.push(readQuestion(octets, view, place));
  const answers = readRecords(octets, view, place, view.getUint16(6));
  const authorities = readRecords(octets, view, place, view.getUint16(8));
  const additionals = readRecords(octets, view, place, view.getUint16(10));
  const opt = takeOpt([...answers, ...authorities], additionals);
  return {
    id: view.getUint16(0),
    qr: (flags & FLAG.QR) !== 0,
    opcode: (flags >> 11) & 15,
    aa: (flags & FLAG.AA) !== 0,
    tc: (flags & FLAG.TC) !== 0,
    rd: (flags & FLAG.RD) !== 0,
    ra: (flags & FLAG.RA) !== 0,
    ad: (flags & FLAG.AD) !== 0,
    cd: (flags & FLAG.CD) !== 0,
    rcode: (flags & 15) | (opt === undefined ? 0 : (opt.ttl >>> 24) << 4),
    questions,
    answers,
    authorities,
    additionals: opt === undefined ? additionals : additionals.filter((record) => record !== opt),
    ...(opt === undefined ? {} : { edns: ednsOf(opt) }),
  };
}

function readQuestion(octets: Uint8Array, view: DataView, place: { at: number }): Question {
  const { name, end } = decodeName(octets, place.at);
  if (end + 4 > octets.length) throw new WireError('a question is truncated');
  place.at = end + 4;
  return { name, type: view.getUint16(end), class: view.getUint16(end + 2) };
}

function readRecords(
  octets: Uint8Array,
  view: DataView,
  place: { at: number },
  count: number,
): MessageRecord[] {
  const records: MessageRecord[] = [];
  for (let i = 0; i < count; i++) {
    const { name: owner, end } = decodeName(octets, place.at);
    if (end + 10 > octets.length) throw new WireError('a record is truncated');
    const type = view.getUint16(end);
    const length = view.getUint16(end + 8);
    const start = end + 10;
    if (start + length > octets.length) throw new WireError('the rdata of a record is truncated');
    // Rdata may be empty in messages without data (RFC 2136 §2.4).
    const rdata =
      type === TYPE.OPT || length === 0
        ? octets.slice(start, start + length)
        : readRdata(type, octets, start, length);
    records.push({ owner, type, class: view.getUint16(end + 2), ttl: view.getUint32(end + 4), rdata });
    place.at = start + length;
  }
  return records;
}

/** Returns the OPT record. At most one is allowed, in the additional section, owned by the root (RFC 6891 §6.1.1). */
function takeOpt(others: MessageRecord[], additionals: MessageRecord[]): MessageRecord | undefined {
  if (others.some((record) => record.type === TYPE.OPT)) {
    throw new WireError('an OPT record is outside the additional section');
  }
  const opts = additionals.filter((record) => record.type === TYPE.OPT);
  if (opts.length > 1) throw new WireError('there are several OPT records');
  if (opts[0] !== undefined && opts[0].owner !== ROOT)
    throw new WireError('the owner of an OPT record is not the root');
  return opts[0];
}

function ednsOf(opt: MessageRecord): Edns {
  return {
    udpPayloadSize: opt.class,
    version: (opt.ttl >>> 16) & 255,
    dnssecOk: (opt.ttl & DNSSEC_OK) !== 0,
    options: decodeOptions(opt.rdata),
  };
}
