// Writes answers without records: header, question and OPT record.

import { decodeName } from '../name.ts';
import { TYPE } from '../type-codes.ts';
import { EDNS_OPTION, type Edns, OPT_OCTETS, optTtl, UDP_PAYLOAD_OCTETS } from './edns.ts';
import { HEADER_OCTETS } from './header.ts';
import { FLAG } from './message.ts';

const OPCODE_AND_RD = 0x7900;
const OPTION_HEAD_OCTETS = 4;
/** Maximum length of an EDE text, so that the answer fits into a UDP packet. */
const MAX_TEXT_OCTETS = 160;

export interface ReplyFields {
  readonly rcode: number;
  readonly isAuthoritative?: boolean;
  readonly isTruncated?: boolean;
  /** EDE code (RFC 8914), for clients that use EDNS. */
  readonly extendedError?: number | undefined;
  /** EDE text. Long texts are cut. */
  readonly extendedText?: string | undefined;
}

/**
 * Returns an answer without records, which echoes the question if that is readable. `octets` is the message without its
 * TSIG record, and `edns` is its OPT record.
 */
export function replyTo(octets: Uint8Array, edns: Edns | undefined, fields: ReplyFields): Uint8Array {
  const { rcode, isAuthoritative = false, isTruncated = false, extendedError, extendedText = '' } = fields;
  const end = questionEnd(octets);
  const opt = optRecord(
    edns,
    rcode,
    extendedError === undefined ? [] : [extendedErrorOption(extendedError, extendedText)],
  );
  const reply = Buffer.alloc(end + opt.length);
  reply.set(octets.subarray(0, end));
  reply.set(opt, end);
  reply.writeUInt16BE(
    FLAG.QR |
      (isAuthoritative ? FLAG.AA : 0) |
      (isTruncated ? FLAG.TC : 0) |
      (reply.readUInt16BE(2) & OPCODE_AND_RD) |
      (rcode & 15),
    2,
  );
  reply.writeUInt16BE(end > HEADER_OCTETS ? 1 : 0, 4);
  reply.writeUInt32BE(0, 6);
  reply.writeUInt16BE(opt.length > 0 ? 1 : 0, 10);
  return reply;
}

const NO_OCTETS = new Uint8Array(0);

/** Returns the offset after the question, or HEADER_OCTETS unless there is exactly one, with an uncompressed name. */
export function questionEnd(octets: Uint8Array): number {
  if ((((octets[4] as number) << 8) | (octets[5] as number)) !== 1) return HEADER_OCTETS;
  try {
    const { name, end } = decodeName(octets, HEADER_OCTETS);
    const isWhole = end - HEADER_OCTETS === name.length && end + 4 <= octets.length;
    return isWhole ? end + 4 : HEADER_OCTETS;
  } catch {
    return HEADER_OCTETS;
  }
}

/** Returns the OPT record of the answer, or no octets if the message has none (RFC 6891 §7). */
export function optRecord(edns: Edns | undefined, rcode: number, options: readonly Uint8Array[]): Uint8Array {
  if (edns === undefined) return NO_OCTETS;
  const rdata = Buffer.concat(options);
  const head = Buffer.alloc(OPT_OCTETS);
  head.writeUInt16BE(TYPE.OPT, 1);
  head.writeUInt16BE(UDP_PAYLOAD_OCTETS, 3);
  head.writeUInt32BE(optTtl(rcode, 0, edns.dnssecOk), 5);
  head.writeUInt16BE(rdata.length, 9);
  return Buffer.concat([head, rdata]);
}

/** Returns an EDE option (RFC 8914 §2). */
function extendedErrorOption(code: number, text: string): Uint8Array {
  const info = Buffer.alloc(2);
  info.writeUInt16BE(code);
  return ednsOption(EDNS_OPTION.EXTENDED_ERROR, Buffer.concat([info, cutText(text)]));
}

/** Returns the text in UTF-8, cut at the end of a character. */
function cutText(text: string): Uint8Array {
  const octets = Buffer.from(text);
  let end = Math.min(octets.length, MAX_TEXT_OCTETS);
  while (end < octets.length && ((octets[end] as number) & 0xc0) === 0x80) end--;
  return octets.subarray(0, end);
}

export function ednsOption(code: number, value: Uint8Array): Uint8Array {
  const head = Buffer.alloc(OPTION_HEAD_OCTETS);
  head.writeUInt16BE(code);
  head.writeUInt16BE(value.length, 2);
  return Buffer.concat([head, value]);
}
