// Reads a query in place: offsets and numbers go into a reused object, and only the folded name is copied. Reports
// errors; answer-query decides how to answer.

import { EDNS_OPTION } from '../../dns/message/edns.ts';
import { HEADER_OCTETS, OPCODE } from '../../dns/message/header.ts';
import { MAX_NAME_OCTETS } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { FoldedName } from '../image/find/folded-name.ts';
import type { Client } from './client.ts';
import { EDNS_BIT } from './query-counters.ts';
import { TRANSPORT } from './transports.ts';

/** Values of `Query.slowPath`: the reason why only the transfer thread can answer. */
export const SLOW = { NO: 0, TSIG: 1, OPCODE: 2, TRANSFER: 3 } as const;

/** A query that was read. */
export class Query {
  /** The client. The receiver of the query fills it; it is not part of the message. */
  readonly client: Client;
  /** The query name, folded (RFC 4343); the root if there is no question. */
  readonly name: FoldedName;
  /** True if the message gets no answer: it is shorter than a header, or a response. The other fields are undefined. */
  isIgnored = false;
  /** The error that reading the message threw; undefined if there was none. */
  error: unknown = undefined;
  /** Start and end of the message in the buffer. */
  start = 0;
  end = 0;
  /** True if a part is malformed (FORMERR). Fields read before that part are valid. */
  malformed = false;
  opcode = 0;
  questions = 0;
  /** Length of header and question; 12 if there is no question to echo. */
  questionEnd = HEADER_OCTETS;
  type = 0;
  class = 0;
  /** A value of SLOW. */
  slowPath: number = SLOW.NO;
  /** True if there is an OPT record, so that the answer has one too (RFC 6891 §7). */
  edns = false;
  /** Its properties that are counted: values of EDNS_BIT. */
  ednsBits = 0;
  udpPayloadSize = 512;
  version = 0;
  dnssecOk = false;
  nsid = false;
  tcpKeepalive = false;
  zoneVersion = false;
  padding = false;
  /** Position in the buffer, and length, of the first COOKIE option; the length is -1 if there is none. */
  cookieAt = 0;
  cookieOctets = -1;
  /**
   * Position in the buffer, and length, of the first CLIENT-SUBNET option (RFC 7871), which is not validated here; the
   * length is -1 if there is none.
   */
  subnetAt = 0;
  subnetOctets = -1;

  constructor(name: FoldedName, client: Client) {
    this.name = name;
    this.client = client;
  }
}

/**
 * Fills `query` from the `octets` octets at `start`, which hold at least a header; `view` is a view of `input`. Octets
 * after the message are ignored, as in BIND and NSD.
 */
export function readQuery(
  input: Uint8Array,
  view: DataView,
  start: number,
  octets: number,
  query: Query,
): void {
  query.start = start;
  query.end = start + octets;
  query.malformed = false;
  query.slowPath = SLOW.NO;
  query.edns = false;
  query.ednsBits = 0;
  query.udpPayloadSize = 512;
  query.version = 0;
  query.dnssecOk = false;
  query.nsid = false;
  query.tcpKeepalive = false;
  query.zoneVersion = false;
  query.padding = false;
  query.cookieOctets = -1;
  query.subnetOctets = -1;
  query.opcode = ((input[start + 2] as number) >> 3) & 15;
  query.questions = read16(input, start + 4);
  let at = start + HEADER_OCTETS;
  if (query.questions === 1) at = readQuestion(input, view, query);
  else at = skipQuestions(input, query);
  const others = read16(input, start + 6) + read16(input, start + 8);
  const records = others + read16(input, start + 10);
  for (let i = 0; i < records && at >= 0; i++) at = readRecord(input, at, i >= others, query);
  if (at < 0) query.malformed = true;
  if (query.opcode !== OPCODE.QUERY || query.type === TYPE.IXFR || query.type === TYPE.AXFR) markSlow(query);
}

/** A transfer over UDP is IXFR (RFC 1995 §2); AXFR requires a stream (RFC 5936 §4.2). */
function markSlow(query: Query): void {
  const { opcode, type, client, slowPath } = query;
  if (slowPath === SLOW.TSIG) return;
  if (opcode === OPCODE.NOTIFY || opcode === OPCODE.UPDATE) query.slowPath = SLOW.OPCODE;
  if (opcode !== OPCODE.QUERY) return;
  if (type === TYPE.IXFR || client.transport !== TRANSPORT.UDP) query.slowPath = SLOW.TRANSFER;
}

function read16(input: Uint8Array, at: number): number {
  return ((input[at] as number) << 8) | (input[at + 1] as number);
}

