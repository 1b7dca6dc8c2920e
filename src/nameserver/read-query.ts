// Reads a query in place: offsets and numbers into one reused object, nothing is copied but the folded name. It says
// what is wrong; what to answer is decided by answer-query.

import { EDNS_OPTION } from '../dns/edns.ts';
import { type Name, ROOT } from '../dns/name.ts';
import { TYPE } from '../dns/type-codes.ts';

const HEADER_OCTETS = 12;
const MAX_NAME_OCTETS = 255;

export class Query {
  bytes: Uint8Array = new Uint8Array(0);
  /** Something is malformed: FORMERR. What was read before it stands. */
  malformed = false;
  opcode = 0;
  questions = 0;
  /** Offset behind the question; 12 when there is none that can be echoed. */
  questionEnd = HEADER_OCTETS;
  /** Folded (RFC 4343). */
  name: Name = ROOT;
  type = 0;
  class = 0;
  /** An OPT record was seen: the answer has one too (RFC 6891 §7). */
  edns = false;
  udpPayloadSize = 512;
  version = 0;
  dnssecOk = false;
  nsid = false;
  tcpKeepalive = false;
  zoneVersion = false;
  /** Offset and length of the first COOKIE option; length -1 when there is none. */
  cookieAt = 0;
  cookieOctets = -1;
}

const folded = Buffer.alloc(MAX_NAME_OCTETS);

/** Fills `query` from `bytes`, which hold at least a header. Octets behind the message are ignored, as BIND and NSD do. */
export function readQuery(bytes: Uint8Array, query: Query): void {
  reset(bytes, query);
  query.opcode = ((bytes[2] as number) >> 3) & 15;
  query.questions = read16(bytes, 4);
  let at = HEADER_OCTETS;
  if (query.questions === 1) {
    at = readQuestion(bytes, query);
    if (at >= 0) query.questionEnd = at;
  } else {
    // More than one is FORMERR (RFC 9619 §4), but an OPT record behind them still wants one in the answer.
    query.malformed = query.questions > 1;
    for (let i = 0; i < query.questions && at >= 0; i++) at = skipQuestion(bytes, at);
  }
  const others = read16(bytes, 6) + read16(bytes, 8);
  const records = others + read16(bytes, 10);
  for (let i = 0; i < records && at >= 0; i++) at = readRecord(bytes, at, i >= others, query);
  if (at < 0) query.malformed = true;
}

function reset(bytes: Uint8Array, query: Query): void {
  query.bytes = bytes;
  query.malformed = false;
  query.questionEnd = HEADER_OCTETS;
  query.name = ROOT;
  query.type = 0;
  query.class = 0;
  query.edns = false;
  query.udpPayloadSize = 512;
  query.version = 0;
  query.dnssecOk = false;
  query.nsid = false;
  query.tcpKeepalive = false;
  query.zoneVersion = false;
  query.cookieOctets = -1;
}

function read16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/** The offset behind the question, or -1. Its name cannot be compressed: nothing stands before it. */
function readQuestion(bytes: Uint8Array, query: Query): number {
  let at = HEADER_OCTETS;
  for (;;) {
    const length = bytes[at];
    if (length === undefined || length > 63) return -1;
    if (length === 0) break;
    at += length + 1;
    if (at - HEADER_OCTETS >= MAX_NAME_OCTETS) return -1;
  }
  const octets = at + 1 - HEADER_OCTETS;
  if (at + 5 > bytes.length) return -1;
  // Length octets are below "A" and stay as they are.
  for (let i = 0; i < octets; i++) {
    const octet = bytes[HEADER_OCTETS + i] as number;
    folded[i] = octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
  }
  query.name = folded.toString('latin1', 0, octets) as Name;
  query.type = read16(bytes, at + 1);
  query.class = read16(bytes, at + 3);
  return at + 5;
}

function skipQuestion(bytes: Uint8Array, at: number): number {
  const end = skipName(bytes, at);
  return end < 0 || end + 4 > bytes.length ? -1 : end + 4;
}

/** The offset behind the record at `at`, or -1. Of records other than OPT only the bounds are looked at. */
function readRecord(bytes: Uint8Array, at: number, additional: boolean, query: Query): number {
  const ownerEnd = skipName(bytes, at);
  if (ownerEnd < 0 || ownerEnd + 10 > bytes.length) return -1;
  const rdata = ownerEnd + 10;
  const end = rdata + read16(bytes, ownerEnd + 8);
  if (end > bytes.length) return -1;
  if (read16(bytes, ownerEnd) !== TYPE.OPT) return end;
  const second = query.edns;
  query.edns = true;
  // RFC 6891 §6.1.1: one, in the additional section, with the root as its owner.
  if (second || !additional || bytes[at] !== 0) return -1;
  query.udpPayloadSize = read16(bytes, ownerEnd + 2);
  query.version = bytes[ownerEnd + 5] as number;
  query.dnssecOk = ((bytes[ownerEnd + 6] as number) & 0x80) !== 0;
  // Options of a version that we do not know may have another form.
  return query.version !== 0 || readOptions(bytes, rdata, end, query) ? end : -1;
}

function skipName(bytes: Uint8Array, from: number): number {
  let at = from;
  for (;;) {
    const length = bytes[at];
    if (length === undefined) return -1;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    if (length > 63) return -1;
    at += length + 1;
    if (at - from >= MAX_NAME_OCTETS) return -1;
  }
}

/** False when an option runs past the record, or a cookie has an impossible length (RFC 7873 §5.2.2). */
function readOptions(bytes: Uint8Array, from: number, end: number, query: Query): boolean {
  let at = from;
  while (at < end) {
    if (at + 4 > end) return false;
    const code = read16(bytes, at);
    const length = read16(bytes, at + 2);
    at += 4;
    if (at + length > end) return false;
    if (code === EDNS_OPTION.COOKIE) {
      // RFC 7873 §5.2: only the first one counts, well formed or not.
      if (query.cookieOctets < 0) {
        if (length !== 8 && (length < 16 || length > 40)) return false;
        query.cookieAt = at;
        query.cookieOctets = length;
      }
    } else if (code === EDNS_OPTION.NSID) query.nsid = true;
    else if (code === EDNS_OPTION.TCP_KEEPALIVE) query.tcpKeepalive = true;
    else if (code === EDNS_OPTION.ZONEVERSION) query.zoneVersion = true; // whatever it holds
    at += length;
  }
  return true;
}