/** Returns the offset after the question, or -1. The name cannot be compressed, because no name precedes it. */
function readQuestion(input: Uint8Array, view: DataView, query: Query): number {
  const at = query.name.readQuestion(input, view, query.start + HEADER_OCTETS, query.end);
  if (at < 0) return withoutQuestion(query);
  query.type = read16(input, at);
  query.class = read16(input, at + 2);
  query.questionEnd = at + 4 - query.start;
  return at + 4;
}

function withoutQuestion(query: Query): number {
  query.type = 0;
  query.class = 0;
  query.questionEnd = HEADER_OCTETS;
  return -1;
}

/**
 * Skips the questions. More than one is FORMERR (RFC 9619 §4), but an OPT record after them still requires one in the answer.
 */
function skipQuestions(input: Uint8Array, query: Query): number {
  query.name.clear();
  withoutQuestion(query);
  query.malformed = query.questions > 1;
  let at = query.start + HEADER_OCTETS;
  for (let i = 0; i < query.questions && at >= 0; i++) {
    const end = skipName(input, at, query);
    at = end < 0 || end + 4 > query.end ? -1 : end + 4;
  }
  return at;
}

/** Returns the offset after the record at `at`, or -1. Only the owner and the bounds of records other than OPT are checked. */
function readRecord(input: Uint8Array, at: number, additional: boolean, query: Query): number {
  const ownerEnd = skipName(input, at, query);
  if (ownerEnd < 0 || ownerEnd + 10 > query.end) return -1;
  const rdata = ownerEnd + 10;
  const end = rdata + read16(input, ownerEnd + 8);
  if (end > query.end) return -1;
  const type = read16(input, ownerEnd);
  if (type !== TYPE.OPT) {
    if (type === TYPE.TSIG) query.slowPath = SLOW.TSIG;
    return end;
  }
  const second = query.edns;
  query.edns = true;
  // A single OPT record is allowed, in the additional section, owned by the root (RFC 6891 §6.1.1).
  if (second || !additional || input[at] !== 0) return -1;
  query.udpPayloadSize = read16(input, ownerEnd + 2);
  query.version = input[ownerEnd + 5] as number;
  query.dnssecOk = ((input[ownerEnd + 6] as number) & 0x80) !== 0;
  query.ednsBits = query.dnssecOk ? EDNS_BIT.EDNS | EDNS_BIT.DO : EDNS_BIT.EDNS;
  // The options of an unknown version may have another format.
  return query.version !== 0 || readOptions(input, rdata, end, query) ? end : -1;
}

/** Returns the offset after the name at `from`, or -1. */
function skipName(input: Uint8Array, from: number, { start, end }: Query): number {
  let at = from;
  for (;;) {
    if (at >= end) return -1;
    const length = input[at] as number;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 1 < end && pointsBack(input, at, start, from) ? at + 2 : -1;
    if (length > 63) return -1;
    at += length + 1;
    if (at - from >= MAX_NAME_OCTETS) return -1;
  }
}

/** Returns true if the pointer at `at` leads to an offset after the header and before its own name (RFC 1035 §4.1.4). */
function pointsBack(input: Uint8Array, at: number, start: number, from: number): boolean {
  const target = read16(input, at) & 0x3fff;
  return target >= HEADER_OCTETS && start + target < from;
}

/** Reads the options. Returns false if an option exceeds the record, or a cookie has an invalid length (RFC 7873 §5.2.2). */
function readOptions(input: Uint8Array, from: number, end: number, query: Query): boolean {
  let at = from;
  while (at < end) {
    if (at + 4 > end) return false;
    const code = read16(input, at);
    const length = read16(input, at + 2);
    at += 4;
    if (at + length > end) return false;
    if (code === EDNS_OPTION.COOKIE) {
      // Only the first cookie counts, valid or not (RFC 7873 §5.2).
      if (query.cookieOctets < 0) {
        if (length !== 8 && (length < 16 || length > 40)) return false;
        query.cookieAt = at;
        query.cookieOctets = length;
        query.ednsBits |= EDNS_BIT.COOKIE;
      }
    } else if (code === EDNS_OPTION.CLIENT_SUBNET) {
      if (query.subnetOctets < 0) {
        query.subnetAt = at;
        query.subnetOctets = length;
        query.ednsBits |= EDNS_BIT.ECS;
      }
    } else if (code === EDNS_OPTION.NSID) {
      query.nsid = true;
      query.ednsBits |= EDNS_BIT.NSID;
    } else if (code === EDNS_OPTION.TCP_KEEPALIVE) {
      query.tcpKeepalive = true;
      query.ednsBits |= EDNS_BIT.KEEPALIVE;
    } else if (code === EDNS_OPTION.ZONEVERSION) {
      query.zoneVersion = true; // its content is ignored
      query.ednsBits |= EDNS_BIT.ZONEVERSION;
    } else if (code === EDNS_OPTION.PADDING) {
      query.padding = true;
      query.ednsBits |= EDNS_BIT.PADDING;
    }
    at += length;
  }
  return true;
}
